//! Where a request is led to its door.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request};
use axum::response::Response;
use hyper::body::Incoming;
use tower_service::Service;

use crate::http::door::DirectDoor;

/// Knows all doors.
#[derive(Clone)]
pub(super) struct Reception {
    /// Those that are found by method and path alone.
    pub(super) direct: Arc<[(Method, &'static str, DirectDoor)]>,
    /// All others.
    pub(super) router: Router,
}

impl Reception {
    /// Answers a request of this peer.
    pub(super) async fn receive(mut self, peer: SocketAddr, request: Request<Incoming>) -> Response {
        let mut request = request.map(Body::new);
        let is_meant =
            |(method, path, _): &&(_, _, _)| request.method() == method && request.uri().path() == *path;
        if let Some((_, _, door)) = self.direct.iter().find(is_meant) {
            return door.enter(peer.ip(), request).await;
        }
        request.extensions_mut().insert(ConnectInfo(peer));
        let Ok(response) = self.router.call(request).await;
        response
    }
}
