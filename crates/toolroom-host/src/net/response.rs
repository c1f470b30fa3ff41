//! What came back.

use std::fmt;
use std::net::SocketAddr;

use http::{HeaderMap, StatusCode};

use super::body::Body;
use super::target::Target;

/// A response whose body is still to be read. Its status is whatever the server said: 404 is a response too.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers. Those about encoding and length are gone where the body is decoded.
    pub headers: HeaderMap,
    /// Where it came from in the end.
    pub target: Target,
    /// How many redirects led there.
    pub redirects: u32,
    /// Who answered.
    pub peer: SocketAddr,
    /// What follows.
    pub body: Body,
}

impl Response {
    /// The text of a header, if there is such a header and it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Without headers, path and query, which may hold secrets.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, target, redirects, peer, .. } = self;
        write!(f, "Response({status} from {target} at {peer} after {redirects} redirects)")
    }
}
