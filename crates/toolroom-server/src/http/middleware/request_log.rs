//! The id, the span and the log line of a request.
//!
//! The line names the route and not the path, which may hold a secret: a sign-in link does.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use tokio::time::Instant;
use toolroom::clock::{Clock, Timestamp, Uuid};

use crate::http::middleware::client_address;
use crate::http::pipeline::Endpoint;
use crate::http::server::method_name;
use crate::telemetry::{CurrentRequest, Log, RequestEnd, RequestLine, RequestTrace, Tracer};

/// The header with the id of a request, in both directions.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id a client may choose.
const MAX_CHARS: usize = 128;

/// Starts the log line of a request, and the context that all its log lines share.
pub(crate) fn start(
    endpoint: &Endpoint,
    received: Instant,
    request: &Request,
) -> (RequestLogLine, Arc<CurrentRequest>) {
    let Endpoint { server, path, .. } = endpoint;
    let headers = request.headers();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let client =
        peer.map(|ConnectInfo(peer)| client_address::client(peer.ip(), headers, &server.trusted_proxies));
    let clock = server.app.room.clock();
    let trace = server.tracer.as_ref().map(|tracer| OpenTrace {
        tracer: Arc::clone(tracer),
        trace: Tracer::receive(headers),
        started: clock.now(),
    });
    let request_context =
        CurrentRequest::new(request_id(headers, clock), trace.as_ref().map(|open| open.trace.context()));
    let line = RequestLogLine {
        received,
        method: method_name(request.method()),
        route: *path,
        client,
        status: None,
        trace,
        request_context: Arc::clone(&request_context),
    };
    (line, request_context)
}

/// The id of a request: the client's if it is safe in a log, or a new one.
fn request_id(headers: &HeaderMap, clock: &dyn Clock) -> String {
    let given = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match given.filter(|id| is_safe(id)) {
        Some(id) => id.to_owned(),
        None => clock.ordered_id().hyphenated().encode_lower(&mut Uuid::encode_buffer()).to_owned(),
    }
}

fn is_safe(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    (1..=MAX_CHARS).contains(&id.len()) && id.chars().all(plain)
}

/// The log line of a request, written when this is dropped: after the response, or when the client disconnects.
pub(crate) struct RequestLogLine {
    received: Instant,
    method: &'static str,
    route: Option<&'static str>,
    pub(crate) client: Option<IpAddr>,
    status: Option<u16>,
    trace: Option<OpenTrace>,
    request_context: Arc<CurrentRequest>,
}

struct OpenTrace {
    tracer: Arc<Tracer>,
    trace: RequestTrace,
    started: Timestamp,
}

impl RequestLogLine {
    /// Notes the status, and adds the id to the response.
    pub(crate) fn finish(&mut self, response: &mut Response) {
        self.status = Some(response.status().as_u16());
        if let Ok(id) = HeaderValue::from_str(&self.request_context.request_id) {
            response.headers_mut().insert(HEADER, id);
        }
    }
}

impl Drop for RequestLogLine {
    fn drop(&mut self) {
        let Self { received, method, route, client, status, trace, .. } = self;
        let took = received.elapsed();
        if let Some(OpenTrace { tracer, trace, started }) = trace {
            tracer.request(
                *trace,
                RequestEnd { method, route: *route, started: *started, took, status: *status },
            );
        }
        let ms = (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0;
        let (method, route, status, from) = (*method, route.unwrap_or("none"), *status, *client);
        Log::request(RequestLine { method, route, status, ms, from });
    }
}

#[cfg(test)]
mod tests {
    use toolroom::clock::SystemClock;

    use super::*;

    #[test]
    fn an_id_of_the_client_is_used_if_it_is_safe_in_a_log() {
        let id_for = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(value).unwrap());
            request_id(&headers, &SystemClock)
        };
        let longest = "x".repeat(MAX_CHARS);
        for id in ["a", "550e8400-e29b-41d4-a716-446655440000", "front.1:2_3", &longest] {
            assert_eq!(id_for(id.as_bytes()), id);
        }
        let longer = format!("{longest}x");
        for id in ["", "a b", "a\tb", "a\"b", "a{b}", "tüte", "a\u{1b}[31m", &longer] {
            let Ok(value) = HeaderValue::from_bytes(id.as_bytes()) else { continue };
            let made = id_for(value.as_bytes());
            assert_ne!(made, id);
            assert!(is_safe(&made), "{made}");
        }
        assert!(is_safe(&request_id(&HeaderMap::new(), &SystemClock)));
    }
}
