//! Tools the tests call, and short ways to call them.

use serde_json::{Value, json};
use toolroom::call::{CallContext, Outcome};
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Effect, ErrorKind, Tool, ToolError, ToolOutput, ToolSpec};
use toolroom::{BoxFuture, call::CallReport};

/// A tool whose behaviour is given by a closure.
pub(crate) struct Scripted<F> {
    pub(crate) spec: ToolSpec,
    pub(crate) run: F,
    pub(crate) check: fn(&Arguments) -> Vec<Problem>,
    pub(crate) judge: fn(&Arguments) -> Judgement,
}

pub(crate) fn scripted<F, Fut>(spec: ToolSpec, run: F) -> Scripted<F>
where
    F: Fn(CallContext, Arguments) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    Scripted { spec, run, check: |_| Vec::new(), judge: |_| Judgement::Allow }
}

impl<F, Fut> Tool for Scripted<F>
where
    F: Fn(CallContext, Arguments) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { (self.run)(context, arguments).await })
    }

    fn check(&self, arguments: &Arguments) -> Vec<Problem> {
        (self.check)(arguments)
    }

    fn judge(&self, arguments: &Arguments) -> Judgement {
        (self.judge)(arguments)
    }
}

pub(crate) fn spec(effect: Effect) -> ToolSpec {
    let any = json!({"type": "object"});
    ToolSpec::new("app:probe", "A tool for tests").unwrap().effect(effect).parameters(any)
}

/// Gives back its arguments.
pub(crate) fn echo() -> impl Tool {
    scripted(spec(Effect::Pure), |_context, arguments| async move {
        Ok(ToolOutput::new(Value::Object(arguments)))
    })
}

pub(crate) fn error_of(report: &CallReport) -> &ToolError {
    match &report.outcome {
        Outcome::Failed(error) => error,
        other => panic!("expected a failure, got {other:?}"),
    }
}

pub(crate) fn kind_of(report: &CallReport) -> ErrorKind {
    error_of(report).kind()
}
