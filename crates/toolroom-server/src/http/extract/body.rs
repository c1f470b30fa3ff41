//! Reading what a request brings, with problems that say what is wrong.

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

use crate::http::problem::Problem;
use crate::http::timeout_after_poll::within;

/// The largest body of a request.
const BODY_BYTES: usize = 4 * 1024 * 1024;

/// The longest a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The media type of documents.
pub(crate) const JSON: &str = "application/json";

/// The whole of a body, if it is not too large and does not take too long.
pub(crate) async fn whole(body: axum::body::Body) -> Result<Bytes, Problem> {
    whole_in(body, || Ok(())).await
}

/// The same; a body that has not arrived yet needs a place to be waited for.
pub(crate) async fn whole_in<P>(
    body: axum::body::Body,
    place: impl FnOnce() -> Result<P, Problem>,
) -> Result<Bytes, Problem> {
    let late = || {
        let detail = format!("the body did not arrive within {} s", BODY_TIME.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    };
    let mut reading = pin!(within_bounds(body));
    if let Poll::Ready(whole) = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await {
        return whole;
    }
    let _place = place()?;
    within(BODY_TIME, reading).await.ok_or_else(late)?
}

async fn within_bounds(mut body: axum::body::Body) -> Result<Bytes, Problem> {
    // Nearly always it is one piece, which is taken as it is.
    let (mut first, mut bytes) = (Bytes::new(), Vec::new());
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Problem::bad_request("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len().max(bytes.len()) + data.len() > BODY_BYTES {
            let detail = format!("a body may have up to {BODY_BYTES} bytes");
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

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(is_json) {
            let detail = "the body has to be JSON; send it with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
        }
        let bytes = whole(request.into_body()).await?;
        // Fields that stand in a list without their names would be taken, too.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(Problem::bad_request(
                "the body has to be a JSON object; `GET /openapi.json` says which",
            ));
        }
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::bad_request(format!("the body does not fit: {error}")))
    }
}

pub(crate) fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case(JSON)
        || (kind.len() > 5 && kind.get(kind.len() - 5..).is_some_and(|end| end.eq_ignore_ascii_case("+json")))
}

/// The part after the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        let refused = |error: axum::extract::rejection::QueryRejection| {
            Problem::bad_request(format!("the query does not fit: {}", error.body_text()))
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
        let refused = |_| Problem::not_found("there is nothing at this address; see `/docs`");
        read.map(|path| Self(path.0)).map_err(refused)
    }
}

/// A JSON reply.
pub(crate) struct Document<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Document<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, JSON)], body).into_response(),
            Err(error) => Problem::failure(&error).into_response(),
        }
    }
}
