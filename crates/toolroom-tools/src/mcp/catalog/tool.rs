//! A foreign tool as a [`Tool`].

use std::sync::Arc;
use std::time::Duration;

use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::schema::{PatternRule, Schema};
use toolroom::tool::{Arguments, Effect, Risk, Timeout, Tool, ToolError, ToolOutput, ToolSpec};

use crate::mcp::catalog::classification::classify;
use crate::mcp::catalog::definition::{Definition, UnusableTool};
use crate::mcp::catalog::outcome::outcome;
use crate::mcp::connection::{ServerConnection, ServerRequest};

/// Timeout of a call, if the server's entry has none.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// A tool of an MCP server.
pub(crate) struct ForeignTool {
    spec: ToolSpec,
    definition: Definition,
    hash: String,
    /// The output schema, if it can be checked.
    promised: Option<Schema>,
    connection: Arc<ServerConnection>,
}

impl ForeignTool {
    pub(crate) fn new(
        connection: Arc<ServerConnection>,
        definition: Definition,
    ) -> Result<Self, UnusableTool> {
        let mut spec = spec(connection.name(), connection.timeout(), &definition)?;
        classify(&connection.record, &definition).apply(&mut spec);
        let hash = definition.hash();
        let promised = definition.output.clone().map(|output| Schema::new(output, PatternRule::Relax));
        let promised = promised.and_then(|schema| {
            schema
                .inspect_err(|error| tracing::debug!(tool = %spec.id, %error, "results are not checked: unusable output schema"))
                .ok()
        });
        Ok(Self { spec, definition, hash, promised, connection })
    }
}

/// The spec of an unclassified tool. The server's hints are used only where they are worse.
pub(crate) fn spec(
    server: &str,
    timeout: Duration,
    definition: &Definition,
) -> Result<ToolSpec, UnusableTool> {
    let unusable = |why: String| UnusableTool { name: definition.name.clone(), why };
    if definition.name.contains(':') {
        return Err(unusable(
            "its name contains a colon and could be mistaken for another tool's id".to_owned(),
        ));
    }
    let id = format!("mcp:{server}:{}", definition.name);
    let mut spec =
        ToolSpec::new(&id, definition.description.clone()).map_err(|error| unusable(error.to_string()))?;
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

/// Checks that the schema of the arguments can be compiled.
pub(crate) fn check_schema(definition: &Definition) -> Result<(), UnusableTool> {
    let schema = Schema::new(Arc::new(definition.input.clone()), PatternRule::Relax);
    let why = |error| format!("its schema cannot be used: {error}");
    schema.map(drop).map_err(|error| UnusableTool { name: definition.name.clone(), why: why(error) })
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
            let request =
                ServerRequest::CallTool { tool: &self.definition, hash: &self.hash, arguments: &arguments };
            let result = self.connection.send(&context, &request).await?;
            let make_file = |media_type: &str, bytes| context.attachment(media_type, bytes);
            outcome(&make_file, self.promised.as_ref(), result)
        })
    }
}
