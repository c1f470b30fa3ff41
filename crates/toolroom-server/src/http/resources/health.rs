//! Health checks and metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;

const ALIVE: &str = "/healthz";
const READY: &str = "/readyz";

/// Whether this is the path of a health check, which needs no permit.
pub(crate) fn is_health_check(path: &str) -> bool {
    [ALIVE, READY].contains(&path)
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(ALIVE, Access::Local, "Liveness check.", alive)
            .reply::<Condition>(200, "The server is running."),
        Route::get(READY, Access::Local, "Readiness check.", ready)
            .reply::<Condition>(200, "The server is ready.")
            .problem(503, "The server is not ready."),
        Route::get("/metrics", Access::Local, "Metrics for Prometheus.", metrics).response(
            200,
            "application/openmetrics-text",
            "The metrics.",
        ),
    ]
}

/// The state of the server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Condition")]
struct Condition {
    /// `ok`.
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
}

async fn alive() -> Json<Condition> {
    Json(Condition { status: "ok" })
}

async fn ready(State(server): State<Arc<Server>>) -> Result<Json<Condition>, Problem> {
    let unavailable = |code, detail: &str| Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, detail);
    if server.ending.is_cancelled() {
        return Err(unavailable("ending", "the server is shutting down"));
    }
    match server.app.store.status().await {
        Ok(_) => Ok(Json(Condition { status: "ok" })),
        Err(error) => {
            tracing::warn!("not ready: {error}");
            Err(unavailable("no_database", "the database cannot be read; see `toolroom doctor`"))
        }
    }
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

async fn metrics(State(server): State<Arc<Server>>) -> Result<Response, Problem> {
    let waiting = server.app.store.open_questions().await?;
    let page = server.app.metrics.page(server.runs.live_count(), waiting);
    Ok(([(header::CONTENT_TYPE, OPENMETRICS)], page).into_response())
}
