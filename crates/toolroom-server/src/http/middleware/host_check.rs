//! `Host` and `Origin`: is the request meant for this server, and which page sent it.
//!
//! Whether a foreign page may use the caller's key is checked by authentication.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::extract::ForeignOrigin;
use crate::http::middleware::idempotency;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::{AuthenticationError, HostName, WebOrigin};

/// Headers that may not be repeated: a proxy could go by the other value.
const UNIQUE: [HeaderName; 8] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static(idempotency::HEADER),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
];

/// Checks the host names of a request. Returns the origin of the page that sent it, unless the page is one of ours.
pub(crate) fn foreign_origin(server: &Server, request: &Request) -> Result<Option<WebOrigin>, Problem> {
    let headers = request.headers();
    // Most requests repeat no header at all.
    if headers.len() != headers.keys_len() {
        UNIQUE.iter().try_for_each(|name| unique(headers, name).map(drop).map_err(Problem::bad_request))?;
    }
    let host = unique(headers, &header::HOST).map_err(misdirected)?;
    let host = own_name(server, host.and_then(|host| host.to_str().ok()).unwrap_or_default())?;
    // The target may name a host, too, and a proxy could go by that one.
    if let Some(authority) = request.uri().authority() {
        own_name(server, authority.as_str())?;
    }
    let Some(origin) = unique(headers, &header::ORIGIN).map_err(Problem::forbidden)? else {
        return Ok(None);
    };
    let parsed = origin.to_str().ok().and_then(|origin| origin.parse::<WebOrigin>().ok());
    let parsed = parsed
        .ok_or_else(|| Problem::forbidden(format!("{origin:?} is not an origin that may use this server")))?;
    Ok((!parsed.is_of(host)).then_some(parsed))
}

fn own_name<'s>(server: &'s Server, shown: &str) -> Result<&'s HostName, Problem> {
    server.own_name(shown).ok_or_else(|| {
        misdirected(format!(
            "`{shown}` is not a name of this server; add it to `server.hosts` if it should be"
        ))
    })
}

fn misdirected(detail: String) -> Problem {
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", detail)
}

/// The value of a header that may not be repeated.
fn unique<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(format!("`{name}` is sent more than once")),
    }
}

/// Answers a CORS preflight: allowed if any key may be used by pages of this origin.
pub(crate) async fn preflight(
    State(server): State<Arc<Server>>,
    origin: Option<Extension<ForeignOrigin>>,
) -> Result<Response, Problem> {
    let Some(Extension(ForeignOrigin(origin))) = origin else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    if !server.authenticator.knows_origin(&origin).await? {
        return Err(Problem::forbidden(AuthenticationError::Origin(origin).to_string()));
    }
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
             mcp-session-id, traceparent, x-api-key, x-request-id",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    Ok((StatusCode::NO_CONTENT, allowed).into_response())
}

/// Adds the headers every response has. A foreign page may read the response, also a refusal.
pub(crate) fn with_headers(origin: Option<&WebOrigin>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let Some(origin) = origin else { return response };
    if let Ok(value) = HeaderValue::from_str(&origin.to_string()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let exposed = "idempotent-replayed, mcp-session-id, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-request-id";
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
    }
    response
}
