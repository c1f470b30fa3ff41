//! Vendors of models.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::documents::ModelsDocument;
use crate::http::access::Access;
use crate::http::extract::{Json, Query};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::Caller;
use crate::models::directory;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/vendors", Access::Keeper, "Lists model vendors and their models.", list)
            .query::<VendorsQuery>()
            .reply::<ModelsDocument<'_>>(200, "The vendors."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VendorsQuery {
    /// Also vendors that are not set up.
    #[serde(default)]
    all: bool,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<VendorsQuery>,
) -> Result<Response, Problem> {
    let (app, project) = (&server.app, &caller.scope.project);
    let directory = directory(&app.config.config, &app.vault, project)
        .await
        .map_err(|error| Problem::failure(error.as_ref()))?;
    Ok(Json(ModelsDocument::of(&app.config.config, &directory, query.all)).into_response())
}
