//! The door of one route. Whatever comes in goes through it, in this order:
//!
//! [`record`] gives it a name and a line in the log, [`gate`](super::gate) asks whether it is meant for us at all,
//! [`entrance`](super::entrance) who it is and whether they may, [`repeat`](super::repeat) whether it was answered
//! before. Each hands it on to the next, and what is inside comes last.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route as Handler;
use tower_layer::Layer;
use tower_service::Service;

use super::need::Need;
use super::record;
use super::route::Route;
use super::server::{Server, method_name};

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

/// What is behind a door.
pub(super) struct Inside(Handler);

impl Inside {
    pub(super) async fn answer(mut self, request: Request) -> Response {
        let Ok(response) = self.0.call(request).await;
        response
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
        Box::pin(async move { Ok(record::follow(door, request, Inside(handler)).await) })
    }
}
