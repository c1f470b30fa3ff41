//! `[server]`: where `toolroom serve` listens, and how much it takes.

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
    /// Where `toolroom serve` listens. Others than this machine are let in only once there is a key.
    pub listen: ListenAddress,
    /// Names under which it is reached besides its address, with a port where it is not the usual one.
    #[schemars(length(max = 100))]
    pub hosts: Vec<ServedName>,
    /// Proxies in front of it, by address or range. What they say in `X-Forwarded-For` about who comes counts for rates
    /// and the log; nobody else is believed.
    #[schemars(length(max = 100))]
    pub trusted_proxies: Vec<AddressRange>,
    /// Requests that come with one key in a minute.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub key_rate: u32,
    /// Requests that come from one address in a minute without a key that holds.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub ip_rate: u32,
    /// Requests of one end user, or of one browser, in a minute.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub session_rate: u32,
    /// Requests that are worked on at the same time, at most half of them for one key. More are told to come again.
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

/// An address of this machine, and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ListenAddress(pub SocketAddr);

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| "write an address and a port".to_owned())
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

/// A name under which the server is reached.
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
        text.parse().map(Self).map_err(|_| "write a name or an address, and a port if need be".to_owned())
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

/// An address, or all addresses that begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AddressRange(IpNet);

impl AddressRange {
    /// Whether an address is in it.
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
        range.map(Self).map_err(|_| "write an address or a range of them".to_owned())
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
    fn an_address_has_a_port_and_a_name_need_not() {
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
    fn a_range_is_written_as_one_or_as_an_address() {
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
