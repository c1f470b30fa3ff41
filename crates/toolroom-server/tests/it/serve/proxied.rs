//! Requests that a proxy on this machine hands on are not from this machine.

use super::Served;
use super::wire::Asked;

/// What proxies, load balancers and CDNs add.
const HEADERS: [(&str, &str); 30] = [
    ("Via", "1.1 squid"),
    ("X-Real-IP", "192.0.2.7"),
    ("Forwarded", "for=192.0.2.7"),
    ("X-Forwarded-For", "192.0.2.7"),
    ("X-Forwarded-Host", "tools.example"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Port", "443"),
    ("X-Forwarded-Server", "front"),
    ("X-Forwarded-Prefix", "/tools"),
    ("X-Forwarded", "for=192.0.2.7"),
    ("X-Original-Forwarded-For", "192.0.2.7"),
    ("X-Original-URL", "/metrics"),
    ("X-Client-IP", "192.0.2.7"),
    ("True-Client-IP", "192.0.2.7"),
    ("CF-Connecting-IP", "192.0.2.7"),
    ("CF-Ray", "7d1-FRA"),
    ("CDN-Loop", "cloudflare"),
    ("Fastly-Client-IP", "192.0.2.7"),
    ("Fly-Client-IP", "192.0.2.7"),
    ("X-Azure-ClientIP", "192.0.2.7"),
    ("X-Amzn-Trace-Id", "Root=1-67891233-abcdef012345678912345678"),
    ("X-AppEngine-User-IP", "192.0.2.7"),
    ("X-Cluster-Client-IP", "192.0.2.7"),
    ("X-Envoy-External-Address", "192.0.2.7"),
    ("X-ARR-LOG-ID", "1"),
    ("X-Vercel-Id", "fra1"),
    ("X-Scheme", "https"),
    ("Tailscale-User-Login", "ann@example.com"),
    ("Proxy-Connection", "keep-alive"),
    ("x-real-ip", "127.0.0.1"),
];

#[test]
fn a_request_with_any_proxy_header_is_not_local() {
    let served = Served::configured("[server]\nip_rate = 1000000\ntrusted_proxies = []\n");
    let reading = served.key("local", "read");
    for path in ["/metrics", "/openapi.json", "/healthz", "/readyz"] {
        let local = Asked::new("GET", path);
        let body = served.ask(&local).is(200).body;
        for (name, value) in HEADERS {
            let refused = served.ask(&local.clone().header(name, value)).refused(401, "unauthorized");
            assert!(!refused.body.contains(&body), "{path} told {name}");
            served.ask(&local.clone().header(name, value).key(&reading)).is(200);
        }
    }
}

#[test]
fn headers_of_local_clients_make_no_proxy_of_them() {
    let served = Served::new();
    for (name, value) in [
        ("X-Request-Id", "scrape-1"),
        ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("X-Prometheus-Scrape-Timeout-Seconds", "10"),
        ("Accept-Encoding", "gzip"),
        ("Cache-Control", "no-cache"),
        ("User-Agent", "curl/8.5.0"),
    ] {
        served.ask(&Asked::new("GET", "/metrics").header(name, value)).is(200);
    }
}
