//! Whether the server lives, and whether it can work.

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

/// Whether a request is for one of the questions that are answered however busy everybody is.
pub(crate) fn is_health_check(path: &str) -> bool {
    [ALIVE, READY].contains(&path)
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(ALIVE, Access::Local, "Says that the server lives.", alive)
            .reply::<Condition>(200, "It lives."),
        Route::get(READY, Access::Local, "Says whether the server can work.", ready)
            .reply::<Condition>(200, "It can.")
            .problem(503, "It cannot."),
        Route::get("/metrics", Access::Local, "Figures, as Prometheus reads them.", figures).response(
            200,
            "application/openmetrics-text",
            "The figures.",
        ),
    ]
}

/// How it is.
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
        return Err(unavailable("ending", "the server is about to end"));
    }
    match server.app.store.status().await {
        Ok(_) => Ok(Json(Condition { status: "ok" })),
        Err(error) => {
            tracing::warn!("not ready: {error}");
            Err(unavailable("no_database", "the database cannot be read; see `toolroom doctor`"))
        }
    }
}

/// What Prometheus calls the form of the page.
const FIGURES: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

async fn figures(State(server): State<Arc<Server>>) -> Result<Response, Problem> {
    let waiting = server.app.store.open_questions().await?;
    let page = server.app.figures.page(server.runs.live_count(), waiting);
    Ok(([(header::CONTENT_TYPE, FIGURES)], page).into_response())
}
