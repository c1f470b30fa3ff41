//! `calculator`: evaluates an expression to one number, text or truth value.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::expression::{self, Value};
use toolroom::tool::{Arguments, Effect, IdError, Tool, ToolError, ToolOutput, ToolSpec};

struct Calculator(ToolSpec);

pub(super) fn tool() -> Result<Arc<dyn Tool>, IdError> {
    let mut spec = ToolSpec::new("builtin:calculator", DESCRIPTION)?
        .title("Calculator")
        .effect(Effect::Pure)
        .parameters(json!({
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "Expression to evaluate, e.g. '2 + 2 * 3' or 'round(sqrt(2), 4)'"
                }
            },
            "required": ["expression"],
            "additionalProperties": false
        }));
    spec.when_to_use =
        Some("exact arithmetic, also with functions such as sqrt, round, min, max, sin, log".into());
    spec.category = Some("math".into());
    spec.tags = ["math", "arithmetic", "compute"].map(String::from).to_vec();
    spec.usage_examples =
        ["what is 17.5 % of 240?", "square root of 2 to 4 digits"].map(String::from).to_vec();
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
        _context: &'a CallContext,
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
