//! Agents.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolroom::agent::AgentRecord;
use toolroom::conversation::AgentId;

use crate::agents::{self, AgentOrigin, ListedAgent, OpenAgentError, SaveAgentError};
use crate::http::access::Access;
use crate::http::extract::paging::PageQuery;
use crate::http::extract::{Json, Page, Path};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let (read, manage) = (Access::Permission(Permission::Read), Access::Permission(Permission::Manage));
    vec![
        Route::get("/v1/agents", read, "Lists the agents of the project.", list)
            .query::<PageQuery>()
            .reply::<AgentList>(200, "The agents, by id."),
        Route::get("/v1/agents/{agent}", read, "Shows one agent.", show)
            .reply::<ListedAgent>(200, "The agent."),
        Route::put("/v1/agents/{agent}", manage, "Creates or replaces an agent.", put)
            .path_pattern(agents::ID_PATTERN)
            .body::<AgentRecord>()
            .reply::<ListedAgent>(200, "The agent.")
            .problem(409, "The agent is defined in the configuration."),
        Route::delete("/v1/agents/{agent}", manage, "Deletes an agent.", remove)
            .reply::<RemovedAgent>(200, "Whether one was stored.")
            .problem(409, "The agent is defined in the configuration."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct AgentList {
    /// The agents.
    agents: Vec<ListedAgent>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    page: Page,
) -> Result<Json<AgentList>, Problem> {
    let all = agents::records(&server.app, &caller.scope).await?;
    let (agents, next_cursor) = page.slice(all, |known| known.record.id.as_str());
    Ok(Json(AgentList { agents, next_cursor }))
}

/// The agent of this id.
pub(crate) async fn known(server: &Server, caller: &Caller, id: &str) -> Result<ListedAgent, Problem> {
    agents::record(&server.app, &caller.scope, id).await.map_err(|error| match error {
        OpenAgentError::NotFound { .. } => {
            Problem::not_found(format!("there is no agent `{id}`; see `GET /v1/agents`"))
        }
        error => Problem::failure(&error),
    })
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ListedAgent>, Problem> {
    known(&server, &caller, &id).await.map(Json)
}

pub(crate) fn not_kept(error: SaveAgentError) -> Problem {
    match error {
        SaveAgentError::Invalid(text) => Problem::bad_request(text),
        error @ SaveAgentError::Configured { .. } => Problem::conflict(error.to_string()),
        error @ (SaveAgentError::Redactions(_) | SaveAgentError::Ledger(_)) => Problem::failure(&error),
    }
}

async fn put(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(fields): Json<Map<String, Value>>,
) -> Result<Json<ListedAgent>, Problem> {
    let record = agents::record_from_fields(&id, fields).map_err(Problem::bad_request)?;
    agents::save(&server.app, &caller.scope, &record).await.map_err(not_kept)?;
    Ok(Json(ListedAgent { record, origin: AgentOrigin::Database }))
}

#[derive(Serialize, JsonSchema)]
struct RemovedAgent {
    /// The agent.
    agent: AgentId,
    /// Whether one was stored. Deleting `default` restores the built-in one.
    removed: bool,
}

async fn remove(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RemovedAgent>, Problem> {
    let agent = known(&server, &caller, &id).await?.record.id;
    let removed = agents::remove(&server.app, &caller.scope, &agent).await.map_err(not_kept)?;
    Ok(Json(RemovedAgent { agent, removed }))
}
