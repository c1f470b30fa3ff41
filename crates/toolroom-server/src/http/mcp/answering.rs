//! An answer: a document, or the last event of a stream where something is told before it.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::http::events::Stream;
use crate::http::reading::JSON;
use crate::mcp::{Id, Refusal, error_text, result_text};
use crate::telemetry;

/// An answer that is on its way.
pub(super) struct Answering {
    pub(super) id: Id,
    pub(super) is_modern: bool,
    pub(super) task: JoinHandle<Result<String, Refusal>>,
    /// Cancels when nobody waits any more.
    pub(super) left: Option<DropGuard>,
}

/// How the work on a request ended.
type Answer = Result<Result<String, Refusal>, JoinError>;

/// What a client is told next.
enum Next {
    Said(String),
    Answer(Answer),
}

impl Answering {
    pub(super) async fn silent(mut self) -> Response {
        let answer = (&mut self.task).await;
        self.document(answer)
    }

    /// A document, or a stream where something is told first.
    pub(super) async fn told(mut self, mut heard: mpsc::Receiver<String>) -> Response {
        let first = match self.next(&mut heard).await {
            Next::Said(text) => text,
            Next::Answer(answer) => return self.document(answer),
        };
        let (stream, response) = Stream::open();
        tokio::spawn(telemetry::carried(async move {
            // All of it lives as long as the stream: who leaves that has left.
            let mut answering = self;
            let mut text = first;
            while stream.send_text(frame(&text)).await.is_ok() {
                let Ok(next) = stream.meanwhile(answering.next(&mut heard)).await else { return };
                text = match next {
                    Next::Said(text) => text,
                    Next::Answer(answer) => {
                        let last = match answer {
                            Ok(Ok(result)) => result_text(&answering.id, &result),
                            Ok(Err(refusal)) => error_text(Some(&answering.id), &refusal),
                            Err(error) => error_text(Some(&answering.id), &Refusal::failure(&error)),
                        };
                        return drop(stream.send_text(frame(&last)).await);
                    }
                };
            }
        }));
        response
    }

    /// What is said next. The answer comes last, whoever could still say something.
    async fn next(&mut self, heard: &mut mpsc::Receiver<String>) -> Next {
        tokio::select! {
            biased;
            Some(text) = heard.recv() => Next::Said(text),
            answer = &mut self.task => Next::Answer(answer),
        }
    }

    fn document(self, answer: Answer) -> Response {
        let Self { id, is_modern, left, .. } = self;
        // It is done: nothing is left to cancel.
        let _over: Option<CancellationToken> = left.map(DropGuard::disarm);
        match answer {
            Ok(Ok(result)) => document(StatusCode::OK, result_text(&id, &result)),
            Ok(Err(refusal)) => {
                let status = match refusal.code {
                    Refusal::NO_METHOD if is_modern => StatusCode::NOT_FOUND,
                    Refusal::CAPABILITY => StatusCode::BAD_REQUEST,
                    _ => StatusCode::OK,
                };
                refused(status, Some(&id), &refusal)
            }
            Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, Some(&id), &Refusal::failure(&error)),
        }
    }
}

pub(super) fn frame(text: &str) -> String {
    format!("event: message\ndata: {text}\n\n")
}

pub(super) fn document(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], text).into_response()
}

pub(super) fn refused(status: StatusCode, id: Option<&Id>, refusal: &Refusal) -> Response {
    document(status, error_text(id, refusal))
}
