//! A non-public destination opened by trusted configuration.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use thiserror::Error;
use url::Url;

use super::address::{AddressKind, Special};
use super::host_port::{HostPort, host_name};

/// The widest ranges that can be opened: `10.0.0.0/8` and `fc00::/7`.
const WIDEST: (u8, u8) = (8, 7);

/// One entry of a list such as `["printer.lan", "10.1.2.3:8080", "192.168.0.0/16", "localhost:11434"]`.
///
/// An opened name may resolve to any address, and the rules about host names and ports do not apply to it. An address
/// applies to URLs and to resolved names. With a port, only that port is opened. A range opens addresses, but not
/// refused ports. Metadata addresses of clouds are only opened by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EgressRule(Form);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    Name(String, Option<u16>),
    Address(IpAddr, Option<u16>),
    Range(IpNet),
}

/// Why a rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EgressRuleError {
    /// It is a URL or has a path.
    #[error(
        "`{0}` is more than a host: write it without scheme and path, such as `printer.lan` or `10.1.2.3:8080`"
    )]
    NotAHost(String),
    /// Neither a name nor an address.
    #[error("`{0}` is neither a host name nor an address")]
    Unreadable(String),
    /// Wildcards are not supported.
    #[error(
        "`{0}` stands for many names: open each of them, or their addresses as a range such as `10.0.0.0/8`"
    )]
    Wildcard(String),
    /// The port is invalid.
    #[error("`{0}` has no usable port: it is a number from 1 to 65535")]
    Port(String),
    /// The prefix length is invalid.
    #[error("`{0}` is no range of addresses, such as `192.168.0.0/16` or `fd12:3456::/32`")]
    Range(String),
    /// The range is wider than a private network.
    #[error("`{0}` is too wide: at most `/{four}` and, for IPv6, `/{six}` can be opened", four = WIDEST.0, six = WIDEST.1)]
    TooWide(String),
    /// Only the configuration can open it.
    #[error("`{text}` is {kind}, which no answer opens")]
    NotByAnAnswer {
        /// The requested destination.
        text: String,
        /// Its kind.
        kind: AddressKind,
    },
}

impl EgressRule {
    /// One port of one host, for an approval by a person. An approval cannot open metadata services, nor addresses that are
    /// not those of a single machine.
    pub fn for_port(host: &str, port: u16) -> Result<Self, EgressRuleError> {
        let bracketed = host.contains(':') && !host.starts_with('[');
        let text = if bracketed { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let opening: Self = text.parse()?;
        let special = match opening.0 {
            Form::Address(address, Some(_)) => Special::from_address(address),
            Form::Name(_, Some(_)) => None,
            Form::Name(..) | Form::Address(..) | Form::Range(_) => return Err(EgressRuleError::Port(text)),
        };
        let kinds = special
            .into_iter()
            .flat_map(|special| std::iter::once(special.kind).chain(special.carries.map(|(_, kind)| kind)));
        match kinds.into_iter().find(|kind| kind.is_opened_only_exactly()) {
            Some(kind) => Err(EgressRuleError::NotByAnAnswer { text, kind }),
            None => Ok(opening),
        }
    }

    /// The host of a URL in the configuration, if its text alone shows that it is internal: `localhost`, an address that is
    /// not public, a name without a dot or with an internal ending. A public name opens nothing, even if it resolves to an
    /// internal address.
    #[must_use]
    pub fn for_internal_host(url: &Url) -> Option<Self> {
        let place = HostPort::new(&url.host()?, url.port_or_known_default()?).ok()?;
        let host = url.host_str().filter(|_| place.is_internal())?;
        Self::for_port(host, place.port()).ok()
    }

    /// Whether the connection to this URL can be eavesdropped: no secret may be sent there.
    #[must_use]
    pub fn is_overheard(url: &Url) -> bool {
        url.scheme() == "http" && Self::for_internal_host(url).is_none()
    }

    /// Whether this host name is opened.
    pub(super) fn opens_name(&self, name: &str, port: u16) -> bool {
        matches!(&self.0, Form::Name(opened, only) if opened == name && only.is_none_or(|only| only == port))
    }

    /// Whether exactly this address is opened.
    pub(super) fn opens_exactly(&self, address: SocketAddr) -> bool {
        matches!(&self.0, Form::Address(opened, only)
            if *opened == address.ip() && only.is_none_or(|only| only == address.port()))
    }

    /// Whether this destination is named, itself or as part of a range.
    pub(super) fn names(&self, place: &HostPort) -> bool {
        let address = place.address().map(|address| SocketAddr::new(address, place.port()));
        address.map_or_else(
            || self.opens_name(place.name(), place.port()),
            |address| self.opens_address(address),
        )
    }

    /// Whether it is limited to a port.
    pub(super) fn has_port(&self) -> bool {
        matches!(&self.0, Form::Name(_, Some(_)) | Form::Address(_, Some(_)))
    }

    /// Whether the address is opened, itself or as part of a range.
    pub(super) fn opens_address(&self, address: SocketAddr) -> bool {
        self.opens_exactly(address) || matches!(&self.0, Form::Range(range) if range.contains(&address.ip()))
    }
}

impl FromStr for EgressRule {
    type Err = EgressRuleError;

