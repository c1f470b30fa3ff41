use std::collections::HashSet;

use super::*;
use crate::scale::scaled;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Every range with its first and last address, and the neighbours outside where those are public.
const EDGES: &[(&str, &str, &str, Option<AddressKind>)] = &[
    ("this network", "0.0.0.0", "0.255.255.255", Some(AddressKind::Unspecified)),
    ("before private 10", "1.0.0.0", "9.255.255.255", None),
    ("private 10", "10.0.0.0", "10.255.255.255", Some(AddressKind::Private)),
    ("after private 10", "11.0.0.0", "100.63.255.255", None),
    ("shared", "100.64.0.0", "100.127.255.255", Some(AddressKind::Shared)),
    ("alibaba metadata", "100.100.100.200", "100.100.100.200", Some(AddressKind::Metadata)),
    ("beside alibaba metadata", "100.100.100.199", "100.100.100.201", Some(AddressKind::Shared)),
    ("after shared", "100.128.0.0", "126.255.255.255", None),
    ("loopback", "127.0.0.0", "127.255.255.255", Some(AddressKind::Loopback)),
    ("after loopback", "128.0.0.0", "168.63.129.15", None),
    ("azure metadata", "168.63.129.16", "168.63.129.16", Some(AddressKind::Metadata)),
    ("after azure metadata", "168.63.129.17", "169.253.255.255", None),
    ("link-local", "169.254.0.0", "169.254.255.255", Some(AddressKind::LinkLocal)),
    ("metadata", "169.254.169.254", "169.254.169.254", Some(AddressKind::Metadata)),
    ("beside metadata", "169.254.169.253", "169.254.169.255", Some(AddressKind::LinkLocal)),
    ("tencent metadata", "169.254.0.23", "169.254.0.23", Some(AddressKind::Metadata)),
    ("scaleway metadata", "169.254.42.42", "169.254.42.42", Some(AddressKind::Metadata)),
    ("task metadata", "169.254.170.2", "169.254.170.2", Some(AddressKind::Metadata)),
    ("pod metadata", "169.254.170.23", "169.254.170.23", Some(AddressKind::Metadata)),
    ("after link-local", "169.255.0.0", "172.15.255.255", None),
    ("private 172", "172.16.0.0", "172.31.255.255", Some(AddressKind::Private)),
    ("after private 172", "172.32.0.0", "191.255.255.255", None),
    ("protocols", "192.0.0.0", "192.0.0.255", Some(AddressKind::Protocol)),
    ("oracle metadata", "192.0.0.192", "192.0.0.192", Some(AddressKind::Metadata)),
    ("beside oracle metadata", "192.0.0.191", "192.0.0.193", Some(AddressKind::Protocol)),
    ("between", "192.0.1.0", "192.0.1.255", None),
    ("documentation 1", "192.0.2.0", "192.0.2.255", Some(AddressKind::Documentation)),
    ("after documentation 1", "192.0.3.0", "192.88.98.255", None),
    ("6to4 relays", "192.88.99.0", "192.88.99.255", Some(AddressKind::SixToFour)),
    ("after 6to4 relays", "192.88.100.0", "192.167.255.255", None),
    ("private 192", "192.168.0.0", "192.168.255.255", Some(AddressKind::Private)),
    ("after private 192", "192.169.0.0", "198.17.255.255", None),
    ("benchmarks", "198.18.0.0", "198.19.255.255", Some(AddressKind::Benchmark)),
    ("after benchmarks", "198.20.0.0", "198.51.99.255", None),
    ("documentation 2", "198.51.100.0", "198.51.100.255", Some(AddressKind::Documentation)),
    ("after documentation 2", "198.51.101.0", "203.0.112.255", None),
    ("documentation 3", "203.0.113.0", "203.0.113.255", Some(AddressKind::Documentation)),
    ("after documentation 3", "203.0.114.0", "223.255.255.255", None),
    ("multicast", "224.0.0.0", "239.255.255.255", Some(AddressKind::Multicast)),
    ("reserved", "240.0.0.0", "255.255.255.254", Some(AddressKind::Reserved)),
    ("broadcast", "255.255.255.255", "255.255.255.255", Some(AddressKind::Broadcast)),
    ("unspecified", "::", "::", Some(AddressKind::Unspecified)),
    ("loopback 6", "::1", "::1", Some(AddressKind::Loopback)),
    ("compatible", "::2", "::255.255.255.255", Some(AddressKind::Compatible)),
    ("after compatible", "::1:0:0", "::fffe:ffff:ffff", Some(AddressKind::Reserved)),
    ("mapped", "::ffff:0.0.0.0", "::ffff:255.255.255.255", Some(AddressKind::Mapped)),
    ("after mapped", "::1:0:0:0", "::fffe:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("translated", "::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255", Some(AddressKind::Translated)),
    (
        "after translated",
        "::ffff:1:0.0.0.0",
        "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff",
        Some(AddressKind::Reserved),
    ),
    ("nat64", "64:ff9b::", "64:ff9b::255.255.255.255", Some(AddressKind::Nat64)),
    ("after nat64", "64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("local nat64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Nat64)),
    (
        "after local nat64",
        "64:ff9b:2::",
        "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some(AddressKind::Reserved),
    ),
    ("discard", "100::", "100::ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("below unicast", "1fff::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("unicast", "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ("teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Teredo)),
    ("protocols 6", "2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Protocol)),
    ("benchmarks 6", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Benchmark)),
    (
        "rest of protocols 6",
        "2001:2:1::",
        "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some(AddressKind::Protocol),
    ),
    ("orchid", "2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Protocol)),
    ("after protocols 6", "2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", None),
    (
        "documentation 6",
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        Some(AddressKind::Documentation),
    ),
    ("after documentation 6", "2001:db9::", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ("6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::SixToFour)),
    ("after 6to4", "2003::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ("documentation 7", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Documentation)),
    ("after documentation 7", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ("above unicast", "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("segment routing", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("unique local", "fc00::", "fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::UniqueLocal)),
    ("oracle metadata 6", "fd00:c1::a9fe:a9fe", "fd00:c1::a9fe:a9fe", Some(AddressKind::Metadata)),
    ("beside oracle metadata 6", "fd00:c1::a9fe:a9fd", "fd00:c1::a9fe:a9ff", Some(AddressKind::UniqueLocal)),
    ("scaleway metadata 6", "fd00:42::42", "fd00:42::42", Some(AddressKind::Metadata)),
    ("openstack metadata 6", "fe80::a9fe:a9fe", "fe80::a9fe:a9fe", Some(AddressKind::Metadata)),
    ("amazon metadata", "fd00:ec2::", "fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Metadata)),
    ("after amazon metadata", "fd00:ec3::", "fd20:ce::253", Some(AddressKind::UniqueLocal)),
    ("google metadata", "fd20:ce::254", "fd20:ce::254", Some(AddressKind::Metadata)),
    (
        "more unique local",
        "fd20:ce::255",
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some(AddressKind::UniqueLocal),
    ),
    ("below link-local", "fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Reserved)),
    ("link-local 6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::LinkLocal)),
    ("site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::SiteLocal)),
    ("multicast 6", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some(AddressKind::Multicast)),
    ("isatap", "2a00:1450::5efe:0.0.0.0", "2a00:1450::5efe:255.255.255.255", Some(AddressKind::Isatap)),
    (
        "isatap, unique",
        "2a00:1450::200:5efe:0.0.0.0",
        "2a00:1450::200:5efe:255.255.255.255",
        Some(AddressKind::Isatap),
    ),
    ("before isatap", "2a00:1450::", "2a00:1450::5efd:ffff:ffff", None),
    ("after isatap", "2a00:1450::5eff:0:0", "2a00:1450::1ff:ffff:ffff:ffff", None),
];

#[test]
fn both_edges_of_every_range_have_their_name() {
    let names: HashSet<&str> = EDGES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), EDGES.len());
    assert!(EDGES.len() >= 80, "{}", EDGES.len());
    for (name, first, last, kind) in EDGES {
        assert_eq!(special(address(first)), *kind, "{name}: {first}");
        assert_eq!(special(address(last)), *kind, "{name}: {last}");
    }
}

#[test]
fn every_row_of_the_tables_is_tested() {
    let tested: HashSet<IpAddr> = EDGES.iter().map(|(_, first, ..)| address(first)).collect();
    let rows = V4.iter().map(|row| IpAddr::V4(row.0)).chain(V6.iter().map(|row| IpAddr::V6(row.0)));
    for network in rows {
        assert!(tested.contains(&network), "{network}");
    }
}

#[test]
fn ordinary_hosts_are_public() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.215.14",
        "140.82.121.4",
        "151.101.1.69",
        "172.217.16.142",
        "192.30.255.113",
        "198.41.0.4",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2620:fe::fe",
        "2a00:1450:4001:82a::200e",
        "2a03:2880:f12f:83:face:b00c:0:25de",
        "2400:cb00:2048:1::c629:d7a2",
    ] {
        assert_eq!(Special::from_address(address(text)), None, "{text}");
    }
}

#[test]
fn what_an_address_carries_is_told() {
    for (text, carries) in [
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::127.0.0.1", "127.0.0.1"),
        ("::ffff:0:10.0.0.1", "10.0.0.1"),
        ("64:ff9b::169.254.169.254", "169.254.169.254"),
        ("64:ff9b:1::169.254.169.254", "169.254.169.254"),
        ("64:ff9b:1:a9fe:00a9:fe00::", "169.254.169.254"),
        ("64:ff9b:1:00a9:00fe:a9fe::", "169.254.169.254"),
        ("64:ff9b:1:0:00a9:fea9:fe00:0", "169.254.169.254"),
        ("2002:a9fe:a9fe::1", "169.254.169.254"),
        ("2001:0:7f00:1::f5ff:fffe", "127.0.0.1"),
        ("2001:0:808:808::f5ff:fffe", "10.0.0.1"),
        ("2a00:1450::5efe:192.168.1.1", "192.168.1.1"),
    ] {
        let found = Special::from_address(address(text)).unwrap().carries.map(|(inner, _)| inner.to_string());
        assert_eq!(found.as_deref(), Some(carries), "{text}");
    }
    let told = Special::from_address(address("64:ff9b::7f00:1")).unwrap().to_string();
    assert_eq!(told, "a NAT64 address that leads to `127.0.0.1`, a loopback address");
    assert_eq!(Special::from_address(address("64:ff9b::8.8.8.8")).unwrap().to_string(), "a NAT64 address");
}

/// All the ways to put an IPv4 address into an IPv6 one.
fn embeddings(inner: Ipv4Addr, noise: u64) -> Vec<Ipv6Addr> {
    let bits = u128::from(u32::from(inner));
    let noise = u128::from(noise);
    let unicast = (0x2a00_u128 << 112) | (noise >> 16 << 64);
    let rfc_6052 = |length: u32| {
        let whole = bits << 96 >> length;
        // The byte after the first 64 bits stays empty: what would lie there moves on.
        let (high, low) = (whole >> 64 << 64, whole & u128::from(u64::MAX));
        (0x0064_ff9b_0001_u128 << 80) | high | (low >> 8)
    };
    [
        (0xffff << 32) | bits,
        bits,
        (0xffff << 48) | bits,
        (0x64_ff9b_u128 << 96) | bits,
        (0x0064_ff9b_0001_u128 << 80) | bits,
        rfc_6052(48),
        rfc_6052(56),
        rfc_6052(64),
        (0x2002_u128 << 112) | (bits << 80) | noise,
        (0x2001_u128 << 112) | (bits << 64) | noise,
        (0x2001_u128 << 112) | (noise >> 32 << 64) | (noise & 0xffff_ffff) << 32 | (!bits & 0xffff_ffff),
        unicast | (0x5efe << 32) | bits,
        unicast | (0x200_5efe << 32) | bits,
    ]
    .map(Ipv6Addr::from)
    .to_vec()
}

#[test]
fn no_embedding_passes_for_public() {
    // Half of them random; the other half inside special ranges, which random ones rarely hit.
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits
    };
    for round in 0..scaled(100_000).min(1_000_000) {
        let mut inner = u32::try_from(noise() >> 32).unwrap();
        if round % 2 == 0 {
            let (network, length, _) = V4[usize::try_from(noise()).unwrap() % V4.len()];
            inner = u32::from(network) | inner.checked_shr(length).unwrap_or(0);
        }
        let inner = Ipv4Addr::from(inner);
        for outer in embeddings(inner, noise()) {
            assert!(Special::from_address(outer.into()).is_some(), "{outer} with {inner}");
            let is_plain =
                matches!(special_v6(outer), Some(AddressKind::Loopback | AddressKind::Unspecified));
            if special_v4(inner).is_some_and(|kind| kind != AddressKind::Unspecified) && !is_plain {
                assert!(carried(outer.into()).contains(&inner), "{outer} with {inner}");
            }
        }
    }
}
