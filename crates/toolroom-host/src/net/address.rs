//! Special addresses, which are not the public internet. Tables only, no I/O.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The purpose of a special address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// `0.0.0.0/8`, which leads to this machine, and `::`.
    Unspecified,
    /// `127.0.0.0/8` and `::1`.
    Loopback,
    /// `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16`.
    Private,
    /// `100.64.0.0/10`, behind a provider's address translation.
    Shared,
    /// `169.254.0.0/16` and `fe80::/10`.
    LinkLocal,
    /// The metadata service of a cloud, which has credentials.
    Metadata,
    /// `fc00::/7`.
    UniqueLocal,
    /// `fec0::/10`, formerly private.
    SiteLocal,
    /// Reserved for protocols.
    Protocol,
    /// For documentation.
    Documentation,
    /// For benchmarks.
    Benchmark,
    /// Multicast.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// Unassigned address space.
    Reserved,
    /// `::ffff:a.b.c.d`.
    Mapped,
    /// `::a.b.c.d`.
    Compatible,
    /// `::ffff:0:a.b.c.d`.
    Translated,
    /// `64:ff9b::/96` and `64:ff9b:1::/48`.
    Nat64,
    /// `2002::/16`, and `192.88.99.0/24` where its relays were.
    SixToFour,
    /// `2001::/32`.
    Teredo,
    /// Any network, with `0:5efe:a.b.c.d` or `200:5efe:a.b.c.d` as its second half.
    Isatap,
}

impl AddressKind {
    /// Whether neither an opened name nor an opened range includes it: such an address has to be opened itself.
    #[must_use]
    pub fn is_opened_only_exactly(self) -> bool {
        matches!(self, Self::Metadata | Self::Unspecified | Self::Multicast | Self::Broadcast)
    }
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "a shared address of a provider",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::UniqueLocal => "a unique local address",
            Self::SiteLocal => "a site-local address",
            Self::Protocol => "an address set aside for protocols",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Reserved => "a reserved address",
            Self::Mapped => "an IPv4-mapped address",
            Self::Compatible => "an IPv4-compatible address",
            Self::Translated => "an IPv4-translated address",
            Self::Nat64 => "a NAT64 address",
            Self::SixToFour => "a 6to4 address",
            Self::Teredo => "a Teredo address",
            Self::Isatap => "an ISATAP address",
        })
    }
}

/// The first match counts: metadata addresses are inside wider ranges.
const V4: &[(Ipv4Addr, u32, AddressKind)] = &[
    (Ipv4Addr::new(169, 254, 169, 254), 32, AddressKind::Metadata), // nearly every cloud
    (Ipv4Addr::new(169, 254, 42, 42), 32, AddressKind::Metadata),   // Scaleway
    (Ipv4Addr::new(169, 254, 0, 23), 32, AddressKind::Metadata),    // Tencent
    (Ipv4Addr::new(169, 254, 170, 2), 32, AddressKind::Metadata),   // AWS, tasks
    (Ipv4Addr::new(169, 254, 170, 23), 32, AddressKind::Metadata),  // AWS, pods
    (Ipv4Addr::new(100, 100, 100, 200), 32, AddressKind::Metadata), // Alibaba
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressKind::Metadata),   // Azure
    (Ipv4Addr::new(192, 0, 0, 192), 32, AddressKind::Metadata),     // Oracle
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressKind::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressKind::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressKind::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressKind::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressKind::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressKind::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressKind::Protocol),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressKind::SixToFour),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressKind::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressKind::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressKind::Multicast),
    (Ipv4Addr::new(255, 255, 255, 255), 32, AddressKind::Broadcast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressKind::Reserved),
];

