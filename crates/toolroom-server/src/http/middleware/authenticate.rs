//! The entrance of a route: who is it, may they do this, have they not come too often, and is there a place.
//!
//! A request of a known caller counts for its key, any other one for its address: what strangers send takes nothing from
//! those whose keys hold. A place is taken once the body has arrived.
//!
//! A page that made a browser send something can read no header of ours and set none of its own, so what a cookie alone
//! allows is held to our own pages.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::access::Need;
use crate::http::door::Asked;
use crate::http::door::Door;
use crate::http::door::Inside;
use crate::http::door::Visitor;
use crate::http::extract::body::whole_in;
use crate::http::mcp::challenge;
use crate::http::middleware::client_address;
use crate::http::middleware::host_check::Place;
use crate::http::middleware::idempotency;
use crate::http::middleware::rate_limit;
use crate::http::middleware::revocation;
use crate::http::problem::Problem;
use crate::http::resources::health;
use crate::http::resources::sign_in;
use crate::http::server::Server;
use crate::identity::{Caller, Shown, Unidentified};
use crate::telemetry;

/// The cookie of a browser that is signed in.
pub(crate) const COOKIE: &str = "toolroom_browser";

/// Lets a request in to one route, or not, and counts it.
pub(crate) async fn enter(door: &Door, visitor: Box<Visitor>, inside: Inside) -> Response {
    let Some(asked) = door.asked else { return stranger(door, visitor, inside).await };
    let (came, path) = (visitor.came, door.path.unwrap_or_default());
    let response = pass(door, asked, visitor, inside).await;
    door.server.app.figures.request(asked.method, path, response.status().as_u16(), came.elapsed());
    response
}

async fn pass(
    door: &Door,
    Asked { need, is_repeatable, .. }: Asked,
    mut visitor: Box<Visitor>,
    inside: Inside,
) -> Response {
    let Door { server, path, .. } = door;
    let headers = visitor.request.headers();
    let shown =
        Shown { bearer: bearer(headers), cookie: cookie(headers), foreign_page: visitor.page.as_ref() };
    let by_cookie = shown.bearer.is_none();
    let caller = match recognise(server, need, shown, visitor.sender, headers).await {
        Ok(caller) => caller,
        Err(problem) => {
            let counted = server.pacing.address(visitor.came, visitor.address());
            let mut response = counted.err().unwrap_or(problem).into_response();
            challenge(path.unwrap_or_default(), headers, &mut response);
            return response;
        }
    };
    let Some(caller) = caller else { return stranger(door, visitor, inside).await };
    telemetry::is_of(&caller);
    let visit = match server.pacing.caller(visitor.came, &caller) {
        Ok(visit) => visit,
        Err(problem) => return problem.into_response(),
    };
    // A form on another page can make a browser send its cookie. It cannot say where it comes from.
    let hides_its_page =
        by_cookie && !is_safe(visitor.request.method()) && !headers.contains_key(header::ORIGIN);
    let admitted = match admit(server, need, hides_its_page, &caller).await {
        Ok(()) => settle(server, &caller, &mut visitor).await,
        Err(problem) => Err(problem),
    };
    let mut response = match admitted {
        Ok(_place) => {
            visitor.caller = Some(caller.clone());
            let response = match is_repeatable {
                true if idempotency::is_named(&visitor.request) => {
                    Box::pin(idempotency::once(server, &caller, visitor, inside)).await
                }
                _ => inside.answer(server, visitor).await,
            };
            revocation::by_key(server, caller, response)
        }
        Err(problem) => problem.into_response(),
    };
    rate_limit::tell(visit, &mut response);
    response
}

/// Answers a sender who does not have to be known.
async fn stranger(
    Door { server, path, asked }: &Door,
    mut visitor: Box<Visitor>,
    inside: Inside,
) -> Response {
    let (came, address) = (visitor.came, visitor.address());
    // The sign-in route counts only wrong links, so that wrong ones do not block the right one.
    let counted = match asked.is_some() && *path == Some(sign_in::PATH) {
        true => Ok(()),
        false => server.pacing.address(came, address),
    };
    // Health checks need no place: a supervisor restarts a server that does not answer them.
    let is_urgent = health::is_asked(visitor.request.uri().path());
    let place = counted.and_then(|()| match is_urgent {
        true => Ok(None),
        false => server.pacing.place(None).map(|place| Some(Place(Arc::new(place)))),
    });
    match place {
        Ok(place) => {
            visitor.place.clone_from(&place);
            let response = inside.answer(server, visitor).await;
            drop(place);
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// Reads the body, then takes one of the caller's places. The place is held until the returned value is dropped. A health
/// check takes none.
async fn settle(server: &Server, caller: &Caller, visitor: &mut Visitor) -> Result<Option<Place>, Problem> {
    let request = &mut visitor.request;
    if !is_safe(request.method()) && !request.body().is_end_stream() {
        let body = std::mem::take(request.body_mut());
        let bytes = whole_in(body, || server.pacing.arriving(caller)).await?;
        *request.body_mut() = Body::from(bytes);
    }
    if !health::is_asked(visitor.request.uri().path()) {
        visitor.place = Some(Place(Arc::new(server.pacing.place(Some(caller))?)));
    }
    Ok(visitor.place.clone())
}

/// Who it is, if that matters here.
async fn recognise(
    server: &Server,
    need: Need,
    shown: Shown<'_>,
    sender: Option<IpAddr>,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Problem> {
    // A proxy on this machine forwards requests of others, also one that is not in `server.trusted_proxies`.
    let is_near =
        || sender.is_some_and(|sender| sender.is_loopback()) && !client_address::is_proxied(headers);
    let free =
        need == Need::Nothing || (need == Need::Neighbour && server.is_among_neighbours() && is_near());
    if free {
        return match shown.foreign_page {
            Some(page) => Err(Problem::forbidden(Unidentified::Page(page.clone()).to_string())),
            None => Ok(None),
        };
    }
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
async fn admit(server: &Server, need: Need, hides_its_page: bool, caller: &Caller) -> Result<(), Problem> {
    if hides_its_page {
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
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|pairs| pairs.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
