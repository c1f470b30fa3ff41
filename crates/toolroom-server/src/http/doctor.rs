//! Whether everything is in order, and what to do where it is not.

use std::sync::Arc;

use axum::extract::State;
use toolroom_tools::builtin::doctor::Report;

use super::need::Need;
use super::reading::Document;
use super::route::Route;
use super::server::Server;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/doctor", Need::Keeper, "Looks whether everything is in order.", examine)
            .reply::<Report>(200, "What was found."),
    ]
}

async fn examine(State(server): State<Arc<Server>>) -> Document<Report> {
    Document(server.app.checkup.report().await)
}
