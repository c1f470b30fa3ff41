//! One line of the log and one span for each request, and a name by which it is found there.
//!
//! The line says which route it was and not the path, which may hold a secret: a link that signs in does.

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::Response;
use tokio::time::Instant;
use toolroom::clock::Timestamp;

use crate::http::door::Door;
use crate::http::door::Inside;
use crate::http::door::Visitor;
use crate::http::middleware::client_address;
use crate::http::middleware::host_check;
use crate::http::middleware::request_id;
use crate::http::server::method_name;
use crate::telemetry::{Log, RequestEnd, RequestLine, RequestTrace, Tracer, Visit};

/// Where a request comes from, as far as we believe it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender(pub(crate) IpAddr);

/// Follows a request from its beginning to its reply.
pub(crate) async fn follow(door: &Door, mut visitor: Box<Visitor>, inside: Inside) -> Response {
    let (server, headers) = (&door.server, visitor.request.headers());
    let sender = visitor.sender.map(|peer| client_address::sender(peer, headers, &server.trusted_proxies));
    let name = request_id::of(headers, server.app.room.clock());
    let trace = server.tracer.as_ref().map(|tracer| Traced {
        tracer: Arc::clone(tracer),
        trace: Tracer::receive(headers),
        started: server.app.room.clock().now(),
    });
    let span = trace.as_ref().map(|traced| traced.trace.context());
    let entry = Entry {
        came: visitor.came,
        method: method_name(visitor.request.method()),
        route: door.path,
        sender,
        status: None,
        traced: trace,
    };
    visitor.sender = sender;
    let visit = Visit::new(name, span);
    Arc::clone(&visit)
        .during(async move {
            // Its line belongs to this request, so it goes with it.
            let mut entry = entry;
            let mut response = host_check::pass(door, visitor, inside).await;
            entry.status = Some(response.status().as_u16());
            if let Some(told) = request_id::told(&visit.request_id) {
                response.headers_mut().insert(request_id::HEADER, told);
            }
            response
        })
        .await
}

/// The line about a request, written when it is over: replied to, or given up by its sender.
struct Entry {
    came: Instant,
    method: &'static str,
    route: Option<&'static str>,
    sender: Option<IpAddr>,
    status: Option<u16>,
    traced: Option<Traced>,
}

/// A request that is part of a trace.
struct Traced {
    tracer: Arc<Tracer>,
    trace: RequestTrace,
    started: Timestamp,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Self { came, method, route, sender, status, traced } = self;
        let took = came.elapsed();
        if let Some(Traced { tracer, trace, started }) = traced {
            tracer.request(
                *trace,
                RequestEnd { method, route: *route, started: *started, took, status: *status },
            );
        }
        let ms = (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0;
        let (method, route, status, from) = (*method, route.unwrap_or("none"), *status, *sender);
        Log::request(RequestLine { method, route, status, ms, from });
    }
}
