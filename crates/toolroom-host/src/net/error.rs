//! What can go wrong between a request and its response, told apart.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error as ThisError;

use super::address::Special;

/// Why there is no response, or not all of it.
///
/// Texts name hosts and never paths, queries or names of users: those may hold secrets. It can be cloned, because a
/// refused connection passes through a pool that only lends its errors.
#[derive(Debug, Clone, ThisError)]
#[non_exhaustive]
pub enum NetError {
    /// The text is no URL that could be asked for.
    #[error("the URL cannot be used: {0}")]
    BadUrl(UrlProblem),
    /// The request asks for something a caller may not decide.
    #[error("the header `{name}` cannot be set: {why}")]
    BadHeader {
        /// Its name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// The method is none that a caller may use.
    #[error("the method `{0}` cannot be used")]
    BadMethod(String),
    /// The destination is not allowed.
    #[error("`{host}` is refused: {refusal}")]
    Refused {
        /// Its host, with the port if that is not the usual one.
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
        /// What the resolver says.
        source: Arc<io::Error>,
    },
    /// Nobody answers there.
    #[error("no connection to `{host}`: {source}")]
    Connect {
        /// Its host.
        host: String,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The other side could not show who it is, or speaks another protocol.
    #[error("no secure connection to `{host}`: {source}")]
    Tls {
        /// Its host.
        host: String,
        /// What is wrong.
        source: Arc<io::Error>,
    },
    /// The machine trusts no authority, so nobody can show who they are.
    #[error("this machine has no root certificates: install its package of them (`ca-certificates`)")]
    NoRoots,
    /// It took too long.
    #[error("`{host}` was too slow: {wait} within {limit:?}")]
    Timeout {
        /// Its host.
        host: String,
        /// What was waited for.
        wait: TimeoutKind,
        /// For how long.
        limit: Duration,
    },
    /// A limit was reached.
    #[error("the response of `{host}` {}", too_large_text(.announced, .what, .limit))]
    TooLarge {
        /// Its host.
        host: String,
        /// What there is too much of.
        what: SizeMeasure,
        /// How much there may be.
        limit: u64,
        /// How much there would be, if the server said so and nothing of it was received.
        announced: Option<u64>,
    },
    /// The length it announces is none.
    #[error(
        "the response of `{host}` is refused: the length it announces is no number of bytes, or larger than \
         anything that could be received"
    )]
    BadLength {
        /// Its host.
        host: String,
    },
    /// There are more headers than are taken, or larger ones.
    #[error(
        "the response of `{host}` is refused: of its headers at most {count} and {bytes} bytes are taken"
    )]
    TooManyHeaders {
        /// Its host.
        host: String,
        /// How many there may be.
        count: usize,
        /// How large they may be together.
        bytes: u32,
    },
    /// It leads on and on.
    #[error(
        "`{host}` leads to yet another address after {limit} redirects, which is as many as are followed"
    )]
    TooManyRedirects {
        /// The last host.
        host: String,
        /// How many are followed.
        limit: u32,
    },
    /// It leads to nothing that could be followed.
    #[error("`{host}` redirects to an address that cannot be followed: {problem}")]
    BadRedirect {
        /// The host that redirects.
        host: String,
        /// What is wrong with the address.
        problem: UrlProblem,
    },
    /// It leads to another host, and the request is for one.
    #[error("`{host}` redirects to another host, `{url}`")]
    OtherHost {
        /// The host that redirects.
        host: String,
        /// The address it redirects to.
        url: String,
    },
    /// The connection ended before the response did.
    #[error("the response of `{host}` was cut off")]
    Truncated {
        /// Its host.
        host: String,
    },
    /// The body is not in the encoding it claims, or that is not supported.
    #[error("the response of `{host}` cannot be decoded: {why}")]
    Encoding {
        /// Its host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// What came back is not HTTP.
    #[error("`{host}` does not speak proper HTTP")]
    Protocol {
        /// Its host.
        host: String,
        /// What is wrong.
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl NetError {
    /// From what is said of a connection that was already there.
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
        // There is no other way to tell: which header it was stands in the text only.
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

/// Looks for an error of a kind among the causes of another one.
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

/// Which rule refuses a destination.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum DestinationRefusal {
    /// It is, or one of its addresses is, special.
    #[error("{}", address_text(.address, .special, .name.as_deref()))]
    Address {
        /// The address.
        address: IpAddr,
        /// What it is.
        special: Special,
        /// The name that leads there, unless the URL holds the address itself.
        name: Option<String>,
    },
    /// It is an address of this machine.
    #[error("`{address}` is an address of this machine; {}", remedy(.name.as_deref(), .address))]
    Own {
        /// The address.
        address: IpAddr,
        /// The name that leads there, unless the URL holds the address itself.
        name: Option<String>,
    },
    /// The name is one of those inside a machine or a cloud.
    #[error("`{name}` is the name of something internal; {REMEDY} `{name}`")]
    Name {
        /// The name.
        name: String,
    },
    /// The name ends as names inside a network do.
    #[error("names that end in `{suffix}` are internal; {REMEDY} `{name}`")]
    Suffix {
        /// The name.
        name: String,
        /// How it ends.
        suffix: &'static str,
    },
    /// Something other than a web server listens there.
    #[error("port {port} is not for the web ({service}); {REMEDY} `{host}:{port}`")]
    Port {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// What uses it.
        service: &'static str,
    },
    /// This very process listens there.
    #[error(
        "this server listens there itself, and what it does is not reached through it; no setting opens that"
    )]
    Ourselves,
    /// The connection led elsewhere.
    #[error("the connection led to `{found}` and not to the address that was checked, `{checked}`")]
    Elsewhere {
        /// What was dialled.
        checked: IpAddr,
        /// Who answered.
        found: IpAddr,
    },
    /// A body that was sent over https would go out in the clear.
    #[error("it redirects from https to http, and the request has a body that would be readable on the way")]
    Downgrade,
    /// The client stays with one origin.
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
    // Where only the address itself can be opened, its name is no help.
    let only_exactly = special.kind.is_opened_only_exactly() || inner.is_opened_only_exactly();
    let remedy = remedy(name.filter(|_| !only_exactly), address);
    format!("{leads}`{address}`, {special}; {remedy}")
}

/// What is wrong with a URL.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum UrlProblem {
    /// It is too long.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// It holds a character that no URL holds and that parsers disagree about.
    #[error("it holds the control character `{}`", .0.escape_default())]
    Control(char),
    /// It holds a backslash, which some read as a slash.
    #[error("it holds a backslash before its query")]
    Backslash,
    /// It does not begin as it has to.
    #[error("it does not begin with `http://` or `https://` and a host")]
    Beginning,
    /// It names another scheme.
    #[error("its scheme is `{0}`; only http and https can be used")]
    Scheme(String),
    /// It names a user, which is a way to make one host look like another.
    #[error("it holds a user name or password before the host; send credentials in a header")]
    UserInfo,
    /// It has no host that could be looked up.
    #[error("its host is no host name: {0}")]
    Host(String),
    /// Port 0.
    #[error("its port is 0")]
    Port,
    /// It cannot be read at all.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// What was waited for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// The name, the connection and its handshake.
    #[error("no connection")]
    Connect,
    /// The next sign of life.
    #[error("nothing came")]
    Idle,
    /// Everything.
    #[error("it was not complete")]
    Total,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SizeMeasure {
    /// Bytes as they travel.
    #[error("the body on the wire, in bytes,")]
    Wire,
    /// Bytes after decompression.
    #[error("the decompressed body, in bytes,")]
    Decoded,
}
