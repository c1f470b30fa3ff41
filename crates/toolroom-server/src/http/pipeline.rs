//! The middleware of every route, from top to bottom:
//!
//! 1. [`request_log`]: request id, span, and one log line, also when the client disconnects
//! 2. [`host_check`]: `Host` and `Origin`; CORS headers of the response
//! 3. [`authenticate`]: the caller, or anonymous where the route allows it
//! 4. [`RateLimiter`](rate_limit::RateLimiter): per key and session; anonymous and unauthenticated requests per address
//! 5. [`authenticate::authorize`]: the access rule of the route
//! 6. [`permits`](super::middleware::permits): reads the body, then takes a permit
//! 7. [`idempotency`]: replays the stored reply of the same `Idempotency-Key`
//! 8. the handler; [`revocation`] ends its event stream when the key is revoked
//!
//! One tower layer calls them all: a layer for each would cost every request an allocation and a copy per layer.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::Route as Handler;
use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

use crate::http::access::Access;
use crate::http::extract::{ClientAddress, ForeignOrigin};
use crate::http::mcp::challenge;
use crate::http::middleware::{authenticate, host_check, idempotency, rate_limit, request_log, revocation};
use crate::http::problem::Problem;
use crate::http::resources::{health, sign_in};
use crate::http::route::Route;
use crate::http::server::{Server, method_name};
use crate::identity::{Caller, WebOrigin};
use crate::telemetry;

/// What the middleware knows about the route of a request.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) server: Arc<Server>,
    /// Path pattern, for the log. `None` where no route matches.
    pub(super) path: Option<&'static str>,
    /// `None` for preflights, and where no route matches path and method.
    rules: Option<Rules>,
}

#[derive(Clone, Copy)]
struct Rules {
    access: Access,
    /// Label of the request in the metrics.
    method: &'static str,
    is_idempotent: bool,
}

/// Puts the middleware in front of a handler.
#[derive(Clone)]
pub(super) struct PipelineLayer(Arc<Endpoint>);

impl PipelineLayer {
    pub(super) fn for_route(server: &Arc<Server>, route: &Route) -> Self {
        let Route { access, path, idempotent, method, .. } = route;
        let rules = Rules { access: *access, method: method_name(method), is_idempotent: *idempotent };
        Self(Arc::new(Endpoint { server: Arc::clone(server), path: Some(path), rules: Some(rules) }))
    }

    /// For preflights and refusals, which every client may ask for.
    pub(super) fn without_route(server: &Arc<Server>, path: Option<&'static str>) -> Self {
        Self(Arc::new(Endpoint { server: Arc::clone(server), path, rules: None }))
    }
}

impl Layer<Handler> for PipelineLayer {
    type Service = Pipeline;

    fn layer(&self, handler: Handler) -> Pipeline {
        Pipeline { endpoint: Arc::clone(&self.0), handler: Arc::new(handler) }
    }
}

/// A handler behind the middleware. Both parts are shared: axum clones the service for every request.
#[derive(Clone)]
pub(super) struct Pipeline {
    endpoint: Arc<Endpoint>,
    handler: Arc<Handler>,
}

impl Service<Request> for Pipeline {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { endpoint, handler } = self.clone();
        let received = Instant::now();
        let (log_line, visit) = request_log::start(&endpoint, received, &request);
        Box::pin(visit.scope(async move {
            // The line is written when it is dropped, with this future if the client disconnects.
            let (mut log_line, mut request) = (log_line, request);
            let sender = Sender { received, address: log_line.client };
            let mut response = respond(&endpoint, sender, &mut request, &handler).await;
            log_line.finish(&mut response);
            Ok(response)
        }))
    }
}

/// When a request was received, and from which client.
#[derive(Clone, Copy)]
struct Sender {
    received: Instant,
    address: Option<IpAddr>,
}

impl Sender {
    /// The address that requests without a caller count for. Clients without one share the bucket of `0.0.0.0`.
    fn address(self) -> IpAddr {
        self.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }
}