    fn from_str(text: &str) -> Result<Self, EgressRuleError> {
        let own = || text.to_owned();
        if text.contains("://") || text.contains(['@', '?', '#', '\\']) {
            return Err(EgressRuleError::NotAHost(own()));
        }
        if let Some((network, length)) = text.split_once('/') {
            return range(text, network, length).map(|range| Self(Form::Range(range)));
        }
        if text.contains('*') {
            return Err(EgressRuleError::Wildcard(own()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self(Form::Address(address, None)));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => return Err(EgressRuleError::Port(own())),
        };
        match url::Host::parse(host) {
            Ok(url::Host::Ipv4(address)) => Ok(Self(Form::Address(address.into(), port))),
            Ok(url::Host::Ipv6(address)) => Ok(Self(Form::Address(address.into(), port))),
            // A name that cannot occur in a URL would open nothing.
            Ok(url::Host::Domain(name)) => match host_name(&name) {
                Ok(name) => Ok(Self(Form::Name(name, port))),
                Err(_) => Err(EgressRuleError::Unreadable(own())),
            },
            Err(_) => Err(EgressRuleError::Unreadable(own())),
        }
    }
}

fn range(text: &str, network: &str, length: &str) -> Result<IpNet, EgressRuleError> {
    let Ok(address) = network.parse::<IpAddr>() else {
        return Err(EgressRuleError::NotAHost(text.to_owned()));
    };
    let range = length.parse().ok().and_then(|length| IpNet::new(address, length).ok());
    let Some(range) = range else { return Err(EgressRuleError::Range(text.to_owned())) };
    let widest = if address.is_ipv4() { WIDEST.0 } else { WIDEST.1 };
    if range.prefix_len() < widest {
        return Err(EgressRuleError::TooWide(text.to_owned()));
    }
    Ok(range.trunc())
}

impl fmt::Display for EgressRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Name(name, None) => f.write_str(name),
            Form::Name(name, Some(port)) => write!(f, "{name}:{port}"),
            Form::Address(address, None) => write!(f, "{address}"),
            Form::Address(address, Some(port)) => write!(f, "{}", SocketAddr::new(*address, *port)),
            Form::Range(range) => write!(f, "{range}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(text: &str) -> EgressRule {
        text.parse().unwrap()
    }

    #[test]
    fn a_rule_is_displayed_as_written() {
        for text in [
            "printer.lan",
            "localhost:11434",
            "10.1.2.3",
            "10.1.2.3:8080",
            "192.168.0.0/16",
            "fd12:3456::/32",
            "::1",
            "[::1]:8080",
            "xn--mnchen-3ya.lan",
        ] {
            assert_eq!(opening(text).to_string(), text);
        }
    }

