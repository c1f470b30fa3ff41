//! Origins of web pages, and host names of the server.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `https://shop.example` or `http://localhost:5173`: scheme, host and port, as a browser sends them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = PATTERN))]
pub(crate) struct WebOrigin(String);

/// Its pattern. IPv6 addresses only in their long form.
const PATTERN: &str = "^https?://([A-Za-z0-9._-]{1,253}|\\[(::1|([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4})\\])\
                       (:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?$";

/// Not a valid origin.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an origin; use scheme, host and port without a path, such as `https://shop.example`")]
pub(crate) struct OriginError(String);

impl FromStr for WebOrigin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let refused = || OriginError(text.to_owned());
        let (scheme, host) = text.split_once("://").ok_or_else(refused)?;
        let default = match scheme {
            "https" => ":443",
            "http" => ":80",
            _ => return Err(refused()),
        };
        let host = host.strip_suffix(default).unwrap_or(host);
        let host: HostName = host.parse().map_err(|_| refused())?;
        Ok(Self(format!("{scheme}://{host}")))
    }
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for WebOrigin {
    type Error = OriginError;

    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<WebOrigin> for String {
    fn from(origin: WebOrigin) -> Self {
        origin.0
    }
}

impl WebOrigin {
    /// Whether its pages are served by this host.
    pub(crate) fn is_of(&self, host: &HostName) -> bool {
        self.0.split_once("://").is_some_and(|(_, own)| own == host.0)
    }
}

/// A host name with its port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HostName(String);

/// Not a valid host name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host name; use a name or an address, with a port unless it is the default one")]
pub(crate) struct HostNameError(String);

impl FromStr for HostName {
    type Err = HostNameError;

    fn from_str(text: &str) -> Result<Self, HostNameError> {
        let refused = || HostNameError(text.to_owned());
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']').ok_or_else(refused)?;
                address.parse::<std::net::Ipv6Addr>().map_err(|_| refused())?;
                (format!("[{}]", address.to_ascii_lowercase()), port.strip_prefix(':'))
            }
            None => match text.split_once(':') {
                Some((name, port)) => (name.to_ascii_lowercase(), Some(port)),
                None => (text.to_ascii_lowercase(), None),
            },
        };
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let is_name = name.starts_with('[') || (name.len() <= 253 && name.chars().all(is_letter));
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok() && !port.starts_with('+'));
        if name.is_empty() || !is_name || !is_port {
            return Err(refused());
        }
        Ok(Self(match port {
            Some(port) => format!("{name}:{port}"),
            None => name,
        }))
    }
}

impl Borrow<str> for HostName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for (text, read) in [
            ("https://shop.example", "https://shop.example"),
            ("https://Shop.Example:443", "https://shop.example"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(text.parse::<WebOrigin>().unwrap().to_string(), read);
        }
        for text in [
            "",
            "null",
            "*",
            "shop.example",
            "https://",
            "https://a/b",
            "ftp://a",
            "https://a@b",
            "http://a:b",
        ] {
            assert!(text.parse::<WebOrigin>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_page_is_our_own_if_its_origin_is_our_host() {
        let host: HostName = "LOCALHOST:7300".parse().unwrap();
        assert!("http://localhost:7300".parse::<WebOrigin>().unwrap().is_of(&host));
        assert!(!"http://localhost:7301".parse::<WebOrigin>().unwrap().is_of(&host));
        assert!(!"http://localhost".parse::<WebOrigin>().unwrap().is_of(&host));
    }
}
