//! A judged URL: parsed once, and serialized from the parsed form.

use std::fmt;

use http::Uri;
use url::Url;

use super::egress_policy::EgressPolicy;
use super::error::{NetError, UrlProblem};
use super::host_port::HostPort;

/// Longer URLs are refused; servers accept far less.
const MAX_LENGTH: usize = 16 * 1024;

/// Maximum length of a quoted part in messages.
const MAX_TOLD: usize = 80;

/// A URL that was judged as far as possible without resolving its name.
///
/// Only the parsed form is used, so no second parser can find another host in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    uri: Uri,
    place: HostPort,
}

impl Target {
    /// Parses and judges a URL. Opens nothing.
    pub fn judge(text: &str, reach: &EgressPolicy) -> Result<Self, NetError> {
        read(text).map_err(NetError::BadUrl).and_then(|target| target.judged(reach))
    }

    /// Resolves a redirect target.
    pub(super) fn follow(&self, location: &str, reach: &EgressPolicy) -> Result<Self, NetError> {
        let bad = |problem| NetError::BadRedirect { host: self.place.to_string(), problem };
        check_text(location).map_err(bad)?;
        let url = self.url.join(location).map_err(|error| bad(UrlProblem::Unreadable(error.to_string())))?;
        Self::new(url).map_err(bad)?.judged(reach)
    }

    fn judged(self, reach: &EgressPolicy) -> Result<Self, NetError> {
        match self.place.judge(reach) {
            Ok(()) => Ok(self),
            Err(refusal) => Err(NetError::Refused { host: self.place.to_string(), refusal }),
        }
    }

    fn new(mut url: Url) -> Result<Self, UrlProblem> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlProblem::Scheme(url.scheme().chars().take(MAX_TOLD).collect()));
        }
        // `http://@host` has an empty user, which the parsed form no longer shows: see `read`.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlProblem::UserInfo);
        }
        url.set_fragment(None);
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(UrlProblem::Beginning);
        };
        let place = HostPort::new(&host, port)?;
        let uri = url
            .as_str()
            .parse()
            .map_err(|error: http::uri::InvalidUri| UrlProblem::Unreadable(error.to_string()))?;
        Ok(Self { url, uri, place })
    }

    /// The URL without its fragment.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its host and port.
    #[must_use]
    pub fn place(&self) -> &HostPort {
        &self.place
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Whether it is https.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether both have the same origin: scheme, host and port.
    pub(super) fn has_origin_of(&self, other: &Self) -> bool {
        self.url.origin() == other.url.origin()
    }
}

/// Its origin, without path and query.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.place)
    }
}

/// Stricter than the standard where lenient parsers disagree about the host.
fn read(text: &str) -> Result<Target, UrlProblem> {
    check_text(text)?;
    let text = text.trim_matches(' ');
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase | url::ParseError::EmptyHost => UrlProblem::Beginning,
        error => UrlProblem::Unreadable(error.to_string()),
    })?;
    let target = Target::new(url)?;
    let address = text.split(['?', '#']).next().unwrap_or_default();
    if address.contains('\\') {
        return Err(UrlProblem::Backslash);
    }
    let rest = address.split_once("://").map(|(_, rest)| rest);
    let authority = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if authority.is_empty() {
        return Err(UrlProblem::Beginning);
    }
    if authority.contains('@') { Err(UrlProblem::UserInfo) } else { Ok(target) }
}

/// Refuses control characters, which parsers drop or keep inconsistently.
fn check_text(text: &str) -> Result<(), UrlProblem> {
    if text.len() > MAX_LENGTH {
        return Err(UrlProblem::TooLong(MAX_LENGTH));
    }
    text.chars().find(|c| c.is_control()).map_or(Ok(()), |control| Err(UrlProblem::Control(control)))
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
