//! The stream on which a client of the earlier era is told what changes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::answering::{MESSAGE, accepts};
use super::session::asked_for;
use crate::http::problem::Problem;
use crate::http::route::EVENTS;
use crate::http::server::Server;
use crate::http::streams::events::Stream;
use crate::identity::Caller;
use crate::mcp::{ChangeSubscription, ListKinds, McpCaller, notification_text};
use crate::telemetry;

/// When to come again whose streams are all open.
const SOON: Duration = Duration::from_secs(1);

pub(super) async fn open(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = McpCaller::authenticated(caller);
    let session = asked_for(&server, &caller.name, &headers)?;
    if !accepts(&headers, EVENTS) {
        let detail = "what changes is told as a stream; take it with `Accept: text/event-stream`";
        return Err(Problem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", detail));
    }
    let watch = ChangeSubscription::begin(&server.mcp, &caller, ListKinds::ALL).await;
    let mut watch = watch.map_err(|refusal| Problem::too_many(refusal.message, SOON))?;
    let (stream, response) = Stream::open();
    tokio::spawn(telemetry::carried(async move {
        let listening = session.listens();
        let follow = async {
            while let Ok(kind) = stream.keep_alive_until(watch.next()).await {
                let text = notification_text(kind.method(), &json!({}));
                if stream.send_message(MESSAGE, text.into()).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = follow => {}
            () = listening.over() => {}
            () = server.ending.cancelled() => {}
        }
    }));
    Ok(response)
}
