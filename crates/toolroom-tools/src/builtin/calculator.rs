//! `calculator`: evaluates an expression to one number, text or truth value.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::expression::{self, Value};
use toolroom::tool::{Arguments, Effect, IdError, Tool, ToolError, ToolOutput, ToolSpec};

struct Calculator(ToolSpec);

pub(super) fn tool() -> Result<Arc<dyn Tool>, IdError> {
    let parameters = json!({
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "description": "Expression to evaluate, e.g. '2 + 2 * 3' or 'round(sqrt(2), 4)'"
            }
        },
        "required": ["expression"],
        "additionalProperties": false
    });
    let spec = ToolSpec::new("builtin:calculator", DESCRIPTION)?
        .title("Calculator")
        .parameters(parameters)
        .effect(Effect::Pure)
        .when_to_use("exact arithmetic, also with functions such as sqrt, round, min, max, sin, log")
        .category("math", &["math", "arithmetic", "compute"])
        .usage_example("what is 17.5 % of 240?")
        .usage_example("square root of 2 to 4 digits");
    Ok(Arc::new(Calculator(spec)))
}

const DESCRIPTION: &str = "Evaluate a mathematical expression exactly. Knows + - * / // % ^, comparisons, and/or/not, \
    texts in quotes, if(condition, a, b), sqrt, round, min, max, abs, floor, ceil, log, ln, exp, sin, cos, tan and \
    the constants pi, e and tau. 7 / 2 is 3.5 and 7 // 2 is 3.";

impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(
        &'a self,
        _context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(
            async move { calculate(arguments.get("expression").and_then(Json::as_str).unwrap_or_default()) },
        )
    }
}

fn calculate(text: &str) -> Result<ToolOutput, ToolError> {
    let value = expression::evaluate(text, &()).map_err(|error| ToolError::tool(error.to_string()))?;
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {
            let result = Json::from(value);
            let message = format!("{} = {result}", text.trim());
            Ok(ToolOutput::new(result).with_message(message))
        }
        other => Err(ToolError::tool(format!(
            "the expression gives {}, but a calculation gives one number, text or truth value",
            other.kind().name()
        ))),
    }
}
