//! Who the caller is, and whether the route is open to it.
//!
//! A page can make a browser send the owner's cookie, but it cannot set headers of ours or read replies. So what a cookie
//! alone allows is limited to the server's own pages.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use crate::http::access::Access;
use crate::http::middleware::client_address;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::{AuthenticationError, Caller, Credentials, WebOrigin};

/// The cookie of a browser that is signed in.
pub(crate) const COOKIE: &str = "toolroom_browser";

/// The caller of a request, or `None` where the route is open without one.
pub(crate) async fn identify(
    server: &Server,
    access: Access,
    headers: &HeaderMap,
    foreign_origin: Option<&WebOrigin>,
    client: Option<IpAddr>,
) -> Result<Option<Caller>, Problem> {
    // A proxy on this machine forwards requests of other machines, even if it is not in `server.trusted_proxies`.
    let is_local =
        || client.is_some_and(|client| client.is_loopback()) && !client_address::is_proxied(headers);
    let is_open =
        access == Access::Public || (access == Access::Local && server.listens_on_loopback() && is_local());
    if is_open {
        return match foreign_origin {
            Some(origin) => Err(Problem::forbidden(AuthenticationError::Origin(origin.clone()).to_string())),
            None => Ok(None),
        };
    }
    let credentials = Credentials { bearer: bearer(headers), cookie: cookie(headers), foreign_origin };
    let caller = server.authenticator.identify(credentials).await.map_err(|error| match error {
        AuthenticationError::Missing | AuthenticationError::Invalid(_) => {
            Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", error.to_string())
        }
        AuthenticationError::Origin(_) => Problem::forbidden(error.to_string()),
        AuthenticationError::Store(error) => error.into(),
    })?;
    Ok(Some(caller))
}

/// Checks the access rule of the route, and that the tools of the caller's project are up to date.
pub(crate) async fn authorize(
    server: &Server,
    access: Access,
    caller: &Caller,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    // A form on another site's page sends the cookie too. Browsers then always name the page in `Origin`.
    if bearer(headers).is_none() && !method.is_safe() && !headers.contains_key(header::ORIGIN) {
        let detail = "`Origin` is missing; browsers send it with every request that changes something";
        return Err(Problem::forbidden(detail));
    }
    if !access.allows(caller) {
        return Err(Problem::forbidden(access.missing()));
    }
    server.app.host_tools.sync(server.app.room.catalog(), &caller.scope.project).await?;
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

/// The value of our cookie.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|pairs| pairs.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}
