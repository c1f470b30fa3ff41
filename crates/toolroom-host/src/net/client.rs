//! The client: judges, sends, follows redirects, and returns a body with limits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, RANGE, USER_AGENT};
use http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{self, Client as Pool};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout, timeout_at};

use super::allowance::Allowance;
use super::body::{ACCEPTED, Body};
use super::connector::EgressConnector;
use super::egress_policy::{EgressPolicy, HttpLimits};
use super::error::{NetError, TimeoutKind, inside};
use super::flow::{Deadline, Flow};
use super::redirect::{Hop, location};
use super::request::{Follows, Request};
use super::resolve::{BoxFuture, Resolve, SystemResolver};
use super::response::Response;
use super::target::Target;
use super::transport::Peer;

/// The `User-Agent`.
const NAME: &str = concat!("toolroom/", env!("CARGO_PKG_VERSION"));

/// Idle connections kept per host, and for how long. With fewer than concurrent requests, most connections would be made
/// anew.
const SPARE: usize = 64;
const SPARE_FOR: Duration = Duration::from_secs(60);

/// Read buffer of HTTP/1, as a multiple of the header limit: bodies use the same buffer, and small reads make them
/// slower by a third.
const BUFFER: usize = 4;

/// Bytes allowed before a head is complete, as a multiple of the same: interim responses, the head, and the part of the
/// body read with it.
const BEFORE_HEAD: u64 = 2 * BUFFER as u64;

/// HTTP/2 window of a response; that of a connection is four times as large.
const WINDOW: u32 = 512 * 1024;

/// The port for HTTP requests. HTTP traits of other libraries are implemented over it, so that no library opens a
/// connection of its own.
pub trait Http: Send + Sync {
    /// Sends a request and returns once the headers of the response have arrived.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, NetError>>;
}

/// The only HTTP client. Clones share it. Clients with different policies have separate connections, so that a connection
/// made under one policy is never used under another.
#[derive(Clone)]
pub struct Client {
    reach: Arc<EgressPolicy>,
    pool: Arc<Pool<EgressConnector, Full<Bytes>>>,
}

impl Client {
    /// A client with the system's resolver. Opens nothing yet.
    #[must_use]
    pub fn new(reach: EgressPolicy) -> Self {
        Self::with_resolver(reach, Arc::new(SystemResolver::default()))
    }

