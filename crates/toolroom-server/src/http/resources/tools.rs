//! Tools: which there are, and which are on.

use std::sync::Arc;

use axum::extract::{Extension, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::catalog::{NotFound, ToolLine};

use crate::documents::{ToggleNameError, ToggleState, ToolDocument, toggle_name};
use crate::http::access::Need;
use crate::http::extract::body::Body;
use crate::http::extract::body::Document;
use crate::http::extract::body::Path;
use crate::http::extract::body::Query;
use crate::http::extract::paging::Page;
use crate::http::problem::Problem;
use crate::http::resources::switches::Switch;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let (read, manage) = (Need::Permission(Permission::Read), Need::Permission(Permission::Manage));
    vec![
        Route::get("/v1/tools", read, "Lists the tools of the project.", list)
            .query::<ToolsQuery>()
            .reply::<ToolList>(200, "The tools, by id."),
        Route::get("/v1/tools/{tool}", read, "Shows one tool with its parameters.", show)
            .reply::<ToolDocument>(200, "The tool."),
        Route::put("/v1/tools/{tool}/state", manage, "Switches a tool, or its family.", set)
            .body::<Switch>()
            .reply::<ToggleState>(200, "What it is now.")
            .refuse(409, "Only its feature is switched."),
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
    /// At most so many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page before ended: its `next_cursor`.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ToolList {
    /// The tools.
    tools: Vec<ToolLine>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ToolsQuery>,
) -> Result<Document<ToolList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let room = &server.app.room;
    let project = &caller.scope.project;
    let standing = room.switchboard().standing(project).await?;
    let mut shown = room.catalog().tool_lines(project, &standing.switches, &query.language);
    shown.retain(|tool| query.all || tool.enabled);
    let (tools, next_cursor) = page.of(shown, |tool| tool.id.as_str());
    Ok(Document(ToolList { tools, next_cursor }))
}

async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Document<ToolDocument>, Problem> {
    let (room, project) = (&server.app.room, &caller.scope.project);
    let entry = room.catalog().find(project, &name).map_err(|missing| unknown(&name, &missing))?;
    let standing = room.switchboard().standing(project).await?;
    let shown = room.catalog().tool_lines(project, &standing.switches, "");
    let enabled = shown.iter().any(|tool| tool.id == entry.spec().id && tool.enabled);
    Ok(Document(ToolDocument::of(&entry, enabled)))
}

fn unknown(name: &str, missing: &NotFound) -> Problem {
    let hint = missing.hint().unwrap_or_else(|| "see `GET /v1/tools?all=true`".to_owned());
    Problem::not_found(format!("unknown tool `{name}`; {hint}"))
}

async fn set(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Body(switch): Body<Switch>,
) -> Result<Document<ToggleState>, Problem> {
    let project = &caller.scope.project;
    let toggle = toggle_name(server.app.room.catalog(), project, &name).map_err(|error| match error {
        ToggleNameError::Unknown(missing) => unknown(&name, &missing),
        ToggleNameError::FeatureOnly(error) => {
            Problem::conflict(format!("{error}: `PUT /v1/switches/{}`", error.feature))
        }
    })?;
    let state = switch.state();
    server.app.store.set_tool_toggle(project, &toggle, state).await?;
    Ok(Document(ToggleState { toggle, state }))
}
