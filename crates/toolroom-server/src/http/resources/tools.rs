//! Tools and their switches.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::catalog::{NotFound, ToolLine};

use crate::documents::{ToggleNameError, ToggleState, ToolDocument, toggle_name};
use crate::http::access::Access;
use crate::http::extract::{Json, Page, Path, Query};
use crate::http::problem::Problem;
use crate::http::resources::switches::Switch;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let (read, manage) = (Access::Permission(Permission::Read), Access::Permission(Permission::Manage));
    vec![
        Route::get("/v1/tools", read, "Lists the tools of the project.", list)
            .query::<ToolsQuery>()
            .reply::<ToolList>(200, "The tools, by id."),
        Route::get("/v1/tools/{tool}", read, "Shows one tool with its parameters.", show)
            .reply::<ToolDocument>(200, "The tool."),
        Route::put("/v1/tools/{tool}/state", manage, "Turns a tool or its family on or off.", set)
            .body::<Switch>()
            .reply::<ToggleState>(200, "The new state.")
            .problem(409, "The tool is switched by its feature only."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolsQuery {
    /// Also tools that are off.
    #[serde(default)]
    all: bool,
    /// Language of names and descriptions, such as `de`.
    #[serde(default)]
    language: String,
    /// Maximum number of entries.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ToolList {
    /// The tools.
    tools: Vec<ToolLine>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<ToolsQuery>,
) -> Result<Json<ToolList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let room = &server.app.room;
    let project = &caller.scope.project;
    let standing = room.switchboard().standing(project).await?;
    let mut shown = room.catalog().tool_lines(project, &standing.switches, &query.language);
    shown.retain(|tool| query.all || tool.enabled);
    let (tools, next_cursor) = page.slice(shown, |tool| tool.id.as_str());
    Ok(Json(ToolList { tools, next_cursor }))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<ToolDocument>, Problem> {
    let (room, project) = (&server.app.room, &caller.scope.project);
    let entry = room.catalog().find(project, &name).map_err(|missing| unknown(&name, &missing))?;
    let standing = room.switchboard().standing(project).await?;
    let shown = room.catalog().tool_lines(project, &standing.switches, "");
    let enabled = shown.iter().any(|tool| tool.id == entry.spec().id && tool.enabled);
    Ok(Json(ToolDocument::of(&entry, enabled)))
}

fn unknown(name: &str, missing: &NotFound) -> Problem {
    let hint = missing.hint().unwrap_or_else(|| "see `GET /v1/tools?all=true`".to_owned());
    Problem::not_found(format!("unknown tool `{name}`; {hint}"))
}

async fn set(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
    Json(switch): Json<Switch>,
) -> Result<Json<ToggleState>, Problem> {
    let project = &caller.scope.project;
    let toggle = toggle_name(server.app.room.catalog(), project, &name).map_err(|error| match error {
        ToggleNameError::Unknown(missing) => unknown(&name, &missing),
        ToggleNameError::FeatureOnly(error) => {
            Problem::conflict(format!("{error}: `PUT /v1/switches/{}`", error.feature))
        }
    })?;
    let state = switch.state();
    server.app.store.set_tool_toggle(project, &toggle, state).await?;
    Ok(Json(ToggleState { toggle, state }))
}
