//! `[server]`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::identity::HostName;

/// `[server]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerKeys {
    /// Address to listen on. Addresses reachable from other machines require an API key.
    pub listen: ListenAddress,
    /// Additional host names of the server, with a port if it is not the default.
    #[schemars(length(max = 100))]
    pub hosts: Vec<ServedName>,
    /// Trusted reverse proxies, by address or range. Their `X-Forwarded-For` header sets the client address for rate
    /// limits and the log; that of other clients is ignored.
    #[schemars(length(max = 100))]
    pub trusted_proxies: Vec<AddressRange>,
    /// Requests per minute for each API key.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub key_rate: u32,
    /// Requests per minute for each client address without a valid API key.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub ip_rate: u32,
    /// Requests per minute for each end user or browser session.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub session_rate: u32,
    /// Maximum number of concurrent requests, at most half of them for one API key. More are refused with 429.
    #[schemars(range(min = 1, max = 100_000))]
    pub at_once: u32,
}

impl Default for ServerKeys {
    fn default() -> Self {
        Self {
            listen: ListenAddress(SocketAddr::from((Ipv4Addr::LOCALHOST, 7300))),
            hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            key_rate: 6_000,
            ip_rate: 6_000,
            session_rate: 600,
            at_once: 2_048,
        }
    }
}

/// An address and port to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ListenAddress(pub SocketAddr);

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| "expected an address and a port".to_owned())
    }
}

impl From<ListenAddress> for String {
    fn from(address: ListenAddress) -> Self {
        address.0.to_string()
    }
}

impl JsonSchema for ListenAddress {
    fn schema_name() -> Cow<'static, str> {
        "ListenAddress".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "listen-address" })
    }
}

/// A host name of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServedName(HostName);

impl ServedName {
    pub(crate) fn host(&self) -> HostName {
        self.0.clone()
    }
}

impl TryFrom<String> for ServedName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| "expected a name or an address, with an optional port".to_owned())
    }
}

impl From<ServedName> for String {
    fn from(name: ServedName) -> Self {
        name.0.to_string()
    }
}

impl JsonSchema for ServedName {
    fn schema_name() -> Cow<'static, str> {
        "ServedName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "served-name" })
    }
}

/// An IP address or range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AddressRange(IpNet);

impl AddressRange {
    /// Whether it contains the address.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl TryFrom<String> for AddressRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let range =
            text.parse().or_else(|_| text.parse().map(|address: IpAddr| address.to_canonical().into()));
        range.map(Self).map_err(|_| "expected an address or a range".to_owned())
    }
}

impl From<AddressRange> for String {
    fn from(AddressRange(range): AddressRange) -> Self {
        match range.prefix_len() == range.max_prefix_len() {
            true => range.addr().to_string(),
            false => range.to_string(),
        }
    }
}

impl JsonSchema for AddressRange {
    fn schema_name() -> Cow<'static, str> {
        "AddressRange".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "address-range" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_required_for_addresses_and_optional_for_names() {
        for text in ["127.0.0.1:7300", "0.0.0.0:80", "[::1]:0"] {
            assert_eq!(String::from(ListenAddress::try_from(text.to_owned()).unwrap()), text);
        }
        for text in ["", "localhost:80", "127.0.0.1", ":80"] {
            assert!(ListenAddress::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["tools.example.com", "tools.example.com:8443"] {
            assert_eq!(String::from(ServedName::try_from(text.to_owned()).unwrap()), text);
        }
        for text in ["", "https://tools.example.com", "a b", "*"] {
            assert!(ServedName::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
    #[test]
    fn a_range_is_a_network_or_a_single_address() {
        let read = |text: &str| AddressRange::try_from(text.to_owned());
        for text in ["10.0.0.0/8", "127.0.0.1", "fd00::/8", "::1"] {
            assert_eq!(String::from(read(text).unwrap()), text);
        }
        let range = read("10.0.0.0/8").unwrap();
        assert!(range.holds("10.9.8.7".parse().unwrap()) && range.holds("::ffff:10.1.1.1".parse().unwrap()));
        assert!(!range.holds("11.0.0.1".parse().unwrap()));
        for text in ["", "localhost", "10.0.0.0/33", "10.0.0"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
