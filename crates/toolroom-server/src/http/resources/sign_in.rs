//! Sign-in of the owner's browser with a link that works once.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::time::Instant;

use crate::http::access::Access;
use crate::http::extract::{ClientAddress, Path};
use crate::http::middleware::authenticate::{COOKIE, cookie};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::BROWSER_LIFETIME;

/// The path of a link.
pub(crate) const PATH: &str = "/sign-in/{link}";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(PATH, Access::Public, "Signs the owner's browser in; the link works once.", enter)
            .response(303, "", "Signed in.")
            .with_header("Location", "The page to open next.")
            .with_header("Set-Cookie", "The session cookie."),
        Route::post("/sign-out", Access::Owner, "Signs the owner's browser out.", leave)
            .response(204, "", "Signed out.")
            .with_header("Set-Cookie", "Removes the cookie."),
    ]
}

async fn enter(
    State(server): State<Arc<Server>>,
    method: Method,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    Path(link): Path<String>,
) -> Result<Response, Problem> {
    // Link previews send HEAD and must not use up the link.
    if method == Method::HEAD {
        server.rate_limiter.address(Instant::now(), client)?;
        return Err(Problem::method_not_allowed());
    }
    let Some(cookie) = server.authenticator.sign_in(&link).await? else {
        server.rate_limiter.wrong_link(Instant::now(), client)?;
        let detail = "this link was used or has expired; `toolroom serve` prints a new one when it starts";
        return Err(Problem::forbidden(detail));
    };
    let seconds = BROWSER_LIFETIME.as_secs();
    let value = format!("{COOKIE}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    let value = HeaderValue::from_str(&value).map_err(|error| Problem::failure(&error))?;
    let mut response = Redirect::to("/docs").into_response();
    response.headers_mut().insert(header::SET_COOKIE, value);
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

async fn leave(State(server): State<Arc<Server>>, headers: HeaderMap) -> Result<Response, Problem> {
    if let Some(cookie) = cookie(&headers) {
        server.authenticator.sign_out(cookie).await?;
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}