/// As [`V4`]. Addresses in no row and outside of `2000::/3` are unassigned.
const V6: &[(Ipv6Addr, u32, AddressKind)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, AddressKind::Metadata), // AWS
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, AddressKind::Metadata), // Google
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128, AddressKind::Metadata), // Oracle
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, AddressKind::Metadata), // Scaleway
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128, AddressKind::Metadata), // OpenStack
    (Ipv6Addr::UNSPECIFIED, 128, AddressKind::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, AddressKind::Loopback),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 96, AddressKind::Compatible),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, AddressKind::Mapped),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, AddressKind::Translated),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, AddressKind::Nat64),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, AddressKind::Nat64),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, AddressKind::Teredo),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, AddressKind::Benchmark),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, AddressKind::Protocol),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, AddressKind::Documentation),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, AddressKind::SixToFour),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, AddressKind::Documentation),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, AddressKind::UniqueLocal),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, AddressKind::LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, AddressKind::SiteLocal),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, AddressKind::Multicast),
];

/// The kind of a special address; `None` for an ordinary public one.
#[must_use]
pub fn special(address: IpAddr) -> Option<AddressKind> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<AddressKind> {
    let differing = |network: Ipv4Addr| (u32::from(address) ^ u32::from(network)).leading_zeros();
    V4.iter().find(|(network, length, _)| differing(*network) >= *length).map(|(_, _, kind)| *kind)
}

fn special_v6(address: Ipv6Addr) -> Option<AddressKind> {
    let differing = |network: Ipv6Addr| (u128::from(address) ^ u128::from(network)).leading_zeros();
    if let Some((_, _, kind)) = V6.iter().find(|(network, length, _)| differing(*network) >= *length) {
        return Some(*kind);
    }
    let [first, _, _, _, fifth, sixth, ..] = address.segments();
    if first & 0xe000 != 0x2000 {
        return Some(AddressKind::Reserved);
    }
    (matches!(fifth, 0 | 0x200) && sixth == 0x5efe).then_some(AddressKind::Isatap)
}

/// The IPv4 addresses embedded in an IPv6 address. They are judged like any other.
#[must_use]
pub fn carried(address: IpAddr) -> Vec<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return Vec::new() };
    let segments = address.segments();
    let pair = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    let [_, second, third, fourth, fifth, sixth, seventh, eighth] = segments;
    match special_v6(address) {
        Some(
            AddressKind::Mapped | AddressKind::Compatible | AddressKind::Translated | AddressKind::Isatap,
        ) => {
            vec![pair(seventh, eighth)]
        }
        Some(AddressKind::SixToFour) => vec![pair(second, third)],
        // The server, and the client with inverted bits.
        Some(AddressKind::Teredo) => vec![pair(third, fourth), pair(!seventh, !eighth)],
        Some(AddressKind::Nat64) if third == 0 => vec![pair(seventh, eighth)],
        // The translator chooses the length of its prefix (RFC 6052), so every plausible form counts. The byte after the
        // first 64 bits is skipped.
        Some(AddressKind::Nat64) => {
            let after_48 = pair(fourth, (fifth << 8) | (sixth >> 8));
            let after_56 = pair((fourth << 8) | (fifth & 0xff), sixth);
            let after_64 = pair((fifth << 8) | (sixth >> 8), (sixth << 8) | (seventh >> 8));
            let forms = [pair(seventh, eighth), after_48, after_56, after_64];
            forms.into_iter().filter(|form| special_v4(*form) != Some(AddressKind::Unspecified)).collect()
        }
        _ => Vec::new(),
    }
}

/// Why an address is special, with the embedded address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// What it is.
    pub kind: AddressKind,
    /// A special address embedded in it.
    pub carries: Option<(Ipv4Addr, AddressKind)>,
}

impl Special {
    /// For an address; `None` for an ordinary public one.
    #[must_use]
    pub fn from_address(address: IpAddr) -> Option<Self> {
        let kind = special(address)?;
        let inner = carried(address).into_iter().filter_map(|inner| Some((inner, special_v4(inner)?)));
        // If there are several readings, the worst one is reported.
        let carries = inner.min_by_key(|(_, kind)| !kind.is_opened_only_exactly());
        Some(Self { kind, carries })
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match self.carries {
            Some((inner, kind)) => write!(f, " that leads to `{inner}`, {kind}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
