//! Responses.

use std::fmt;
use std::net::SocketAddr;

use http::{HeaderMap, StatusCode};

use super::body::Body;
use super::target::Target;

/// A response with an unread body. Any status is a response, including 404.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers. Those about encoding and length are removed if the body is decoded.
    pub headers: HeaderMap,
    /// The final URL, after redirects.
    pub target: Target,
    /// Number of redirects.
    pub redirects: u32,
    /// The address of the peer.
    pub peer: SocketAddr,
    /// The body.
    pub body: Body,
}

impl Response {
    /// A header as text, if it exists and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Without headers, path and query, which may contain secrets.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, target, redirects, peer, .. } = self;
        write!(f, "Response({status} from {target} at {peer} after {redirects} redirects)")
    }
}
