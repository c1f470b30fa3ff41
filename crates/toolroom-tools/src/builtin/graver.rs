//! A tool that does more with some arguments than with others is judged by those of each call.

use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::scope::Scope;
use toolroom::tool::{Arguments, Destination, Tool, ToolError, ToolOutput, ToolSpec};

/// A tool, and what it is with some arguments.
pub(super) struct Graver<T> {
    tool: T,
    graver: ToolSpec,
    is_grave: Box<IsGrave>,
}

type IsGrave = dyn Fn(&Arguments) -> bool + Send + Sync;

impl<T: Tool> Graver<T> {
    /// What the tool is with arguments of which this is true.
    pub(super) fn new(
        tool: T,
        is_grave: impl Fn(&Arguments) -> bool + Send + Sync + 'static,
        graver: impl FnOnce(ToolSpec) -> ToolSpec,
    ) -> Self {
        let graver = graver(tool.spec().clone());
        Self { tool, graver, is_grave: Box::new(is_grave) }
    }
}

impl<T: Tool> Tool for Graver<T> {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn spec_for(&self, arguments: &Arguments) -> &ToolSpec {
        if (self.is_grave)(arguments) { &self.graver } else { self.tool.spec() }
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
