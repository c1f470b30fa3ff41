//! API keys, and tokens for end users.
//!
//! A key creates and rotates only keys with no more permissions than its own.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::scope::ProjectId;
use toolroom_store::KeyRecord;

use crate::documents::{KeyDocument, MadeKey, MadeToken, whole_number};
use crate::http::access::Access;
use crate::http::extract::paging::PageQuery;
use crate::http::extract::{Json, Page, Path};
use crate::http::problem::Problem;
use crate::http::resources::agents::known;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{
    Caller, Environment, IssueError, NAME_PATTERN, NewKey, Permission, Rotation, TokenOrder, WebOrigin, Who,
    make_key, make_token, rotate_key,
};

/// Longest lifetime of a key, and longest overlap of a rotation: ten years.
const MAX_SECONDS: u64 = 10 * 365 * 86_400;

pub(crate) fn routes() -> Vec<Route> {
    let manage = Access::Permission(Permission::Manage);
    vec![
        Route::get("/v1/keys", manage, "Lists the keys of the project.", list)
            .query::<PageQuery>()
            .reply::<KeyList>(200, "The keys, the oldest first, without their secrets."),
        Route::post("/v1/keys", manage, "Creates a key.", create)
            .body::<KeyOrder>()
            .idempotent()
            .reply::<MadeKey>(201, "The key. Its secret is shown only now.")
            .problem(409, "The project has the maximum number of keys."),
        Route::post("/v1/keys/{key}/rotate", manage, "Replaces a key with a new one.", rotate)
            .body::<RotationOrder>()
            .idempotent()
            .reply::<MadeKey>(201, "The key. Its secret is shown only now.")
            .problem(409, "The key has expired or was revoked."),
        Route::delete("/v1/keys/{key}", manage, "Revokes a key and every token it created.", revoke)
            .reply::<Revoked>(200, "Whether it was valid until now."),
        Route::post(
            "/v1/tokens",
            Access::Permission(Permission::Mint),
            "Creates a token for an end user of an app.",
            mint,
        )
        .body::<TokenOrder>()
        .idempotent()
        .reply::<MadeToken>(201, "The token. It is shown only now.")
        .problem(404, "Agent not found.")
        .problem(409, "Only a key creates tokens."),
        Route::get("/v1/projects/{project}/keys", Access::Owner, "Lists the keys of a project.", list_of)
            .query::<PageQuery>()
            .reply::<KeyList>(200, "The keys, the oldest first, without their secrets."),
        Route::post("/v1/projects/{project}/keys", Access::Owner, "Creates a key of a project.", create_in)
            .body::<KeyOrder>()
            .idempotent()
            .reply::<MadeKey>(201, "The key. Its secret is shown only now.")
            .problem(409, "The project has the maximum number of keys."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct KeyList {
    /// The keys.
    keys: Vec<KeyDocument>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    page: Page,
) -> Result<Json<KeyList>, Problem> {
    keys_of(&server, &caller.scope.project, &page).await
}

async fn list_of(
    State(server): State<Arc<Server>>,
    Path(project): Path<String>,
    page: Page,
) -> Result<Json<KeyList>, Problem> {
    let project = crate::http::resources::projects::known(&server, &project).await?;
    keys_of(&server, &project.id, &page).await
}

async fn keys_of(server: &Server, project: &ProjectId, page: &Page) -> Result<Json<KeyList>, Problem> {
    let (kept, next_cursor) = page.slice(server.app.store.keys(project).await?, |key| &key.id);
    let now = server.app.room.clock().now();
    let keys = kept.iter().map(|key| KeyDocument::of(key, now)).collect();
    Ok(Json(KeyList { keys, next_cursor }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KeyOrder {
    /// Display name.
    #[schemars(length(max = 100), regex(pattern = NAME_PATTERN))]
    name: String,
    /// Scopes; `read`, `call` and `chat` if absent.
    #[serde(default)]
    #[schemars(length(min = 1))]
    scopes: Option<Vec<Permission>>,
    /// Where it is used.
    #[serde(default)]
    environment: Environment,
    /// Origins of web pages that may use it, such as `https://shop.example`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    origins: Vec<WebOrigin>,
    /// Seconds until it expires; never if absent.
    #[serde(default, deserialize_with = "whole_number")]
    #[schemars(range(min = 1, max = 315_360_000))]
    expires_in: Option<u64>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RotationOrder {
    /// Seconds for which the old key stays valid; one day if absent.
    #[serde(deserialize_with = "whole_number")]
    #[schemars(range(min = 0, max = 315_360_000))]
    overlap: Option<u64>,
    /// Seconds until the new key expires; never if absent.
    #[serde(deserialize_with = "whole_number")]
    #[schemars(range(min = 1, max = 315_360_000))]
    expires_in: Option<u64>,
    /// Scopes of the new key in addition to those of the old one.
    scopes: Vec<Permission>,
}

fn refused(error: IssueError) -> Problem {
    match error {
        IssueError::Order(text) => Problem::bad_request(text),
        IssueError::Missing(text) => Problem::not_found(text),
        IssueError::Conflict(text) => Problem::conflict(text),
        IssueError::Forbidden(text) => Problem::forbidden(text),
        error @ (IssueError::Store(_) | IssueError::Seal(_)) => Problem::failure(&error),
    }
}

fn span(name: &str, seconds: u64, least: u64) -> Result<Duration, Problem> {
    match (least..=MAX_SECONDS).contains(&seconds) {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(Problem::bad_request(format!(
            "`{name}` must be a number of seconds from {least} to {MAX_SECONDS}"
        ))),
    }
}

/// The key of exactly this id. The command line also takes prefixes; here one could hit the wrong key.
async fn kept(server: &Server, caller: &Caller, id: &str) -> Result<Arc<KeyRecord>, Problem> {
    let keys = server.app.store.keys(&caller.scope.project).await?;
    let missing = || Problem::not_found(format!("there is no key `{id}`; see `GET /v1/keys`"));
    keys.iter().find(|key| key.id == id).cloned().ok_or_else(missing)
}

async fn create(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Json(order): Json<KeyOrder>,
) -> Result<Response, Problem> {
    made(&server, &caller, caller.scope.project.clone(), order).await
}

async fn create_in(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(project): Path<String>,
    Json(order): Json<KeyOrder>,
) -> Result<Response, Problem> {
    made(&server, &caller, crate::http::resources::projects::known(&server, &project).await?.id, order).await
}

async fn made(
    server: &Server,
    caller: &Caller,
    project: ProjectId,
    order: KeyOrder,
) -> Result<Response, Problem> {
    let clock = server.app.room.clock();
    let lasts = order.expires_in.map(|seconds| span("expires_in", seconds, 1)).transpose()?;
    let new = NewKey {
        project,
        name: order.name,
        environment: order.environment,
        permissions: order.scopes.unwrap_or_else(|| Permission::DEFAULT.to_vec()),
        origins: order.origins,
        expires_at: lasts.map(|lasts| clock.now().after(lasts)),
    };
    let issued = make_key(&server.app.store, clock, new, caller.permissions()).await.map_err(refused)?;
    let kept = KeyDocument::of(&issued.record, clock.now());
    let document = MadeKey { key: issued.key, kept, replaces: None };
    Ok((StatusCode::CREATED, Json(document)).into_response())
}

async fn rotate(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(order): Json<RotationOrder>,
) -> Result<Response, Problem> {
    let (store, clock) = (&server.app.store, server.app.room.clock());
    let overlap = span("overlap", order.overlap.unwrap_or(86_400), 0)?;
    let lasts = order.expires_in.map(|seconds| span("expires_in", seconds, 1)).transpose()?;
    let old = kept(&server, &caller, &id).await?;
    let expires_at = lasts.map(|lasts| clock.now().after(lasts));
    let rotation = Rotation { overlap, expires_at, added: order.scopes };
    let issued = rotate_key(store, clock, &old, rotation, caller.permissions()).await.map_err(refused)?;
    let kept = KeyDocument::of(&issued.record, clock.now());
    let document = MadeKey { key: issued.key, kept, replaces: Some(old.id.clone()) };
    Ok((StatusCode::CREATED, Json(document)).into_response())
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RevokedKey")]
struct Revoked {
    /// The key.
    id: String,
    /// Whether it was valid until now.
    revoked: bool,
}

async fn revoke(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Revoked>, Problem> {
    let (store, clock) = (&server.app.store, server.app.room.clock());
    let project = &caller.scope.project;
    let id = kept(&server, &caller, &id).await?.id.clone();
    let revoked = store.expire_key(project, &id, clock.now()).await?;
    Ok(Json(Revoked { id, revoked }))
}

async fn mint(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Json(order): Json<TokenOrder>,
) -> Result<Response, Problem> {
    let Who::Key(key) = &caller.who else {
        let detail = "a token belongs to the key that creates it; use a key with the scope `mint`, or `toolroom keys token`";
        return Err(Problem::conflict(detail));
    };
    known(&server, &caller, &order.agent).await?;
    let made = make_token(&*server.app.vault, server.app.room.clock(), key, order);
    let (token, expires_at) = made.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(MadeToken { token, expires_at })).into_response())
}