// The stages borrow the request, so that it is in their futures once.
async fn respond(
    endpoint: &Endpoint,
    sender: Sender,
    request: &mut Request,
    handler: &Arc<Handler>,
) -> Response {
    let origin = match host_check::foreign_origin(&endpoint.server, request) {
        Ok(origin) => origin,
        Err(problem) => return host_check::with_headers(None, problem.into_response()),
    };
    let response = match endpoint.rules {
        Some(rules) => {
            let response = identify(endpoint, rules, sender, origin.as_ref(), request, handler).await;
            let (path, status) = (endpoint.path.unwrap_or_default(), response.status().as_u16());
            endpoint.server.app.metrics.request(rules.method, path, status, sender.received.elapsed());
            response
        }
        None => anonymous(endpoint, sender, origin.as_ref(), request, handler).await,
    };
    host_check::with_headers(origin.as_ref(), response)
}

/// Authenticates the caller and counts the request for the caller's key, or else for its address.
async fn identify(
    endpoint: &Endpoint,
    rules: Rules,
    sender: Sender,
    origin: Option<&WebOrigin>,
    request: &mut Request,
    handler: &Arc<Handler>,
) -> Response {
    let Endpoint { server, path, .. } = endpoint;
    let headers = request.headers();
    let caller = match authenticate::identify(server, rules.access, headers, origin, sender.address).await {
        Ok(Some(caller)) => caller,
        Ok(None) => return anonymous(endpoint, sender, origin, request, handler).await,
        Err(problem) => {
            let limited = server.rate_limiter.address(sender.received, sender.address()).err();
            let mut response = limited.unwrap_or(problem).into_response();
            if response.status() == StatusCode::UNAUTHORIZED {
                challenge(path.unwrap_or_default(), headers, &mut response);
            }
            return response;
        }
    };
    telemetry::set_caller(&caller);
    let quota = match server.rate_limiter.caller(sender.received, &caller) {
        Ok(quota) => quota,
        Err(problem) => return problem.into_response(),
    };
    let admitted = admitted(server, rules, caller, request, handler).await;
    let mut response = admitted.unwrap_or_else(IntoResponse::into_response);
    rate_limit::add_headers(quota, &mut response);
    response
}

/// Answers a request of an authenticated caller.
async fn admitted(
    server: &Arc<Server>,
    rules: Rules,
    caller: Caller,
    request: &mut Request,
    handler: &Arc<Handler>,
) -> Result<Response, Problem> {
    authenticate::authorize(server, rules.access, &caller, request.method(), request.headers()).await?;
    server.permits.read_body(&caller, request).await?;
    // Health checks need no permit: a supervisor restarts a server that does not answer them.
    let permit = match health::is_health_check(request.uri().path()) {
        true => None,
        false => Some(Arc::new(server.permits.acquire(Some(&caller))?)),
    };
    let extensions = request.extensions_mut();
    permit.clone().map(|permit| extensions.insert(permit));
    extensions.insert(caller.clone());
    let response = match rules.is_idempotent && idempotency::has_key(request) {
        true => {
            let (request, handler) = (std::mem::take(request), Arc::clone(handler));
            Box::pin(idempotency::once(server, &caller, permit.clone(), request, handler)).await?
        }
        false => run(handler, std::mem::take(request)).await,
    };
    drop(permit);
    Ok(revocation::end_with_key(server, caller, response))
}

/// Answers a request whose caller does not matter.
async fn anonymous(
    Endpoint { server, path, rules }: &Endpoint,
    sender: Sender,
    origin: Option<&WebOrigin>,
    request: &mut Request,
    handler: &Arc<Handler>,
) -> Response {
    // The sign-in route counts only wrong links, so that wrong ones do not block the right one.
    let counts = rules.is_none() || *path != Some(sign_in::PATH);
    let limited = counts.then(|| server.rate_limiter.address(sender.received, sender.address()));
    let permit = limited.transpose().and_then(|_| match health::is_health_check(request.uri().path()) {
        true => Ok(None),
        false => server.permits.acquire(None).map(Some),
    });
    match permit {
        Ok(_permit) => {
            let extensions = request.extensions_mut();
            origin.map(|origin| extensions.insert(ForeignOrigin(origin.clone())));
            sender.address.map(|address| extensions.insert(ClientAddress(address)));
            run(handler, std::mem::take(request)).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Calls the handler.
pub(super) async fn run(handler: &Handler, request: Request) -> Response {
    let Ok(response) = handler.clone().call(request).await;
    response
}
