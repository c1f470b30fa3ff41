//! Projects. Only the owner of the installation sees more than one.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::scope::{LOCAL_PROJECT, ProjectId};

use crate::http::access::Access;
use crate::http::extract::paging::PageQuery;
use crate::http::extract::{Json, Page, Path};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{NAME_PATTERN, Project, check_name, check_project_id, project, projects};

pub(crate) fn routes() -> Vec<Route> {
    let owner = Access::Owner;
    vec![
        Route::get("/v1/projects", owner, "Lists the projects.", list)
            .query::<PageQuery>()
            .reply::<ProjectList>(200, "The projects, by id."),
        Route::post("/v1/projects", owner, "Creates a project.", create)
            .body::<NewProject>()
            .idempotent()
            .reply::<Project>(201, "The project.")
            .problem(409, "The id is taken."),
        Route::get("/v1/projects/{project}", owner, "Shows one project.", show)
            .reply::<Project>(200, "The project."),
        Route::put("/v1/projects/{project}", owner, "Changes the given fields of a project.", set)
            .body::<ProjectChange>()
            .reply::<Project>(200, "The project.")
            .problem(409, "The project `local` keeps its host tools."),
        Route::delete("/v1/projects/{project}", owner, "Deletes a project and its keys.", remove)
            .reply::<RemovedProject>(200, "Whether it existed.")
            .problem(409, "The project `local` cannot be deleted."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct ProjectList {
    /// The projects.
    projects: Vec<Project>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(State(server): State<Arc<Server>>, page: Page) -> Result<Json<ProjectList>, Problem> {
    let (projects, next_cursor) =
        page.slice(projects(&server.app.store).await?, |project| project.id.as_str());
    Ok(Json(ProjectList { projects, next_cursor }))
}

/// The project of this id.
pub(crate) async fn known(server: &Server, id: &str) -> Result<Project, Problem> {
    let missing = || Problem::not_found(format!("there is no project `{id}`; see `GET /v1/projects`"));
    project(&server.app.store, id).await?.ok_or_else(missing)
}

async fn show(State(server): State<Arc<Server>>, Path(id): Path<String>) -> Result<Json<Project>, Problem> {
    known(&server, &id).await.map(Json)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewProject {
    /// Id of lower-case letters, digits, `-` and `_`.
    #[schemars(regex(pattern = "^[a-z0-9_-]{1,64}$"))]
    id: String,
    /// Display name; the id if absent.
    #[serde(default)]
    #[schemars(length(max = 100), regex(pattern = NAME_PATTERN))]
    name: Option<String>,
    /// Whether its callers may use host tools.
    #[serde(default)]
    host_tools: bool,
}

async fn create(State(server): State<Arc<Server>>, Json(new): Json<NewProject>) -> Result<Response, Problem> {
    check_project_id(&new.id).map_err(Problem::bad_request)?;
    if project(&server.app.store, &new.id).await?.is_some() {
        return Err(Problem::conflict(format!("there is a project `{}`", new.id)));
    }
    let name = new.name.unwrap_or_else(|| new.id.clone());
    let project = Project { id: ProjectId::new(&new.id), name, host_tools: new.host_tools, created_at: None };
    let kept = keep(&server, project).await?;
    Ok((StatusCode::CREATED, Json(kept)).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProjectChange {
    /// Display name.
    #[serde(default)]
    #[schemars(length(max = 100), regex(pattern = NAME_PATTERN))]
    name: Option<String>,
    /// Whether its callers may use host tools.
    #[serde(default)]
    host_tools: Option<bool>,
}

async fn set(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
    Json(change): Json<ProjectChange>,
) -> Result<Json<Project>, Problem> {
    let mut project = known(&server, &id).await?;
    if id == LOCAL_PROJECT && change.host_tools == Some(false) {
        return Err(Problem::conflict(format!("`{LOCAL_PROJECT}` always has host tools")));
    }
    project.name = change.name.unwrap_or(project.name);
    project.host_tools = change.host_tools.unwrap_or(project.host_tools);
    keep(&server, project).await.map(Json)
}

async fn keep(server: &Server, project: Project) -> Result<Project, Problem> {
    check_name(&project.name).map_err(Problem::bad_request)?;
    let app = &server.app;
    let record = project.clone().record(app.room.clock().now());
    app.store.set_project(record).await?;
    app.host_tools.sync(app.room.catalog(), &project.id).await?;
    known(server, project.id.as_str()).await
}

#[derive(Serialize, JsonSchema)]
struct RemovedProject {
    /// The project.
    project: ProjectId,
    /// Whether it existed.
    removed: bool,
}

async fn remove(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
) -> Result<Json<RemovedProject>, Problem> {
    let project = known(&server, &id).await?.id;
    if id == LOCAL_PROJECT {
        return Err(Problem::conflict(format!(
            "`{LOCAL_PROJECT}` is the project of this machine and cannot be deleted; see `GET /v1/projects`"
        )));
    }
    let removed = server.app.store.remove_project(&project).await?;
    server.app.host_tools.sync(server.app.room.catalog(), &project).await?;
    Ok(Json(RemovedProject { project, removed }))
}
