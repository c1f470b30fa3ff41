//! A foreign tool, as a tool of the house.

use std::sync::Arc;
use std::time::Duration;

use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::schema::{PatternRule, Schema};
use toolroom::tool::{Arguments, Effect, Risk, Timeout, Tool, ToolError, ToolOutput, ToolSpec};

use super::berth::Berth;
use super::definition::{Definition, Unusable};

/// How long a call may take, where the entry says nothing.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// A tool of a server.
pub(super) struct ForeignTool {
    spec: ToolSpec,
    definition: Definition,
    hash: String,
    berth: Arc<Berth>,
}

impl ForeignTool {
    pub(super) fn new(berth: Arc<Berth>, definition: Definition) -> Result<Self, Unusable> {
        let spec = spec(berth.name(), berth.timeout(), &definition)?;
        let hash = definition.hash();
        Ok(Self { spec, definition, hash, berth })
    }
}

/// What the house takes the tool for. It does not say what it does, and so counts as able to do everything; what it says
/// about itself is believed only where that is the worse.
pub(super) fn spec(server: &str, timeout: Duration, definition: &Definition) -> Result<ToolSpec, Unusable> {
    let bad = |why: String| Unusable { name: definition.name.clone(), why };
    if definition.name.contains(':') {
        return Err(bad("its name holds a colon, and could pass for the id of another tool".to_owned()));
    }
    let id = format!("mcp:{server}:{}", definition.name);
    let mut spec =
        ToolSpec::new(&id, definition.description.clone()).map_err(|error| bad(error.to_string()))?;
    spec =
        spec.parameters(definition.input.clone()).category(server, &["mcp"]).timeout(Timeout::After(timeout));
    if let Some(title) = definition.title.as_ref().filter(|title| !title.trim().is_empty()) {
        spec = spec.title(title.clone());
    }
    if let Some(output) = &definition.output {
        spec = spec.output(output.clone());
    }
    spec = match definition.hint("destructiveHint") {
        Some(true) => spec.effect(Effect::Destructive).risk(Risk::High),
        Some(false) | None => spec.risk(Risk::Medium),
    };
    let schema = Schema::new(Arc::clone(&spec.parameters), PatternRule::Relax);
    schema.map_err(|error| bad(format!("its schema cannot be used: {error}")))?;
    Ok(spec)
}

impl Tool for ForeignTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.berth.call(context, &self.definition, &self.hash, arguments))
    }
}
