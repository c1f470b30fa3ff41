//! The checks of `toolroom doctor`.

use std::sync::Arc;

use axum::extract::State;
use toolroom_tools::builtin::doctor::Report;

use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::route::Route;
use crate::http::server::Server;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/doctor", Access::Keeper, "Runs the checks of `toolroom doctor`.", examine)
            .reply::<Report>(200, "The findings."),
    ]
}

async fn examine(State(server): State<Arc<Server>>) -> Json<Report> {
    Json(server.app.checkup.report().await)
}
