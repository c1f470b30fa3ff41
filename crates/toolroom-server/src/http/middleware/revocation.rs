//! Revoking a key ends the event streams that were opened with it.
//!
//! A token that expires ends no stream, so its user receives the end of what was started.

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

/// How often the key is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Why a stream ended early.
#[derive(Debug, thiserror::Error)]
#[error("the key of this stream was revoked or has expired")]
struct KeyRevoked;

/// Makes an event stream end when the key of its caller does. Other responses stay as they are.
pub(crate) fn end_with_key(server: &Arc<Server>, caller: Caller, response: Response) -> Response {
    let is_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    if !is_stream {
        return response;
    }
    let server = Arc::clone(server);
    let revoked = Box::pin(async move {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            match server.authenticator.is_still_valid(&caller).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return tracing::warn!("cannot check whether a key was revoked: {error}"),
            }
        }
    });
    response.map(|body| Body::new(RevocableBody { body, revoked: Some(revoked) }))
}

/// A body that ends with an error when the key of its caller is revoked.
struct RevocableBody {
    body: Body,
    /// Resolves when the key is revoked; `None` afterwards.
    revoked: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl http_body::Body for RevocableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(revoked) = &mut self.revoked else { return Poll::Ready(None) };
        if revoked.as_mut().poll(context).is_ready() {
            self.revoked = None;
            return Poll::Ready(Some(Err(axum::Error::new(KeyRevoked))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}
