//! JSON bodies, queries and paths, with problems that say what is wrong.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Body as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::http::problem::{NO_ROUTE, Problem};

/// The largest body of a request.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The longest a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The media type of documents.
pub(crate) const JSON: &str = "application/json";

/// Reads a body, within the limits of size and time.
pub(crate) async fn read_body(body: axum::body::Body) -> Result<Bytes, Problem> {
    read_body_with(body, || Ok(())).await
}

/// The same. Acquires a permit first if the body has not arrived yet.
pub(crate) async fn read_body_with<P>(
    body: axum::body::Body,
    permit: impl FnOnce() -> Result<P, Problem>,
) -> Result<Bytes, Problem> {
    let mut reading = pin!(read_limited(body));
    if let Poll::Ready(bytes) = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await {
        return bytes;
    }
    let _permit = permit()?;
    lazy_timeout(BODY_TIMEOUT, reading).await.unwrap_or_else(|| {
        let detail = format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs());
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail))
    })
}

/// A timeout that reads the clock only if the work is not ready at the first poll.
pub(crate) async fn lazy_timeout<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => timeout(limit, work).await.ok(),
    }
}

async fn read_limited(mut body: axum::body::Body) -> Result<Bytes, Problem> {
    // Most bodies arrive in one frame, which is not copied.
    let (mut first, mut bytes) = (Bytes::new(), Vec::new());
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Problem::bad_request("the body is incomplete"))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len().max(bytes.len()) + data.len() > MAX_BODY_BYTES {
            let detail = format!("the body is too large; up to {MAX_BODY_BYTES} bytes are accepted");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
        }
        if first.is_empty() {
            first = data;
            continue;
        }
        if bytes.is_empty() {
            bytes.extend_from_slice(&first);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(if bytes.is_empty() { first } else { bytes.into() })
}

/// A JSON body, of a request or of a response.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(is_json) {
            let detail = "the body must be JSON, sent with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
        }
        let bytes = read_body(request.into_body()).await?;
        // serde would also accept a list of field values.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(Problem::bad_request(
                "the body must be a JSON object; `GET /openapi.json` describes it",
            ));
        }
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::bad_request(format!("invalid body: {error}")))
    }
}

pub(crate) fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case(JSON)
        || (kind.len() > 5 && kind.get(kind.len() - 5..).is_some_and(|end| end.eq_ignore_ascii_case("+json")))
}

/// The query of a URL.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        let refused = |error: axum::extract::rejection::QueryRejection| {
            Problem::bad_request(format!("invalid query: {}", error.body_text()))
        };
        read.map(|query| Self(query.0)).map_err(refused)
    }
}

/// The variable parts of a path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let refused = |_| Problem::not_found(NO_ROUTE);
        read.map(|path| Self(path.0)).map_err(refused)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, JSON)], body).into_response(),
            Err(error) => Problem::failure(&error).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_too_long_is_dropped() {
        let limit = Duration::from_secs(1);
        let began = Instant::now();
        assert_eq!(lazy_timeout(limit, async { 1 }).await, Some(1));
        assert_eq!(lazy_timeout(limit, async { sleep(limit / 2).await }).await, Some(()));
        assert_eq!(lazy_timeout(limit, std::future::pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_millis() / 100, 15);
    }
}