    /// A client with another resolver.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door: the one pool of connections, over the gate"
    )]
    pub fn with_resolver(mut reach: EgressPolicy, resolver: Arc<dyn Resolve>) -> Self {
        reach.limits = reach.limits.sane();
        let reach = Arc::new(reach);
        let limits = &reach.limits;
        let pool = Pool::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(SPARE_FOR)
            .pool_max_idle_per_host(SPARE)
            .http1_max_headers(limits.headers)
            .http1_max_buf_size(
                usize::try_from(limits.header_bytes).unwrap_or(usize::MAX).saturating_mul(BUFFER),
            )
            .http2_max_header_list_size(limits.header_bytes)
            .http2_initial_stream_window_size(WINDOW)
            .http2_initial_connection_window_size(4 * WINDOW)
            .build(EgressConnector::new(Arc::clone(&reach), resolver));
        Self { reach, pool: Arc::new(pool) }
    }

    /// Parses and judges a URL, as far as possible without resolving its name. Opens nothing.
    pub fn judge(&self, url: &str) -> Result<Target, NetError> {
        Target::judge(url, &self.reach)
    }

    /// Sends a request, follows redirects and returns once the headers of the response have arrived.
    pub async fn send(&self, request: Request) -> Result<Response, NetError> {
        let deadline = self.reach.limits.total.map(|after| Deadline { at: Instant::now() + after, after });
        let follows = if self.reach.max_redirects == 0 { Follows::None } else { request.follows };
        let mut hop = self.first(request)?;
        let mut redirects = 0;
        loop {
            let response = self.exchange(&hop, deadline).await?;
            let location = location(response.status(), response.headers());
            let Some(location) = location.filter(|_| follows != Follows::None) else {
                return self.received(hop, response, redirects, deadline);
            };
            if redirects == self.reach.max_redirects {
                let host = hop.target.place().to_string();
                return Err(NetError::TooManyRedirects { host, limit: redirects });
            }
            redirects += 1;
            let from = hop.target.clone();
            hop = hop.follow(response.status(), &location, &self.reach)?;
            let url = hop.target.url();
            if follows == Follows::SameHost && url.host_str() != from.url().host_str() {
                return Err(NetError::OtherHost { host: from.place().to_string(), url: url.to_string() });
            }
        }
    }

    fn first(&self, request: Request) -> Result<Hop, NetError> {
        let Request { method, url, headers, body, follows: _ } = request;
        // Such headers concern the transport, not a resource.
        if matches!(method, Method::CONNECT | Method::TRACE) {
            return Err(NetError::BadMethod(method.to_string()));
        }
        let target = self.judge(&url)?;
        Ok(Hop { target, method, headers: with_defaults(headers), body })
    }

    /// One request, one response.
    async fn exchange(
        &self,
        hop: &Hop,
        deadline: Option<Deadline>,
    ) -> Result<http::Response<Incoming>, NetError> {
        let host = || hop.target.place().to_string();
        let mut request = http::Request::new(Full::new(hop.body.clone()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = hop.target.uri().clone();
        *request.headers_mut() = hop.headers.clone();
        let answer = async {
            let mut connection = capture_connection(&mut request);
            let mut sent = std::pin::pin!(self.pool.request(request));
            // Connecting has its own timeout; idle time counts from the moment the connection exists.
            let answer = tokio::select! {
                // A pooled connection is found on the first poll.
                biased;
                answer = &mut sent => answer,
                allowance = connected(&mut connection) => {
                    let HttpLimits { idle: limit, header_bytes, .. } = self.reach.limits;
                    let before_head = u64::from(header_bytes).saturating_mul(BEFORE_HEAD);
                    allowance.iter().for_each(|allowance| allowance.begin(before_head));
                    let silent = |_| NetError::Timeout { host: host(), wait: TimeoutKind::Idle, limit };
                    let answer = timeout(limit, sent).await.map_err(silent)?;
                    allowance.iter().for_each(|allowance| allowance.end(before_head));
                    answer
                }
            };
            answer.map_err(|error| self.failed(&host(), error))
        };
        match deadline {
            None => answer.await,
            Some(Deadline { at, after: limit }) => {
                let late = |_| NetError::Timeout { host: host(), wait: TimeoutKind::Total, limit };
                timeout_at(at, answer).await.map_err(late)?
            }
        }
    }

    fn received(
        &self,
        hop: Hop,
        response: http::Response<Incoming>,
        redirects: u32,
        deadline: Option<Deadline>,
    ) -> Result<Response, NetError> {
        let limits = &self.reach.limits;
        let host: Arc<str> = hop.target.place().to_string().into();
        let (mut head, body) = response.into_parts();
        // HTTP/2 bounds only the size, HTTP/1 the number and the buffer.
        let size: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if head.headers.len() > limits.headers || size as u64 > u64::from(limits.header_bytes) {
            return Err(self.too_many_headers(&host));
        }
        // Every connection comes from the connector, which records the peer.
        let Some(Peer(peer)) = head.extensions.get().copied() else {
            let source = Arc::new(io::Error::other("a connection of unknown origin"));
            return Err(NetError::Connect { host: host.to_string(), source });
        };
        let Hop { target, method, .. } = hop;
        let body = if has_body(&method, head.status) {
            let flow = Flow::new(host, body, limits.wire_bytes, limits.idle, deadline);
            Body::new(flow, &mut head.headers, limits.decoded_bytes)?
        } else {
            Body::none(host)
        };
        Ok(Response { status: head.status, headers: head.headers, target, redirects, peer, body })
    }

    fn failed(&self, host: &str, error: legacy::Error) -> NetError {
        if let Some(ours) = inside::<NetError>(&error) {
            return ours.clone();
        }
        let is_exhausted = |error: &io::Error| error.kind() == io::ErrorKind::FileTooLarge;
        let is_too_large = inside(&error).is_some_and(hyper::Error::is_parse_too_large);
        if is_too_large || inside(&error).is_some_and(is_exhausted) {
            return self.too_many_headers(host);
        }
        NetError::broken(host, error)
    }

    fn too_many_headers(&self, host: &str) -> NetError {
        let HttpLimits { headers: count, header_bytes: bytes, .. } = self.reach.limits;
        NetError::TooManyHeaders { host: host.to_owned(), count, bytes }
    }
}

impl Http for Client {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, NetError>> {
        Box::pin(Self::send(self, request))
    }
}

/// Waits for a new or pooled connection and returns its allowance.
async fn connected(connection: &mut CaptureConnection) -> Option<Allowance> {
    let mut extras = Extensions::new();
    if let Some(connected) = &*connection.wait_for_connection_metadata().await {
        connected.get_extras(&mut extras);
    }
    extras.remove()
}

/// Whether a body follows. Without one, length headers describe the omitted body, which HTTP/2 would take for a
/// promise.
fn has_body(method: &Method, status: StatusCode) -> bool {
    *method != Method::HEAD && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The default headers, unless the caller sets them.
fn with_defaults(mut headers: HeaderMap) -> HeaderMap {
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(NAME));
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    // A range of an encoded body cannot be decoded.
    if !headers.contains_key(RANGE) {
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(ACCEPTED));
    }
    headers
}
