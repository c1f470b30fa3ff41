//! A stream lasts no longer than the key with which it was opened: who takes a key back ends what is read with it.
//!
//! A token that runs out in the middle lets its user hear the end of what was begun with it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::Response;
use http_body::Frame;

use crate::http::route::EVENTS;
use crate::http::server::Server;
use crate::identity::Caller;

/// Between two looks whether the key still holds.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Why a stream breaks off.
#[derive(Debug, thiserror::Error)]
#[error("the key of whoever reads no longer holds")]
struct TakenBack;

/// The same reply; a stream breaks off when the key of its reader no longer holds.
pub(crate) fn by_key(server: &Arc<Server>, caller: Caller, response: Response) -> Response {
    let is_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    if !is_stream {
        return response;
    }
    let server = Arc::clone(server);
    let taken_back = Box::pin(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match server.doorkeeper.still_knows(&caller).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return tracing::warn!("whether a key still holds cannot be told: {error}"),
            }
        }
    });
    response.map(|body| Body::new(Held { body, taken_back: Some(taken_back) }))
}

/// A body that ends early when its reader's key does.
struct Held {
    body: Body,
    /// Resolves when that happens; nothing afterwards.
    taken_back: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(taken_back) = &mut self.taken_back else { return Poll::Ready(None) };
        if taken_back.as_mut().poll(context).is_ready() {
            self.taken_back = None;
            return Poll::Ready(Some(Err(axum::Error::new(TakenBack))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}
