//! Reading what a request brings, with problems that say what is wrong.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(is_json) {
            let detail = "the body has to be JSON; send it with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|refused| {
            let (status, code) = match refused.status() {
                StatusCode::PAYLOAD_TOO_LARGE => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
                _ => (StatusCode::BAD_REQUEST, "bad_request"),
            };
            Problem::new(status, code, format!("the body cannot be read: {}", refused.body_text()))
        })?;
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::bad_request(format!("the body does not fit: {error}")))
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
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
            Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
            Err(error) => Problem::failure(&error).into_response(),
        }
    }
}
