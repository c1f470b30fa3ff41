//! Errors of requests.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error as ThisError;

use super::address::Special;

/// Why there is no response, or only a part of it.
///
/// Messages name hosts, never paths, queries or user names, which may contain secrets. Cloneable, because the connection
/// pool only lends its errors.
#[derive(Debug, Clone, ThisError)]
#[non_exhaustive]
pub enum NetError {
    /// The URL is invalid.
    #[error("the URL cannot be used: {0}")]
    BadUrl(UrlProblem),
    /// The header is reserved or invalid.
    #[error("the header `{name}` cannot be set: {why}")]
    BadHeader {
        /// Its name.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The method is not allowed.
    #[error("the method `{0}` cannot be used")]
    BadMethod(String),
    /// The destination is not allowed.
    #[error("`{host}` is refused: {refusal}")]
    Refused {
        /// Its host, with a non-default port.
        host: String,
        /// The rule.
        refusal: DestinationRefusal,
    },
    /// The name has no address.
    #[error(
        "`{host}` could not be found: the name has no address, or no name server answered; check how it is written, and the network"
    )]
    Unresolvable {
        /// The name.
        host: String,
        /// The resolver's error.
        source: Arc<io::Error>,
    },
    /// The connection failed.
    #[error("no connection to `{host}`: {source}")]
    Connect {
        /// Its host.
        host: String,
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// The TLS handshake failed.
    #[error("no secure connection to `{host}`: {source}")]
    Tls {
        /// Its host.
        host: String,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The machine has no root certificates.
    #[error("this machine has no root certificates: install its package of them (`ca-certificates`)")]
    NoRoots,
    /// A timeout.
    #[error("`{host}` was too slow: {wait} within {limit:?}")]
    Timeout {
        /// Its host.
        host: String,
        /// What was waited for.
        wait: TimeoutKind,
        /// The limit.
        limit: Duration,
    },
    /// A size limit was exceeded.
    #[error("the response of `{host}` {}", too_large_text(.announced, .what, .limit))]
    TooLarge {
        /// Its host.
        host: String,
        /// What was measured.
        what: SizeMeasure,
        /// The limit.
        limit: u64,
        /// The announced size, if it was refused without being received.
        announced: Option<u64>,
    },
    /// The announced length is invalid.
    #[error(
        "the response of `{host}` is refused: the length it announces is no number of bytes, or larger than \
         anything that could be received"
    )]
    BadLength {
        /// Its host.
        host: String,
    },
    /// Too many or too large headers.
    #[error(
        "the response of `{host}` is refused: of its headers at most {count} and {bytes} bytes are taken"
    )]
    TooManyHeaders {
        /// Its host.
        host: String,
        /// The maximum number.
        count: usize,
        /// The maximum total size.
        bytes: u32,
    },
    /// Too many redirects.
    #[error(
        "`{host}` leads to yet another address after {limit} redirects, which is as many as are followed"
    )]
    TooManyRedirects {
        /// The last host.
        host: String,
        /// The maximum.
        limit: u32,
    },
    /// The redirect target is invalid.
    #[error("`{host}` redirects to an address that cannot be followed: {problem}")]
    BadRedirect {
        /// The host that redirects.
        host: String,
        /// The problem of the address.
        problem: UrlProblem,
    },
    /// A redirect to another host, which the request does not allow.
    #[error("`{host}` redirects to another host, `{url}`")]
    OtherHost {
        /// The host that redirects.
        host: String,
        /// The address it redirects to.
        url: String,
    },
    /// The connection ended before the response.
    #[error("the response of `{host}` was cut off")]
    Truncated {
        /// Its host.
        host: String,
    },
    /// The body is not in the declared encoding, or the encoding is not supported.
    #[error("the response of `{host}` cannot be decoded: {why}")]
    Encoding {
        /// Its host.
        host: String,
        /// The cause.
        why: String,
    },
    /// The response is not valid HTTP.
    #[error("`{host}` does not speak proper HTTP")]
    Protocol {
        /// Its host.
        host: String,
        /// The cause.
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl NetError {
    /// Classifies an error of an established connection.
    pub(super) fn broken(host: &str, error: impl Error + Send + Sync + 'static) -> Self {
        let host = host.to_owned();
        let is_cut = |error: &io::Error| {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
        };
        let is_incomplete = inside(&error).is_some_and(hyper::Error::is_incomplete_message);
        if is_incomplete || inside(&error).is_some_and(is_cut) {
            return Self::Truncated { host };
        }
        // Only the message says which limit was exceeded.
        let is_length =
            |error: &hyper::Error| error.is_parse() && error.to_string().contains("content-length");
        if inside(&error).is_some_and(is_length) {
            return Self::BadLength { host };
        }
        Self::Protocol { host, source: Arc::new(error) }
    }
}

fn too_large_text(announced: &Option<u64>, what: &SizeMeasure, limit: &u64) -> String {
    match announced {
        Some(announced) => format!("announces {announced} bytes, more than the {limit} allowed"),
        None => format!("is too large: {what} is limited to {limit}"),
    }
}

/// Finds an error of this type in the chain of sources.
pub(super) fn inside<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Why a destination is refused.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum DestinationRefusal {
    /// It has a special address.
    #[error("{}", address_text(.address, .special, .name.as_deref()))]
    Address {
        /// The address.
        address: IpAddr,
        /// Its kind.
        special: Special,
        /// The name that resolves to it, unless the URL contains the address itself.
        name: Option<String>,
    },
    /// It has an address of this machine.
    #[error("`{address}` is an address of this machine; {}", remedy(.name.as_deref(), .address))]
    Own {
        /// The address.
        address: IpAddr,
        /// The name that resolves to it, unless the URL contains the address itself.
        name: Option<String>,
    },
    /// The name is internal to a machine or a cloud.
    #[error("`{name}` is the name of something internal; {REMEDY} `{name}`")]
    Name {
        /// The name.
        name: String,
    },
    /// The name has an ending of internal names.
    #[error("names that end in `{suffix}` are internal; {REMEDY} `{name}`")]
    Suffix {
        /// The name.
        name: String,
        /// The ending.
        suffix: &'static str,
    },
    /// The port belongs to a service other than the web.
    #[error("port {port} is not for the web ({service}); {REMEDY} `{host}:{port}`")]
    Port {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The service.
        service: &'static str,
    },
    /// It is this server itself.
    #[error(
        "this server listens there itself, and what it does is not reached through it; no setting opens that"
    )]
    Ourselves,
    /// The peer has another address than the one that was judged.
    #[error("the connection led to `{found}` and not to the address that was checked, `{checked}`")]
    Elsewhere {
        /// The address that was judged.
        checked: IpAddr,
        /// The address of the peer.
        found: IpAddr,
    },
    /// A redirect from https to http would send the body unencrypted.
    #[error("it redirects from https to http, and the request has a body that would be readable on the way")]
    Downgrade,
    /// The client stays within one origin.
    #[error("it redirects to another origin, which would get what is for this one alone")]
    OtherOrigin,
}

