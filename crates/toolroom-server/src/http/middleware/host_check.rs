//! The gate: every request passes here first, whatever it asks for.
//!
//! Is it meant for us (`Host`), and does it come from a page that could be allowed to speak to us (`Origin`). Who it is, and
//! whether there is a place for it, comes later, at the entrance of a route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::door::Door;
use crate::http::door::Inside;
use crate::http::door::Visitor;
use crate::http::middleware::authenticate;
use crate::http::middleware::idempotency;
use crate::http::middleware::permits::TakenPlace;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::{HostName, Unidentified, WebOrigin};

/// The page a request comes from, if it is not one of ours.
#[derive(Debug, Clone)]
pub(crate) struct ForeignPage(pub(crate) Option<WebOrigin>);

/// A place among those who are worked for. Whoever goes on working when the sender is gone keeps it.
#[derive(Debug, Clone)]
pub(crate) struct Place(pub(crate) Arc<TakenPlace>);

/// What nobody may say twice: another reader would go by the other one.
const SAID_ONCE: [HeaderName; 8] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static(idempotency::HEADER),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
];

/// Lets a request in, or not.
pub(crate) async fn pass(door: &Door, mut visitor: Box<Visitor>, inside: Inside) -> Response {
    let server = &door.server;
    let page = match said_once(visitor.request.headers()).and_then(|()| page_of(server, &visitor.request)) {
        Ok(page) => page,
        Err(problem) => return allowing(None, problem.into_response()),
    };
    visitor.page.clone_from(&page);
    allowing(page.as_ref(), authenticate::enter(door, visitor, inside).await)
}

/// The page a request comes from, if it is not one of ours.
fn page_of(server: &Server, request: &Request) -> Result<Option<WebOrigin>, Problem> {
    let host = only(request.headers(), &header::HOST).map_err(misdirected)?;
    let host = called(server, host.and_then(|host| host.to_str().ok()).unwrap_or_default())?;
    // A target may name a host, too. Somebody in front of us may have gone by that one.
    if let Some(authority) = request.uri().authority() {
        called(server, authority.as_str())?;
    }
    let Some(origin) = only(request.headers(), &header::ORIGIN).map_err(Problem::forbidden)? else {
        return Ok(None);
    };
    let page = origin.to_str().ok().and_then(|origin| origin.parse::<WebOrigin>().ok());
    let page = page.ok_or_else(|| {
        Problem::forbidden(format!("{origin:?} is no origin of a page that may speak to this server"))
    })?;
    Ok((!page.is_of(host)).then_some(page))
}

/// The name by which we were called, if it is one of ours.
fn called<'s>(server: &'s Server, shown: &str) -> Result<&'s HostName, Problem> {
    server.name(shown).ok_or_else(|| {
        misdirected(format!("this server is not called `{shown}`; name it in `server.hosts` if it should be"))
    })
}

fn misdirected(detail: String) -> Problem {
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", detail)
}

/// Whether what decides something is said once.
fn said_once(headers: &HeaderMap) -> Result<(), Problem> {
    // In nearly every request everything is.
    if headers.len() == headers.keys_len() {
        return Ok(());
    }
    SAID_ONCE.iter().try_for_each(|name| only(headers, name).map(drop).map_err(Problem::bad_request))
}

/// What a header says, if it says it once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(format!("`{name}` is there more than once")),
    }
}

/// What a browser wants to know before a page of somebody else sends something.
pub(crate) async fn preflight(
    State(server): State<Arc<Server>>,
    axum::Extension(ForeignPage(page)): axum::Extension<ForeignPage>,
) -> Response {
    let Some(page) = page else { return StatusCode::NO_CONTENT.into_response() };
    match server.doorkeeper.knows_page(&page).await {
        Ok(true) => {}
        Ok(false) => return Problem::forbidden(Unidentified::Page(page).to_string()).into_response(),
        Err(error) => return Problem::from(error).into_response(),
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
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// Lets the page that asked read the reply: it learns no more from it than anybody who asks without a page.
fn allowing(page: Option<&WebOrigin>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let Some(page) = page else { return response };
    if let Ok(value) = HeaderValue::from_str(&page.to_string()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let seen = "idempotent-replayed, mcp-session-id, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-request-id";
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(seen));
    }
    response
}
