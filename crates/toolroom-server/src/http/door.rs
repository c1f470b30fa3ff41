//! The door of one route. Whatever comes in goes through it, in this order:
//!
//! [`record`] gives it a name and a line in the log, [`gate`](super::gate) asks whether it is meant for us at all,
//! [`entrance`](super::entrance) who it is, whether they may and whether there is a place, [`repeat`](super::repeat) whether it was answered
//! before. Each hands it on to the next, and what is inside comes last.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::routing::Route as Handler;
use tokio::time::Instant;
use toolroom::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

use crate::http::access::Need;
use crate::http::middleware::host_check::ForeignPage;
use crate::http::middleware::host_check::Place;
use crate::http::middleware::request_log;
use crate::http::middleware::request_log::Sender;
use crate::http::route::Direct;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::server::method_name;
use crate::identity::{Caller, WebOrigin};

/// The door of one route, or of what is no route.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) server: Arc<Server>,
    /// Where it leads, as the log tells it.
    pub(super) path: Option<&'static str>,
    /// What is asked of whoever comes in; nothing where there is only a word to be had about what is there.
    pub(super) asked: Option<Asked>,
}

/// What is asked at a door.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) need: Need,
    /// What it is counted as.
    pub(super) method: &'static str,
    /// Whether it may be sent twice under one name.
    pub(super) is_repeatable: bool,
}

impl Door {
    /// The door of a route.
    pub(super) fn of(server: &Arc<Server>, route: &Route) -> Self {
        let Route { need, path, repeatable, method, .. } = route;
        let asked = Asked { need: *need, method: method_name(method), is_repeatable: *repeatable };
        Self { server: Arc::clone(server), path: Some(path), asked: Some(asked) }
    }

    /// The door of what says only what may be asked for at a path, or that nothing is there.
    pub(super) fn beside(server: &Arc<Server>, path: Option<&'static str>) -> Self {
        Self { server: Arc::clone(server), path, asked: None }
    }
}

/// A request on its way in, with what one station after the other finds out about it. In a box: each of them hands it on.
pub(super) struct Visitor {
    pub(super) request: Request,
    /// When it came.
    pub(super) came: Instant,
    /// Where it comes from, as far as we believe it.
    pub(super) sender: Option<IpAddr>,
    /// The page it comes from, if it is not one of ours.
    pub(super) page: Option<WebOrigin>,
    /// Its place among those who are worked for.
    pub(super) place: Option<Place>,
    /// Who it is, where that matters.
    pub(super) caller: Option<Caller>,
}

/// What is behind a door.
pub(super) enum Inside {
    /// What the router has found.
    Routed(Handler),
    /// What is reached without a router.
    Direct(Direct),
}

impl Inside {
    pub(super) async fn answer(self, server: &Arc<Server>, visitor: Box<Visitor>) -> Response {
        match self {
            Self::Direct(answer) => answer(Arc::clone(server), visitor).await,
            // What is reached without a router carries no room for one.
            Self::Routed(handler) => Box::pin(routed(handler, visitor)).await,
        }
    }
}

/// Hands on to what the router has found, with what is known of the visitor.
async fn routed(mut handler: Handler, visitor: Box<Visitor>) -> Response {
    let Visitor { mut request, sender, page, place, caller, .. } = *visitor;
    let known = request.extensions_mut();
    known.insert(ForeignPage(page));
    sender.map(|sender| known.insert(Sender(sender)));
    place.map(|place| known.insert(place));
    caller.map(|caller| known.insert(caller));
    let Ok(response) = handler.call(request).await;
    response
}

impl Visitor {
    /// What it is counted by until it is known who it is. All that would not say where they come from are one sender.
    pub(super) fn address(&self) -> IpAddr {
        self.sender.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    fn new(peer: Option<IpAddr>, request: Request) -> Box<Self> {
        let came = Instant::now();
        Box::new(Self { request, came, sender: peer, page: None, place: None, caller: None })
    }
}

/// A door that is found by its path and method alone.
#[derive(Clone)]
pub(super) struct DirectDoor {
    pub(super) door: Door,
    pub(super) answer: Direct,
}

impl DirectDoor {
    /// Leads a request of this peer in.
    pub(super) fn enter(&self, peer: IpAddr, request: Request) -> BoxFuture<'static, Response> {
        let Self { door, answer } = self.clone();
        let visitor = Visitor::new(Some(peer), request);
        Box::pin(async move {
            let response = request_log::follow(&door, visitor, Inside::Direct(answer)).await;
            door.server.company.gather().await;
            response
        })
    }
}

impl Layer<Handler> for Door {
    type Service = Guarded;

    fn layer(&self, handler: Handler) -> Guarded {
        Guarded { door: self.clone(), handler }
    }
}

/// Something with a door before it.
#[derive(Clone)]
pub(super) struct Guarded {
    door: Door,
    handler: Handler,
}

impl Service<Request> for Guarded {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { door, handler } = self.clone();
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip());
        let visitor = Visitor::new(peer, request);
        Box::pin(async move { Ok(request_log::follow(&door, visitor, Inside::Routed(handler)).await) })
    }
}