    #[test]
    fn spellings_of_one_destination_are_one() {
        for (text, same) in [
            ("Printer.LAN.", "printer.lan"),
            ("münchen.lan", "xn--mnchen-3ya.lan"),
            ("[::1]", "::1"),
            ("0x7f.1:80", "127.0.0.1:80"),
            ("10.1.2.3/8", "10.0.0.0/8"),
        ] {
            assert_eq!(opening(text), opening(same), "{text}");
        }
    }

    #[test]
    fn an_invalid_rule_says_why() {
        for (text, word) in [
            ("http://printer.lan", "without scheme"),
            ("printer.lan/status", "without scheme"),
            ("me@printer.lan", "without scheme"),
            ("*.lan", "open each of them"),
            ("printer.lan:0", "1 to 65535"),
            ("printer.lan:http", "1 to 65535"),
            ("printer.lan:65536", "1 to 65535"),
            ("10.0.0.0/33", "no range"),
            ("10.0.0.0/", "no range"),
            ("0.0.0.0/0", "too wide"),
            ("::/0", "too wide"),
            ("", "neither"),
            ("a..b", "neither"),
            ("a b", "neither"),
            ("printer.lan,nas.lan", "neither"),
            ("printer.lan;", "neither"),
            ("fe80::1%eth0", "1 to 65535"),
            ("[fe80::1%eth0]", "neither"),
        ] {
            let error = text.parse::<EgressRule>().unwrap_err();
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn an_approval_opens_one_port_of_one_host_unless_it_is_special() {
        for (host, port, same) in [
            ("box.example.com", 22, "box.example.com:22"),
            ("10.1.2.3", 2222, "10.1.2.3:2222"),
            ("localhost", 22, "localhost:22"),
            ("::1", 22, "[::1]:22"),
            ("[::1]", 22, "[::1]:22"),
        ] {
            assert_eq!(EgressRule::for_port(host, port).unwrap(), opening(same), "{host}");
        }
        for host in [
            "169.254.169.254",
            "0xa9fea9fe",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "fd00:ec2::254",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1%eth0",
            "10.0.0.0/8",
            "a b",
            "*",
            "",
        ] {
            assert!(EgressRule::for_port(host, 22).is_err(), "{host}");
        }
        assert!(EgressRule::for_port("box", 0).is_err());
    }

    #[test]
    fn a_public_name_opens_nothing_by_itself() {
        let of = |text: &str| {
            EgressRule::for_internal_host(&Url::parse(text).unwrap()).map(|opening| opening.to_string())
        };
        for (url, opened) in [
            ("http://localhost:3000/mcp", "localhost:3000"),
            ("http://127.0.0.1/mcp", "127.0.0.1:80"),
            ("http://[::1]:8/", "[::1]:8"),
            ("https://10.1.2.3/", "10.1.2.3:443"),
            ("http://nas/", "nas:80"),
            ("http://nas.lan:81/", "nas.lan:81"),
        ] {
            assert_eq!(of(url).as_deref(), Some(opened), "{url}");
        }
        for url in ["https://x.example/", "http://8.8.8.8/", "http://169.254.169.254/", "http://0.0.0.0/"] {
            assert_eq!(of(url), None, "{url}");
        }
    }

    #[test]
    fn a_port_opens_itself_alone() {
        let with_port = opening("localhost:11434");
        assert!(with_port.opens_name("localhost", 11434));
        assert!(!with_port.opens_name("localhost", 80));
        assert!(opening("localhost").opens_name("localhost", 80));
        assert!(!opening("localhost").opens_name("x.localhost", 80));
        let address = opening("10.1.2.3:8080");
        assert!(address.opens_exactly("10.1.2.3:8080".parse().unwrap()));
        assert!(!address.opens_address("10.1.2.3:80".parse().unwrap()));
        let range = opening("10.0.0.0/8");
        assert!(range.opens_address("10.255.255.255:1".parse().unwrap()));
        assert!(!range.opens_exactly("10.0.0.0:1".parse().unwrap()));
        assert!(!range.opens_address("11.0.0.0:1".parse().unwrap()));
    }
}
