//! The entrance: every request passes here before anything reads it further.
//!
//! In this order: is it meant for us (`Host`), does it come from a page that may speak to us (`Origin`), who is it, may
//! they do this. A page that made a browser send something can read no header of ours and set none of its own, so what
//! a cookie alone allows is held to our own pages.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::need::Need;
use super::problem::Problem;
use super::server::Server;
use crate::identity::{Caller, HostName, Shown, Unidentified, WebOrigin};

/// The cookie of a browser that is signed in.
pub(super) const COOKIE: &str = "toolroom_browser";

/// Lets a request in to one route, or not.
pub(super) async fn enter(
    State((server, need)): State<(Arc<Server>, Need)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let page = match page_of(&server, &parts.headers) {
        Ok(page) => page,
        Err(problem) => return problem.into_response(),
    };
    let caller = match recognise(&server, need, &parts, page.as_ref()).await {
        Ok(caller) => caller,
        Err(problem) => return allowing(page.as_ref(), problem.into_response()),
    };
    if let Some(caller) = caller {
        parts.extensions.insert(caller);
    }
    allowing(page.as_ref(), next.run(Request::from_parts(parts, body)).await)
}

/// Who it is, if that matters here.
async fn recognise(
    server: &Server,
    need: Need,
    request: &Parts,
    page: Option<&WebOrigin>,
) -> Result<Option<Caller>, Problem> {
    let free = need == Need::Nothing || (need == Need::Neighbour && server.is_among_neighbours());
    if free {
        return match page {
            Some(page) => Err(Problem::forbidden(Unidentified::Page(page.clone()).to_string())),
            None => Ok(None),
        };
    }
    let headers = &request.headers;
    let shown = Shown { bearer: bearer(headers), cookie: cookie(headers), foreign_page: page };
    let caller = server.doorkeeper.identify(shown).await.map_err(|unidentified| match unidentified {
        Unidentified::Nothing | Unidentified::Unknown(_) => {
            Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", unidentified.to_string())
        }
        Unidentified::Page(_) => Problem::forbidden(unidentified.to_string()),
        Unidentified::Store(error) => error.into(),
    })?;
    // A form on another page can make a browser send its cookie. It cannot say where it comes from.
    let only_by_cookie = shown.bearer.is_none();
    if only_by_cookie && !is_safe(&request.method) && !headers.contains_key(header::ORIGIN) {
        let detail = "a browser says where a request comes from; this one did not (no `Origin`)";
        return Err(Problem::forbidden(detail));
    }
    if !need.is_met_by(&caller) {
        return Err(Problem::forbidden(need.missing()));
    }
    Ok(Some(caller))
}

/// The page a request comes from, if it is not one of ours.
fn page_of(server: &Server, headers: &HeaderMap) -> Result<Option<WebOrigin>, Problem> {
    let host = text(headers, header::HOST).and_then(|host| host.parse::<HostName>().ok());
    let Some(host) = host.filter(|host| server.is_called(host)) else {
        let shown = text(headers, header::HOST).unwrap_or_default();
        let detail =
            format!("this server is not called `{shown}`; name it in `server.hosts` if it should be");
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", detail));
    };
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(None) };
    let page = origin.to_str().ok().and_then(|origin| origin.parse::<WebOrigin>().ok());
    let page = page.ok_or_else(|| {
        Problem::forbidden(format!("`{origin:?}` is no origin of a page that may speak to this server"))
    })?;
    Ok((!page.is_of(&host)).then_some(page))
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let by_scheme = text(headers, header::AUTHORIZATION).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    by_scheme.or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok()))
}

/// What our cookie says.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|pairs| pairs.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// What a browser wants to know before a page of somebody else sends something.
pub(super) async fn preflight(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let page = match page_of(&server, &headers) {
        Ok(Some(page)) => page,
        Ok(None) => return StatusCode::NO_CONTENT.into_response(),
        Err(problem) => return problem.into_response(),
    };
    match server.doorkeeper.knows_page(&page).await {
        Ok(true) => {}
        Ok(false) => return Problem::forbidden(Unidentified::Page(page).to_string()).into_response(),
        Err(error) => return Problem::from(error).into_response(),
    }
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, last-event-id, x-api-key",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    allowing(Some(&page), (StatusCode::NO_CONTENT, allowed).into_response())
}

/// Lets the page that asked read the reply.
fn allowing(page: Option<&WebOrigin>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let Some(page) = page else { return response };
    if let Ok(value) = HeaderValue::from_str(&page.to_string()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let seen = "retry-after, x-ratelimit-limit, x-ratelimit-remaining";
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(seen));
    }
    response
}
