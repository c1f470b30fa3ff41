//! The address of the client behind trusted proxies (`X-Forwarded-For`).
//!
//! Each proxy appends the address it saw. So the list is read from its end while the addresses are trusted proxies; the
//! first other address is the client. Entries before it were written by the client and mean nothing.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

use crate::config::AddressRange;

const HEADER: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Headers that reverse proxies, load balancers and CDNs add, with `*` for the rest of a name. Local clients send none
/// of them.
const PROXY_HEADERS: &str = "
    akamai-origin-hop cdn-loop cf-* client-ip fastly-* fly-* forwarded forwarded-for front-end-https incap-client-ip
    proxy-client-ip proxy-connection surrogate-capability tailscale-* true-client-ip via wl-proxy-client-ip x-akamai-*
    x-amzn-* x-appengine-* x-arr-* x-azure-* x-client-ip x-cloud-trace-context x-cluster-client-ip x-envoy-*
    x-forwarded* x-host x-nginx-proxy x-original-* x-originating-ip x-proxy-id x-proxyuser-ip x-real-ip x-remote-addr
    x-remote-ip x-scheme x-sucuri-clientip x-varnish x-vercel-*
";

/// The client of a request that was received from `peer`.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let is_proxy = |address: IpAddr| trusted.iter().any(|range| range.holds(address));
    let mut client = peer.to_canonical();
    if !is_proxy(client) {
        return client;
    }
    let lists: Vec<&str> = headers.get_all(HEADER).iter().map(|list| list.to_str().unwrap_or("")).collect();
    let mut named = lists.iter().rev().flat_map(|list| list.rsplit(','));
    while is_proxy(client) {
        // A proxy that appends nothing readable counts as the client.
        let Some(before) = named.next().and_then(|text| address(text.trim())) else { break };
        client = before;
    }
    client
}

/// Whether a header shows that a proxy forwarded the request. Its value does not matter.
pub(crate) fn is_proxied(headers: &HeaderMap) -> bool {
    let is_proxy_header = |name: &str| {
        PROXY_HEADERS.split_whitespace().any(|header| match header.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == header,
        })
    };
    headers.keys().any(|name| is_proxy_header(name.as_str()))
}

/// An address. Some proxies append the port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let whole = bare.parse().or_else(|_| text.parse().map(|address: SocketAddr| address.ip()));
    whole.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn found(peer: &str, lists: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for list in lists {
            headers.append(HEADER, HeaderValue::from_str(list).unwrap());
        }
        let trusted: Vec<AddressRange> =
            trusted.iter().map(|range| AddressRange::try_from((*range).to_owned()).unwrap()).collect();
        client(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxies = &["10.0.0.0/8", "::1"];
        for (peer, lists, sender) in [
            ("10.0.0.1", &["192.0.2.7"] as &[&str], "192.0.2.7"),
            ("10.0.0.1", &["6.6.6.6, 192.0.2.7"], "192.0.2.7"),
            ("10.0.0.1", &["6.6.6.6", "192.0.2.7, 10.0.0.9"], "192.0.2.7"),
            ("::ffff:10.0.0.1", &["192.0.2.7:4711"], "192.0.2.7"),
            ("::1", &["[2001:db8::7]:80"], "2001:db8::7"),
            ("10.0.0.1", &["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
            ("10.0.0.1", &["192.0.2.7, junk"], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.7, "], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("192.0.2.9", &["192.0.2.7"], "192.0.2.9"),
        ] {
            assert_eq!(found(peer, lists, proxies), sender, "{peer} {lists:?}");
            assert_eq!(found(peer, lists, &[]), found(peer, &[], &[]), "without proxies nothing is read");
        }
    }

    proptest! {
        #[test]
        fn entries_of_the_client_change_nothing(
            written in "[0-9a-f:., \\[\\]]{0,60}",
            last in any::<u32>().prop_map(|bits| IpAddr::from(bits.to_be_bytes())),
        ) {
            let list = format!("{written},{last}");
            let trusted: AddressRange = "10.0.0.1".to_owned().try_into().unwrap();
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_str(&list).unwrap());
            prop_assume!(!trusted.holds(last));
            prop_assert_eq!(client("10.0.0.1".parse().unwrap(), &headers, &[trusted]), last);
        }
    }
}
