//! The entrance of a route: who is it, may they do this, and have they not come too often.
//!
//! A page that made a browser send something can read no header of ours and set none of its own, so what a cookie alone
//! allows is held to our own pages.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::door::{Asked, Door, Inside};
use super::forwarded;
use super::gate::ForeignPage;
use super::held;
use super::mcp::Challenge;
use super::need::Need;
use super::pacing;
use super::problem::Problem;
use super::record::Sender;
use super::repeat;
use super::server::Server;
use crate::identity::{Caller, Shown, Unidentified, WebOrigin};
use crate::telemetry;

/// The cookie of a browser that is signed in.
pub(super) const COOKIE: &str = "toolroom_browser";

/// Lets a request in to one route, or not, and counts it.
pub(super) async fn enter(door: &Door, request: Request, inside: Inside) -> Response {
    let Some(asked) = door.asked else { return inside.answer(request).await };
    let came = Instant::now();
    let path = door.path.unwrap_or_default();
    let challenge = Challenge::of(path, request.headers());
    let mut response = pass(&door.server, asked, request, inside).await;
    challenge.add(&mut response);
    door.server.app.figures.request(asked.method, path, response.status().as_u16(), came.elapsed());
    response
}

async fn pass(
    server: &Arc<Server>,
    Asked { need, is_repeatable, .. }: Asked,
    request: Request,
    inside: Inside,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let page = parts.extensions.get::<ForeignPage>().and_then(|ForeignPage(page)| page.clone());
    let caller = match recognise(server, need, &parts, page.as_ref()).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let Some(caller) = caller else { return inside.answer(Request::from_parts(parts, body)).await };
    if let Some(request) = telemetry::current() {
        request.is_of(&caller);
    }
    let visit = match server.pacing.caller(&caller) {
        Ok(visit) => visit,
        Err(problem) => return problem.into_response(),
    };
    let mut response = match admit(server, need, &parts, &caller).await {
        Ok(()) => {
            parts.extensions.insert(caller.clone());
            let request = Request::from_parts(parts, body);
            let response = match is_repeatable {
                true if repeat::is_named(&request) => {
                    Box::pin(repeat::once(server, &caller, request, inside)).await
                }
                _ => inside.answer(request).await,
            };
            held::by_key(server, caller, response)
        }
        Err(problem) => problem.into_response(),
    };
    pacing::tell(visit, &mut response);
    response
}

/// Who it is, if that matters here.
async fn recognise(
    server: &Server,
    need: Need,
    request: &Parts,
    page: Option<&WebOrigin>,
) -> Result<Option<Caller>, Problem> {
    // Through a proxy on this machine others come, too, also through one that we were not told of.
    let is_near = request.extensions.get().is_some_and(|Sender(sender)| sender.is_loopback())
        && !forwarded::is_handed_on(&request.headers);
    let free = need == Need::Nothing || (need == Need::Neighbour && server.is_among_neighbours() && is_near);
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
    Ok(Some(caller))
}

/// Whether they may do this, and what they may use is as it should be.
async fn admit(server: &Server, need: Need, request: &Parts, caller: &Caller) -> Result<(), Problem> {
    // A form on another page can make a browser send its cookie. It cannot say where it comes from.
    let headers = &request.headers;
    let only_by_cookie = bearer(headers).is_none();
    if only_by_cookie && !is_safe(&request.method) && !headers.contains_key(header::ORIGIN) {
        let detail = "a browser says where a request comes from; this one did not (no `Origin`)";
        return Err(Problem::forbidden(detail));
    }
    if !need.is_met_by(caller) {
        return Err(Problem::forbidden(need.missing()));
    }
    server.app.machine.settle(server.app.room.catalog(), &caller.scope.project).await?;
    Ok(())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let by_scheme = text(header::AUTHORIZATION).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    by_scheme.or_else(|| text(HeaderName::from_static("x-api-key")))
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
