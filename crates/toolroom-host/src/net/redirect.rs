//! Redirects: the rules of browsers, but stricter about forwarded headers.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Method, StatusCode};

use super::egress_policy::EgressPolicy;
use super::error::{DestinationRefusal, NetError};
use super::target::Target;

/// Headers of the caller that are sent to another origin. All others may be credentials, as many services use headers of
/// their own.
const HARMLESS: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-encoding",
    "content-language",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "pragma",
    "range",
    "user-agent",
];

/// One request of a redirect chain.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) target: Target,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The redirect target of a response, if any.
pub(super) fn location(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    // Invalid UTF-8 becomes a character that cannot occur in a host.
    let text = headers.get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(text.as_bytes()).into_owned())
}

impl Hop {
    /// The request after a redirect, judged anew.
    pub(super) fn follow(
        self,
        status: StatusCode,
        location: &str,
        reach: &EgressPolicy,
    ) -> Result<Self, NetError> {
        let target = self.target.follow(location, reach)?;
        let Self { target: from, mut method, mut headers, mut body } = self;
        let refused = |refusal| Err(NetError::Refused { host: from.place().to_string(), refusal });
        if reach.stays_at_origin && !target.has_origin_of(&from) {
            return refused(DestinationRefusal::OtherOrigin);
        }
        if becomes_get(status, &method) {
            method = Method::GET;
            body = Bytes::new();
            for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION] {
                headers.remove(name);
            }
        }
        if !target.has_origin_of(&from) {
            headers = shareable(&headers);
        }
        // Like browsers, a read may go from https to http: credentials are dropped because the origin changes. A body may
        // not.
        if from.is_secure() && !target.is_secure() && !body.is_empty() {
            return refused(DestinationRefusal::Downgrade);
        }
        Ok(Self { target, method, headers, body })
    }
}

fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status {
        StatusCode::SEE_OTHER => method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
        _ => false,
    }
}

fn shareable(headers: &HeaderMap) -> HeaderMap {
    let harmless =
        headers.iter().filter(|(name, value)| HARMLESS.contains(&name.as_str()) && !value.is_sensitive());
    harmless.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
#[path = "redirect_tests.rs"]
mod tests;
