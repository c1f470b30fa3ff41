//! Memories of users.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::memory::Memory;
use toolroom::scope::{Scope, UserId};

use crate::documents::memories_as_markdown;
use crate::http::access::Access;
use crate::http::extract::{Json, Page, Path, Query};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let (read, manage) = (Access::Permission(Permission::Read), Access::Permission(Permission::Manage));
    vec![
        Route::get("/v1/memories", read, "Lists the memories of a user.", list)
            .query::<MemoriesQuery>()
            .reply::<MemoryList>(200, "The memories, by key."),
        Route::delete("/v1/memories/{key}", manage, "Deletes a memory.", forget)
            .query::<UserQuery>()
            .reply::<Forgotten>(200, "The memory was deleted."),
        Route::get("/v1/memory-export", read, "Exports the memories of a user as Markdown.", export)
            .query::<UserQuery>()
            .response(200, "text/markdown", "The memories."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoriesQuery {
    /// A user of the project; without it, the memories without a user.
    #[serde(default)]
    user: Option<String>,
    /// Maximum number of entries.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserQuery {
    /// A user of the project; without it, the memories without a user.
    #[serde(default)]
    user: Option<String>,
}

/// Callers of the whole project may name any of its users.
fn scope_of(caller: &Caller, user: Option<&str>) -> Scope {
    let named = user.map(UserId::new);
    Scope { project: caller.scope.project.clone(), user: caller.scope.user.clone().or(named) }
}

#[derive(Serialize, JsonSchema)]
struct MemoryList {
    /// The memories.
    memories: Vec<Memory>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<MemoriesQuery>,
) -> Result<Json<MemoryList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let all = server.app.memories().memories(&scope_of(&caller, query.user.as_deref())).await?;
    let (memories, next_cursor) = page.slice(all, |memory| &memory.key);
    Ok(Json(MemoryList { memories, next_cursor }))
}

#[derive(Serialize, JsonSchema)]
struct Forgotten {
    /// The keys of the deleted memories.
    forgotten: Vec<String>,
}

async fn forget(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(key): Path<String>,
    Query(query): Query<UserQuery>,
) -> Result<Json<Forgotten>, Problem> {
    let (memories, scope) = (server.app.memories(), scope_of(&caller, query.user.as_deref()));
    if memories.memory(&scope, &key).await?.is_none() {
        return Err(Problem::not_found(format!(
            "nothing is remembered under `{key}`; see `GET /v1/memories`"
        )));
    }
    memories.forget(&scope, &key).await?;
    Ok(Json(Forgotten { forgotten: vec![key] }))
}

async fn export(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<UserQuery>,
) -> Result<Response, Problem> {
    let all = server.app.memories().memories(&scope_of(&caller, query.user.as_deref())).await?;
    let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
    Ok((kind, memories_as_markdown(&all)).into_response())
}
