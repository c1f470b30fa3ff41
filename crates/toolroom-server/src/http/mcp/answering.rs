//! An answer: a document, or the last event of a stream where something is told before it.

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

/// What nearly every client takes: both kinds there are.
const USUAL: &str = "application/json, text/event-stream";

/// What an event is called that carries a message.
pub(super) const MESSAGE: &str = "message";

/// An answer that is on its way.
pub(super) struct PendingResponse {
    pub(super) id: Id,
    pub(super) is_modern: bool,
    /// Whether the client takes a stream for an answer.
    pub(super) takes_streams: bool,
    pub(super) work: CancelOnDisconnect<Result<OutgoingMessage, RpcError>>,
    /// What is told before the answer.
    pub(super) heard: Option<mpsc::Receiver<OutgoingMessage>>,
}

/// How the work on a request ended: it may have broken in the middle.
type Answer = Result<Result<OutgoingMessage, RpcError>, RpcError>;

/// What a client is told next.
enum NextMessage<A> {
    Said(OutgoingMessage),
    Answer(A),
}

/// What is said next. The answer comes last, whoever could still say something.
async fn next<A>(
    heard: &mut Option<mpsc::Receiver<OutgoingMessage>>,
    work: impl Future<Output = A>,
) -> NextMessage<A> {
    let said = async {
        match heard {
            Some(heard) => heard.recv().await,
            None => None,
        }
    };
    tokio::select! {
        biased;
        Some(text) = said => NextMessage::Said(text),
        answer = work => NextMessage::Answer(answer),
    }
}

impl PendingResponse {
    /// A document, or a stream where something is told first. Nobody has to wait in silence for long who takes one: those
    /// in between would take the line for dead.
    pub(super) async fn answered(mut self) -> Response {
        let next = next(&mut self.heard, &mut self.work);
        let first = match self.takes_streams {
            true => lazy_timeout(KEEP_ALIVE, next).await,
            false => Some(next.await),
        };
        let first = match first {
            Some(NextMessage::Answer(answer)) => {
                return self.document(answer.map_err(broken));
            }
            Some(NextMessage::Said(text)) => Some(text),
            None => None,
        };
        let (stream, response) = Stream::open();
        // All of it lives as long as the stream: who leaves that has left.
        tokio::spawn(telemetry::carried(self.tell(stream, first)));
        response
    }

    async fn tell(self, stream: Stream, first: Option<OutgoingMessage>) {
        let Self { id, mut heard, work, .. } = self;
        // It does not wait for whoever reads slowly.
        let Some((mut task, _left)) = work.spawn() else { return };
        let mut told = match first {
            Some(text) => stream.send_message(MESSAGE, text).await,
            None => stream.keep_alive().await,
        };
        while told.is_ok() {
            let Ok(next) = stream.keep_alive_until(next(&mut heard, &mut task)).await else { return };
            told = match next {
                NextMessage::Said(text) => stream.send_message(MESSAGE, text).await,
                NextMessage::Answer(answer) => {
                    let last = match answer {
                        Ok(Ok(result)) => result.wrapped(|result| result_text(&id, result)),
                        Ok(Err(refusal)) => error_text(Some(&id), &refusal).into(),
                        Err(error) => error_text(Some(&id), &RpcError::failure(&error)).into(),
                    };
                    return drop(stream.send_message(MESSAGE, last).await);
                }
            };
        }
    }

    fn document(self, answer: Answer) -> Response {
        let Self { id, is_modern, .. } = self;
        match answer {
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
            Err(broken) => refused(StatusCode::INTERNAL_SERVER_ERROR, Some(&id), &broken),
        }
    }
}

/// What is said of work that broke in the middle; the log says more.
fn broken(problem: Problem) -> RpcError {
    RpcError::new(RpcError::INTERNAL, problem.detail)
}

/// Whether a client takes this kind of reply. One that does not say takes any.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    if headers.get(header::ACCEPT).is_some_and(|accept| accept == USUAL) {
        return true;
    }
    let mut said =
        headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok()).peekable();
    said.peek().is_none()
        || said.flat_map(|accept| accept.split(',')).any(|accept| {
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

    fn answering(takes_streams: bool) -> (oneshot::Sender<String>, PendingResponse) {
        let (answer, answered) = oneshot::channel::<String>();
        let work = CancelOnDisconnect::detached(Box::pin(async move { Ok(answered.await.unwrap().into()) }));
        let id = Id::Number(1.into());
        (answer, PendingResponse { id, is_modern: true, takes_streams, work, heard: None })
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_takes_long_is_a_stream_that_is_kept_alive() {
        let (answer, answering) = answering(true);
        let response = answering.answered().await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        let mut body = response.into_body();
        let mut next = async || body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(next().await.unwrap(), ":\n\n");
        assert_eq!(next().await.unwrap(), ":\n\n");
        answer.send("{}".to_owned()).unwrap();
        let last = next().await.unwrap();
        assert_eq!(last, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
        assert_eq!(next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_no_stream_waits_for_a_document() {
        let (answer, answering) = answering(false);
        tokio::spawn(async move {
            tokio::time::sleep(10 * KEEP_ALIVE).await;
            answer.send("{}".to_owned()).unwrap();
        });
        let response = answering.answered().await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], JSON);
    }
}
