//! Tools: which there are, and which are on.

use std::sync::Arc;

use axum::extract::{Extension, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::need::Need;
use super::problem::Problem;
use super::reading::{Document, Path, Query};
use super::route::Route;
use super::server::Server;
use crate::identity::{Caller, Permission};

pub(super) fn routes() -> Vec<Route> {
    let read = Need::Permission(Permission::Read);
    vec![
        Route::get("/v1/tools", read, "Lists the tools of the project.", list)
            .query::<ToolsQuery>()
            .reply::<ToolList>(200, "The tools, by id."),
        Route::get("/v1/tools/{tool}", read, "Shows one tool with its parameters.", show)
            .reply::<serde_json::Value>(200, "The tool."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolsQuery {
    /// Also those that are switched off.
    #[serde(default)]
    all: bool,
    /// The language of names and descriptions, as in `de`.
    #[serde(default)]
    language: String,
}

#[derive(Serialize, JsonSchema)]
struct ToolList {
    /// The tools.
    tools: Vec<ToolLine>,
}

/// A tool in a list.
#[derive(Serialize, JsonSchema)]
struct ToolLine {
    /// Its full id.
    id: String,
    /// What people call it.
    name: String,
    /// What it does.
    description: String,
    /// Whether it is on.
    enabled: bool,
}

async fn list(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ToolsQuery>,
) -> Result<Document<ToolList>, Problem> {
    let room = &server.app.room;
    let project = &caller.scope.project;
    let standing = room.switchboard().standing(project).await?;
    let shown = room.catalog().display(project, &standing.switches, &query.language);
    let tools = shown.into_iter().filter(|tool| query.all || tool.enabled).map(|tool| ToolLine {
        id: tool.id.to_string(),
        name: tool.name,
        description: tool.description,
        enabled: tool.enabled,
    });
    Ok(Document(ToolList { tools: tools.collect() }))
}

async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Document<serde_json::Value>, Problem> {
    let entry = server.app.room.catalog().find(&caller.scope.project, &name).map_err(|missing| {
        let hint = missing.hint().unwrap_or_else(|| "see `GET /v1/tools?all=true`".to_owned());
        Problem::not_found(format!("unknown tool `{name}`; {hint}"))
    })?;
    let spec = serde_json::to_value(entry.spec()).map_err(|error| Problem::failure(&error))?;
    Ok(Document(spec))
}
