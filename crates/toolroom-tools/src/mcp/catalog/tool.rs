//! A foreign tool, as a tool of the house.

use std::sync::Arc;
use std::time::Duration;

use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::schema::{PatternRule, Schema};
use toolroom::tool::{Arguments, Effect, Risk, Timeout, Tool, ToolError, ToolOutput, ToolSpec};

use crate::mcp::catalog::classification::worth;
use crate::mcp::catalog::definition::{Definition, Unusable};
use crate::mcp::catalog::outcome::outcome;
use crate::mcp::connection::{Berth, Wanted};

/// How long a call may take, where the entry says nothing.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// A tool of a server.
pub(crate) struct ForeignTool {
    spec: ToolSpec,
    definition: Definition,
    hash: String,
    /// The schema of its results, as far as it can be checked.
    promised: Option<Schema>,
    berth: Arc<Berth>,
}

impl ForeignTool {
    pub(crate) fn new(berth: Arc<Berth>, definition: Definition) -> Result<Self, Unusable> {
        let mut spec = spec(berth.name(), berth.timeout(), &definition)?;
        worth(&berth.record, &definition).apply(&mut spec);
        let hash = definition.hash();
        let promised = definition.output.clone().map(|output| Schema::new(output, PatternRule::Relax));
        let promised = promised.and_then(|schema| {
            schema
                .inspect_err(|error| tracing::debug!(tool = %spec.id, %error, "results are not checked"))
                .ok()
        });
        Ok(Self { spec, definition, hash, promised, berth })
    }
}

/// The tool as the house knows it, before a person has said what it does: able to do everything. What it says about itself
/// is believed only where that is the worse.
pub(crate) fn spec(server: &str, timeout: Duration, definition: &Definition) -> Result<ToolSpec, Unusable> {
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
    Ok(spec)
}

/// Whether its arguments can be checked. The catalog does the same once more, for each start of a process.
pub(crate) fn check_schema(definition: &Definition) -> Result<(), Unusable> {
    let schema = Schema::new(Arc::new(definition.input.clone()), PatternRule::Relax);
    let why = |error| format!("its schema cannot be used: {error}");
    schema.map(drop).map_err(|error| Unusable { name: definition.name.clone(), why: why(error) })
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
        Box::pin(async move {
            let context = Arc::new(context);
            let wanted = Wanted::Call { tool: &self.definition, hash: &self.hash, arguments: &arguments };
            let result = self.berth.ask(&context, &wanted).await?;
            let make_file = |media_type: &str, bytes| context.attachment(media_type, bytes);
            outcome(&make_file, self.promised.as_ref(), result)
        })
    }
}
