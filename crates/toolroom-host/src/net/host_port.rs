//! A host and a port, and the rules about names and port numbers.

use std::fmt;
use std::net::IpAddr;

use super::address::Special;
use super::egress_policy::EgressPolicy;
use super::error::{DestinationRefusal, UrlProblem};

/// Names of this machine and of its cloud.
const INTERNAL_NAMES: &[&str] =
    &["localhost", "localhost6", "ip6-localhost", "ip6-loopback", "metadata", "instance-data"];

/// Endings of names that are internal to a network.
const INTERNAL_SUFFIXES: &[&str] = &[
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".lan",
    ".intranet",
    ".corp",
    ".home",
    ".home.arpa",
];

/// Ports that usually belong to services other than web servers: those that browsers refuse, and the usual ones of
/// databases, queues and control interfaces. Ports that also serve HTTP (3000, 5000, 8000, 8080, 8443, 8888, 9000 …)
/// are not included.
const REFUSED_PORTS: &[(u16, u16, &str)] = &[
    (1, 1, "tcpmux"),
    (7, 7, "echo"),
    (9, 9, "discard"),
    (11, 11, "systat"),
    (13, 13, "daytime"),
    (15, 15, "netstat"),
    (17, 17, "quotes"),
    (19, 19, "chargen"),
    (20, 21, "FTP"),
    (22, 22, "SSH"),
    (23, 23, "Telnet"),
    (25, 25, "SMTP"),
    (37, 37, "time"),
    (42, 43, "name service, whois"),
    (53, 53, "DNS"),
    (69, 69, "TFTP"),
    (77, 77, "RJE"),
    (79, 79, "finger"),
    (87, 87, "ttylink"),
    (95, 95, "supdup"),
    (101, 104, "old name and mail services"),
    (109, 110, "POP"),
    (111, 111, "portmapper"),
    (113, 113, "auth"),
    (115, 115, "SFTP"),
    (117, 117, "UUCP"),
    (119, 119, "NNTP"),
    (123, 123, "NTP"),
    (135, 135, "Windows RPC"),
    (137, 139, "NetBIOS"),
    (143, 143, "IMAP"),
    (161, 162, "SNMP"),
    (179, 179, "BGP"),
    (389, 389, "LDAP"),
    (427, 427, "SLP"),
    (445, 445, "SMB"),
    (465, 465, "SMTP"),
    (512, 515, "remote shells, printers"),
    (526, 526, "tempo"),
    (530, 532, "courier, chat, netnews"),
    (540, 540, "UUCP"),
    (548, 548, "AFP"),
    (554, 554, "RTSP"),
    (556, 556, "remote files"),
    (563, 563, "NNTP"),
    (587, 587, "SMTP"),
    (601, 601, "syslog"),
    (636, 636, "LDAP"),
    (873, 873, "rsync"),
    (989, 990, "FTP"),
    (993, 993, "IMAP"),
    (995, 995, "POP"),
    (1433, 1434, "SQL Server"),
    (1521, 1521, "Oracle"),
    (1719, 1720, "H.323"),
    (1723, 1723, "PPTP"),
    (2049, 2049, "NFS"),
    (2181, 2181, "ZooKeeper"),
    (2375, 2377, "Docker"),
    (2379, 2380, "etcd"),
    (3268, 3269, "Active Directory"),
    (3306, 3306, "MySQL"),
    (3389, 3389, "remote desktop"),
    (3659, 3659, "Apple SASL"),
    (4045, 4045, "NFS locks"),
    (4190, 4190, "ManageSieve"),
    (5060, 5061, "SIP"),
    (5432, 5432, "PostgreSQL"),
    (5672, 5672, "AMQP"),
    (5900, 5901, "VNC"),
    (6000, 6000, "X11"),
    (6379, 6379, "Redis"),
    (6566, 6566, "SANE"),
    (6665, 6669, "IRC"),
    (6679, 6679, "IRC"),
    (6697, 6697, "IRC"),
    (9042, 9042, "Cassandra"),
    (9092, 9092, "Kafka"),
    (9200, 9200, "Elasticsearch"),
    (9300, 9300, "Elasticsearch"),
    (10080, 10080, "Amanda"),
    (10250, 10250, "Kubernetes nodes"),
    (10255, 10255, "Kubernetes nodes"),
    (11211, 11211, "memcached"),
    (27017, 27019, "MongoDB"),
    (33060, 33060, "MySQL"),
];

/// The destination of a request: a name or an address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    host: Host,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Host {
    Name(String),
    Address(IpAddr),
}

impl HostPort {
    /// From the host of a URL.
    pub(super) fn new(host: &url::Host<impl AsRef<str>>, port: u16) -> Result<Self, UrlProblem> {
        let host = match host {
            url::Host::Ipv4(address) => Host::Address((*address).into()),
            url::Host::Ipv6(address) => Host::Address((*address).into()),
            url::Host::Domain(name) => Host::Name(host_name(name.as_ref())?),
        };
        if port == 0 { Err(UrlProblem::Port) } else { Ok(Self { host, port }) }
    }

    /// The address, if the host is an address.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Address(address) => Some(address),
            Host::Name(_) => None,
        }
    }

    /// The name, in lower case and without a final dot; empty for an address.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.host {
            Host::Address(_) => "",
            Host::Name(name) => name,
        }
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether its text alone shows that it is internal: an address that is not public, a name with an internal ending, or
    /// one without a dot.
    pub(super) fn is_internal(&self) -> bool {
        match &self.host {
            Host::Address(address) => Special::from_address(*address).is_some(),
            Host::Name(name) => internal(name).is_err() || !name.contains('.'),
        }
    }

    /// Judges it without resolving the name.
    pub(super) fn judge(&self, reach: &EgressPolicy) -> Result<(), DestinationRefusal> {
        if let Some(address) = self.address() {
            reach.admit(self, address, |_| false)?;
        }
        if reach.opens_place(self) {
            return Ok(());
        }
        if let Host::Name(name) = &self.host {
            internal(name)?;
        }
        match REFUSED_PORTS.iter().find(|(from, to, _)| (*from..=*to).contains(&self.port)) {
            None => Ok(()),
            Some((_, _, service)) => {
                Err(DestinationRefusal::Port { host: self.host.to_string(), port: self.port, service })
            }
        }
    }
}

fn internal(name: &str) -> Result<(), DestinationRefusal> {
    if INTERNAL_NAMES.contains(&name) {
        return Err(DestinationRefusal::Name { name: name.to_owned() });
    }
    let is_inside = |suffix: &str| name.ends_with(suffix) || suffix.strip_prefix('.') == Some(name);
    match INTERNAL_SUFFIXES.iter().find(|suffix| is_inside(suffix)) {
        Some(suffix) => Err(DestinationRefusal::Suffix { name: name.to_owned(), suffix }),
        None => Ok(()),
    }
}

/// A name as resolvers and certificates use it. The URL parser has already converted it to lower-case ASCII.
pub(super) fn host_name(name: &str) -> Result<String, UrlProblem> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if name.len() <= 253 && name.split('.').all(is_label) {
        Ok(name.to_owned())
    } else {
        Err(UrlProblem::Host(name.chars().take(80).collect()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// The host, with the port unless it is 80 or 443.
impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            80 | 443 => write!(f, "{}", self.host),
            port => write!(f, "{}:{port}", self.host),
        }
    }
}
