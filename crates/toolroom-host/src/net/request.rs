//! Requests, and the headers a caller may set.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::error::NetError;

/// Headers of the transport, set by the client only.
const OF_THE_CLIENT: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Which redirects a request follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    All,
    /// Only those to the same host.
    SameHost,
    None,
}

/// A request. Its body is complete, so that a redirect can repeat it.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Which redirects it follows.
    pub(super) follows: Follows,
}

impl Request {
    /// A request; its URL is judged on sending.
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: HeaderMap::new(), body: Bytes::new(), follows: Follows::All }
    }

    /// A GET request.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// A POST request.
    #[must_use]
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url).body(body)
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The URL as given.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Follows no redirects: the redirect itself is the response. For bodies with credentials.
    #[must_use]
    pub fn unfollowed(mut self) -> Self {
        self.follows = Follows::None;
        self
    }

    /// Fails if the host redirects to another one.
    #[must_use]
    pub fn same_host_only(mut self) -> Self {
        self.follows = Follows::SameHost;
        self
    }

    /// Sets a header. On a redirect to another origin only harmless ones (`Accept`, `Content-Type` and the like) are sent.
    pub fn header(self, name: &str, value: &str) -> Result<Self, NetError> {
        self.set(name, value, false)
    }

    /// Sets a header with a credential: it is sent to the first origin only and never logged.
    pub fn secret_header(self, name: &str, value: &str) -> Result<Self, NetError> {
        self.set(name, value, true)
    }

    fn set(mut self, name: &str, value: &str, is_secret: bool) -> Result<Self, NetError> {
        let (name, mut value) = header(name, value)?;
        value.set_sensitive(is_secret);
        self.headers.insert(name, value);
        self.check()?;
        Ok(self)
    }

    /// For libraries with headers of their own.
    pub fn headers(mut self, headers: HeaderMap) -> Result<Self, NetError> {
        self.headers.extend(headers);
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), NetError> {
        self.headers.keys().try_for_each(allowed)
    }
}

/// Checks a header that is stored now and sent later.
///
/// # Errors
/// If the name or value is invalid. The value is never repeated.
pub fn check_header(name: &str, value: &str) -> Result<(), NetError> {
    allowed(&header(name, value)?.0)
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), NetError> {
    let bad = |why| NetError::BadHeader { name: name.chars().take(80).collect(), why };
    let parsed = HeaderName::try_from(name).map_err(|_| bad("this is no name of a header"))?;
    let value = HeaderValue::from_str(value)
        .map_err(|_| bad("its value holds a character that headers cannot hold"))?;
    Ok((parsed, value))
}

fn allowed(name: &HeaderName) -> Result<(), NetError> {
    match OF_THE_CLIENT.contains(&name.as_str()) {
        false => Ok(()),
        true => {
            Err(NetError::BadHeader { name: name.to_string(), why: "the client itself decides about it" })
        }
    }
}
