//! Error responses as `application/problem+json` (RFC 9457). Codes are stable; texts may change.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use toolroom::agent::RunError;
use toolroom::conversation::{BeginRunError, TakeRunError};
use toolroom::ledger::LedgerError;
use toolroom_store::StoreError;

use crate::agents::OpenAgentError;
use crate::host_tools::HostToolsError;
use crate::runs::StartRunError;
use crate::telemetry;

/// The media type of problems.
pub(super) const PROBLEM: &str = "application/problem+json";

/// Detail of requests to a path that no route has.
pub(super) const NO_ROUTE: &str = "there is nothing at this address; see `/docs`";

/// An error response.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    pub(crate) retry_after: Option<Duration>,
}

/// Its JSON document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemDocument<'a> {
    /// Address of the explanation of the code.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the status.
    title: &'a str,
    /// The status.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// Stable code of the error.
    code: &'a str,
    /// What is wrong and what to do.
    detail: &'a str,
    /// Seconds to wait before a retry.
    #[serde(rename = "retryAfter", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    retry_after: Option<u64>,
    /// For clients of an earlier format of rate limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// Id of the request in the server's log; also in `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), retry_after: None }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let detail = "this address does not support that method; see `/docs`";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    /// A rate or concurrency limit.
    pub(crate) fn too_many(detail: impl Into<String>, retry_after: Duration) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail);
        Self { retry_after: Some(retry_after), ..problem }
    }

    /// An internal error. Its cause is logged and not sent.
    pub(crate) fn failure(cause: &(dyn std::error::Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(cause), |error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        tracing::error!("a request failed: {text}");
        let detail = "internal error; see the server's log";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }
}

impl From<StartRunError> for Problem {
    fn from(error: StartRunError) -> Self {
        let text = error.to_string();
        match error {
            StartRunError::Full => Self::too_many(text, Duration::from_secs(5)),
            StartRunError::Ending => Self::new(StatusCode::SERVICE_UNAVAILABLE, "ending", text),
            StartRunError::NotFound(_)
            | StartRunError::Agent(OpenAgentError::NotFound { .. })
            | StartRunError::Run(RunError::Take(TakeRunError::NotFound(_))) => Self::not_found(text),
            StartRunError::Run(RunError::EmptyMessage | RunError::ClientTool(_)) => Self::bad_request(text),
            StartRunError::Run(
                RunError::OtherAgent { .. }
                | RunError::Begin(
                    BeginRunError::Open { .. } | BeginRunError::Changed(_) | BeginRunError::Taken(_),
                )
                | RunError::Take(TakeRunError::Over { .. } | TakeRunError::Busy(_)),
            ) => Self::conflict(text),
            StartRunError::Agent(OpenAgentError::Model(_) | OpenAgentError::Name { .. }) => {
                Self::new(StatusCode::BAD_GATEWAY, "no_model", text)
            }
            StartRunError::Agent(_) | StartRunError::Run(_) | StartRunError::Broken => Self::failure(&error),
        }
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        Self::failure(&error)
    }
}

impl From<HostToolsError> for Problem {
    fn from(error: HostToolsError) -> Self {
        Self::failure(&error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::failure(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let limited = self.status == StatusCode::TOO_MANY_REQUESTS;
        let retry_after = self.retry_after.map(|span| span.as_secs().max(1));
        let request = telemetry::current_request();
        let document = ProblemDocument {
            kind: format!("/docs#problem-{}", self.code),
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            code: self.code,
            detail: &self.detail,
            retry_after,
            error: limited.then_some("RATE_LIMIT_EXCEEDED"),
            message: limited.then_some(&self.detail),
            request_id: request.as_deref().map(|request| &*request.request_id),
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toolroom\""));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
