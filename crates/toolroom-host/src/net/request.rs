//! What is asked for, and which headers a caller may decide about.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::error::NetError;

/// Headers that say how a message is sent, which the client alone decides.
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
    /// Those that stay at the host.
    SameHost,
    None,
}

/// A request. Its body is whole, so that a redirect can repeat it.
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
    /// A request; its URL is judged when it is sent.
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: HeaderMap::new(), body: Bytes::new(), follows: Follows::All }
    }

    /// Asks for something.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// Sends something.
    #[must_use]
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url).body(body)
    }

    /// What is to be done.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Where it goes, as it was written.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Another body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The same, going nowhere else: a redirect is the response itself. For bodies that are credentials.
    #[must_use]
    pub fn unfollowed(mut self) -> Self {
        self.follows = Follows::None;
        self
    }

    /// The same, refused when the host redirects to another one.
    #[must_use]
    pub fn same_host_only(mut self) -> Self {
        self.follows = Follows::SameHost;
        self
    }

    /// Sets a header. Of those a caller sets only the harmless ones (`Accept`, `Content-Type` and the like) go along
    /// when a redirect leads to another origin.
    pub fn header(self, name: &str, value: &str) -> Result<Self, NetError> {
        self.set(name, value, false)
    }

    /// Sets a header that is a credential: it goes to the first origin only, and no log shows it.
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

    /// For libraries that bring headers of their own.
    pub fn headers(mut self, headers: HeaderMap) -> Result<Self, NetError> {
        self.headers.extend(headers);
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), NetError> {
        self.headers.keys().try_for_each(allowed)
    }
}

/// Whether a caller may set a header to a value, for whoever writes it down long before it is sent.
///
/// # Errors
/// With what is wrong with the name or the value; neither is repeated beyond the name.
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