const REMEDY: &str = "if it is meant to be reached, open it in the configuration:";

fn remedy(name: Option<&str>, address: &IpAddr) -> String {
    name.map_or_else(|| format!("{REMEDY} `{address}`"), |name| format!("{REMEDY} `{name}`"))
}

fn address_text(address: &IpAddr, special: &Special, name: Option<&str>) -> String {
    let leads = if name.is_some() { "it leads to " } else { "" };
    let inner = special.carries.map_or(special.kind, |(_, kind)| kind);
    // If only the address itself can be opened, the name does not help.
    let only_exactly = special.kind.is_opened_only_exactly() || inner.is_opened_only_exactly();
    let remedy = remedy(name.filter(|_| !only_exactly), address);
    format!("{leads}`{address}`, {special}; {remedy}")
}

/// Why a URL is invalid.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum UrlProblem {
    /// Too long.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// It contains a control character, which parsers treat differently.
    #[error("it holds the control character `{}`", .0.escape_default())]
    Control(char),
    /// It contains a backslash, which some parsers treat as a slash.
    #[error("it holds a backslash before its query")]
    Backslash,
    /// It does not begin with a scheme and a host.
    #[error("it does not begin with `http://` or `https://` and a host")]
    Beginning,
    /// Unsupported scheme.
    #[error("its scheme is `{0}`; only http and https can be used")]
    Scheme(String),
    /// It contains a user, which can disguise the host.
    #[error("it holds a user name or password before the host; send credentials in a header")]
    UserInfo,
    /// The host is invalid.
    #[error("its host is no host name: {0}")]
    Host(String),
    /// Port 0.
    #[error("its port is 0")]
    Port,
    /// It cannot be parsed.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// What timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// Resolving, connecting and handshake.
    #[error("no connection")]
    Connect,
    /// The next data.
    #[error("nothing came")]
    Idle,
    /// The whole exchange.
    #[error("it was not complete")]
    Total,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SizeMeasure {
    /// Bytes on the wire.
    #[error("the body on the wire, in bytes,")]
    Wire,
    /// Bytes after decompression.
    #[error("the decompressed body, in bytes,")]
    Decoded,
}
