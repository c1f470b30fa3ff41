//! Responses to requests: a JSON document, or the last event of a stream if notifications precede it.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use tokio::sync::mpsc;

use crate::http::extract::json::{JSON, lazy_timeout};
use crate::http::problem::Problem;
use crate::http::streams::cancel_on_disconnect::CancelOnDisconnect;
use crate::http::streams::events::{KEEP_ALIVE, Stream};
use crate::mcp::{Id, OutgoingMessage, RpcError, error_text, result_text};
use crate::telemetry;

/// The `Accept` header of most clients.
const BOTH: &str = "application/json, text/event-stream";

/// The name of events that carry a message.
pub(super) const MESSAGE: &str = "message";

/// A response that is being worked on.
pub(super) struct PendingResponse {
    pub(super) id: Id,
    pub(super) is_modern: bool,
    /// Whether the client accepts an event stream.
    pub(super) takes_streams: bool,
    pub(super) work: CancelOnDisconnect<Result<OutgoingMessage, RpcError>>,
    /// Messages that precede the response.
    pub(super) messages: Option<mpsc::Receiver<OutgoingMessage>>,
}

/// The outcome of the work, which may have panicked.
type Outcome = Result<Result<OutgoingMessage, RpcError>, RpcError>;

/// The next message to the client.
enum NextMessage<T> {
    Preceding(OutgoingMessage),
    Response(T),
}

/// Waits for the next message. Preceding messages come first.
async fn next<T>(
    messages: &mut Option<mpsc::Receiver<OutgoingMessage>>,
    work: impl Future<Output = T>,
) -> NextMessage<T> {
    let preceding = async {
        match messages {
            Some(messages) => messages.recv().await,
            None => None,
        }
    };
    tokio::select! {
        biased;
        Some(text) = preceding => NextMessage::Preceding(text),
        response = work => NextMessage::Response(response),
    }
}

impl PendingResponse {
    /// A document, or a stream if messages precede the response or it takes long: proxies close silent connections.
    pub(super) async fn respond(mut self) -> Response {
        let next = next(&mut self.messages, &mut self.work);
        let first = match self.takes_streams {
            true => lazy_timeout(KEEP_ALIVE, next).await,
            false => Some(next.await),
        };
        let first = match first {
            Some(NextMessage::Response(response)) => {
                return self.document(response.map_err(panicked));
            }
            Some(NextMessage::Preceding(text)) => Some(text),
            None => None,
        };
        let (stream, response) = Stream::open();
        // The work ends with the stream.
        tokio::spawn(telemetry::in_current_request(self.stream(stream, first)));
        response
    }

    async fn stream(self, stream: Stream, first: Option<OutgoingMessage>) {
        let Self { id, mut messages, work, .. } = self;
        // The work does not wait for a slow reader.
        let Some((mut task, _left)) = work.spawn() else { return };
        let mut sent = match first {
            Some(text) => stream.send_message(MESSAGE, text).await,
            None => stream.keep_alive().await,
        };
        while sent.is_ok() {
            let Ok(next) = stream.keep_alive_until(next(&mut messages, &mut task)).await else { return };
            sent = match next {
                NextMessage::Preceding(text) => stream.send_message(MESSAGE, text).await,
                NextMessage::Response(response) => {
                    let last = match response {
                        Ok(Ok(result)) => result.wrapped(|result| result_text(&id, result)),
                        Ok(Err(refusal)) => error_text(Some(&id), &refusal).into(),
                        Err(error) => error_text(Some(&id), &RpcError::failure(&error)).into(),
                    };
                    return drop(stream.send_message(MESSAGE, last).await);
                }
            };
        }
    }

    fn document(self, outcome: Outcome) -> Response {
        let Self { id, is_modern, .. } = self;
        match outcome {
            Ok(Ok(result)) => document(StatusCode::OK, result.wrapped(|result| result_text(&id, result))),
            Ok(Err(refusal)) => {
                let status = match refusal.code {
                    RpcError::NO_METHOD if is_modern => StatusCode::NOT_FOUND,
                    RpcError::CAPABILITY => StatusCode::BAD_REQUEST,
                    RpcError::BUSY => StatusCode::TOO_MANY_REQUESTS,
                    _ => StatusCode::OK,
                };
                refused(status, Some(&id), &refusal)
            }
            Err(panicked) => refused(StatusCode::INTERNAL_SERVER_ERROR, Some(&id), &panicked),
        }
    }
}

/// The error of work that panicked. Details are in the log.
fn panicked(problem: Problem) -> RpcError {
    RpcError::new(RpcError::INTERNAL, problem.detail)
}

/// Whether a client accepts this media type. Without an `Accept` header it accepts any.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    if headers.get(header::ACCEPT).is_some_and(|accept| accept == BOTH) {
        return true;
    }
    let mut accepted =
        headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok()).peekable();
    accepted.peek().is_none()
        || accepted.flat_map(|accept| accept.split(',')).any(|accept| {
            let accept = accept.split(';').next().unwrap_or_default().trim();
            accept.eq_ignore_ascii_case(kind) || accept == "*/*"
        })
}

pub(super) fn document(status: StatusCode, text: impl Into<OutgoingMessage>) -> Response {
    let mut response = Response::new(Body::from(text.into().into_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

pub(super) fn refused(status: StatusCode, id: Option<&Id>, refusal: &RpcError) -> Response {
    document(status, error_text(id, refusal))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use tokio::sync::oneshot;

    use super::*;

    fn pending(takes_streams: bool) -> (oneshot::Sender<String>, PendingResponse) {
        let (sender, result) = oneshot::channel::<String>();
        let work = CancelOnDisconnect::detached(Box::pin(async move { Ok(result.await.unwrap().into()) }));
        let id = Id::Number(1.into());
        (sender, PendingResponse { id, is_modern: true, takes_streams, work, messages: None })
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_response_is_a_stream_that_is_kept_alive() {
        let (sender, pending) = pending(true);
        let response = pending.respond().await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        let mut body = response.into_body();
        let mut next = async || body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(next().await.unwrap(), ":\n\n");
        assert_eq!(next().await.unwrap(), ":\n\n");
        sender.send("{}".to_owned()).unwrap();
        let last = next().await.unwrap();
        assert_eq!(last, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
        assert_eq!(next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_accepts_no_stream_waits_for_a_document() {
        let (sender, pending) = pending(false);
        tokio::spawn(async move {
            tokio::time::sleep(10 * KEEP_ALIVE).await;
            sender.send("{}".to_owned()).unwrap();
        });
        let response = pending.respond().await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], JSON);
    }
}
