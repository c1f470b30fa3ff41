//! A tool whose effect depends on its arguments is judged by the arguments of each call.

use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::scope::Scope;
use toolroom::tool::{Arguments, Destination, Tool, ToolError, ToolOutput, ToolSpec};

/// Wraps a tool that has a stronger spec with some arguments.
pub(super) struct EffectByArguments<T> {
    tool: T,
    stronger_spec: ToolSpec,
    applies: Box<Condition>,
}

type Condition = dyn Fn(&Arguments) -> bool + Send + Sync;

impl<T: Tool> EffectByArguments<T> {
    /// The tool has the stronger spec for arguments that fulfil the condition.
    pub(super) fn new(
        tool: T,
        applies: impl Fn(&Arguments) -> bool + Send + Sync + 'static,
        stronger_spec: impl FnOnce(ToolSpec) -> ToolSpec,
    ) -> Self {
        let stronger_spec = stronger_spec(tool.spec().clone());
        Self { tool, stronger_spec, applies: Box::new(applies) }
    }
}

impl<T: Tool> Tool for EffectByArguments<T> {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn spec_for(&self, arguments: &Arguments) -> &ToolSpec {
        if (self.applies)(arguments) { &self.stronger_spec } else { self.tool.spec() }
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.tool.run(context, arguments)
    }

    fn check(&self, arguments: &Arguments) -> Vec<Problem> {
        self.tool.check(arguments)
    }

    fn judge(&self, arguments: &Arguments) -> Judgement {
        self.tool.judge(arguments)
    }

    fn destination(&self, arguments: &Arguments) -> Option<Destination> {
        self.tool.destination(arguments)
    }

    fn at_hand<'a>(
        &'a self,
        scope: &'a Scope,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        self.tool.at_hand(scope, arguments)
    }
}
