//! Rate limits and concurrency limits.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::served::Served;
use super::wire::{Asked, Reply, Wire};
use crate::processes::until;

#[track_caller]
fn is_too_soon(reply: Reply, axis: &str) {
    let reply = reply.refused(429, "rate_limited");
    let problem = reply.json();
    assert_eq!(problem["error"], "RATE_LIMIT_EXCEEDED");
    assert!(problem["message"].as_str().unwrap().contains(axis), "{problem}");
    let seconds = problem["retryAfter"].as_u64().unwrap();
    assert!((1..=60).contains(&seconds), "{problem}");
    assert_eq!(reply.header("retry-after"), Some(seconds.to_string().as_str()));
}

#[test]
fn a_key_has_a_rate() {
    let served = Served::configured("[server]\nkey_rate = 3\n");
    let (key, other) = (served.key("local", "read"), served.key("local", "chat"));
    for left in ["2", "1", "0"] {
        let reply = served.get("/v1/tools", &key).is(200);
        assert_eq!(reply.header("x-ratelimit-limit"), Some("3"));
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(left));
    }
    is_too_soon(served.get("/v1/tools", &key), "(apiKey)");
    // Another key has its own; one that is refused for other reasons counts, too.
    let refused = served.get("/v1/tools", &other).refused(403, "forbidden");
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("2"));
}

#[test]
fn addresses_have_a_rate_and_a_lower_one_for_wrong_links() {
    let served = Served::configured("[server]\nip_rate = 40\n");
    for _ in 0..10 {
        served.ask(&Asked::new("GET", "/sign-in/guess")).refused(403, "forbidden");
    }
    is_too_soon(served.ask(&Asked::new("GET", "/sign-in/guess")), "(ip)");
    for _ in 0..29 {
        served.ask(&Asked::new("GET", "/healthz")).is(200);
    }
    is_too_soon(served.ask(&Asked::new("GET", "/healthz")), "(ip)");
    is_too_soon(served.get("/v1/tools", "trk_prod_guess"), "(ip)");
}

#[test]
fn behind_a_proxy_wrong_links_count_for_the_client_that_sent_them() {
    let served = Served::configured("[server]\ntrusted_proxies = ['127.0.0.1']\n");
    let sign_in =
        |link: &str, from: &str| served.ask(&Asked::new("GET", link).header("X-Forwarded-For", from));
    for _ in 0..10 {
        sign_in("/sign-in/guess", "192.0.2.1").refused(403, "forbidden");
    }
    is_too_soon(sign_in("/sign-in/guess", "192.0.2.1"), "(ip)");
    sign_in("/sign-in/guess", "192.0.2.2").refused(403, "forbidden");
}

#[test]
fn a_session_has_a_rate_of_its_own() {
    let served = Served::configured("[server]\nsession_rate = 2\n");
    let minting = served.key("local", "mint");
    let (ann, bob) = (served.token(&minting, "ann"), served.token(&minting, "bob"));
    for _ in 0..2 {
        assert!(served.get("/v1/approvals", &ann).is(200).header("x-ratelimit-remaining").is_some());
    }
    is_too_soon(served.get("/v1/approvals", &ann), "(session)");
    served.get("/v1/approvals", &bob).is(200);
}

#[test]
fn wrong_keys_and_wrong_links_take_nothing_from_the_right_ones() {
    let served = Served::configured("[server]\nip_rate = 12\n");
    let key = served.key("local", "read,mint");
    let token = served.token(&key, "ann");
    let first = served.ask(&Asked::new("GET", "/healthz")).is(200);
    assert_eq!(first.header("retry-after"), None);
    for guess in ["trk_prod_guess", "tru_guess", "guess"] {
        for _ in 0..10 {
            let refused = served.get("/v1/tools", guess);
            assert!([401, 429].contains(&refused.status), "{refused:?}");
        }
    }
    for _ in 0..30 {
        let refused = served.ask(&Asked::new("GET", "/sign-in/guess"));
        assert!([403, 429].contains(&refused.status), "{refused:?}");
    }
    is_too_soon(served.get("/v1/tools", "trk_prod_guess"), "(ip)");
    is_too_soon(served.ask(&Asked::new("GET", "/healthz")), "(ip)");
    served.get("/v1/tools", &key).is(200);
    served.get("/v1/approvals", &token).is(200);
    let browser = served.cookie();
    for _ in 0..20 {
        served.ask(&Asked::new("GET", "/v1/tools").header("Cookie", "toolroom_browser=guess"));
    }
    served.ask(&Asked::new("GET", "/v1/tools").header("Cookie", &browser)).is(200);
}

/// A call that goes on for long.
fn waiting(served: &Served, key: &str) -> Wire {
    let wait = json!({"tool": "countdown", "arguments": {"seconds": 3_000}, "timeout_ms": 3_000_000});
    let mut wire = served.wire();
    wire.send(&Asked::new("POST", "/v1/calls").key(key).json(&wait));
    wire
}

#[test]
fn one_key_gets_at_most_half_of_the_permits() {
    let served = Served::configured("[server]\nat_once = 4\n");
    let (key, other) = (served.key("local", "read,call"), served.key("local", "read"));
    let waiting = [waiting(&served, &key), waiting(&served, &key)];
    served.has_begun(2);
    let busy = served.get("/v1/tools", &key).refused(429, "rate_limited");
    assert!(busy.body.contains("of this key"), "{busy:?}");
    served.get("/v1/tools", &other).is(200);
    served.ask(&Asked::new("GET", "/metrics")).is(200);
    drop(waiting);
    until(|| served.get("/v1/tools", &key).status == 200);
}

#[test]
fn bodies_that_never_arrive_take_no_permit() {
    let served = Served::configured("[server]\nat_once = 4\n");
    let (key, other) = (served.key("local", "read,call"), served.key("local", "read,call"));
    let head = format!(
        "POST /v1/calls HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: 100\r\n\r\n",
        served.address
    );
    // Each hears whether its body is waited for.
    let hung: Vec<(TcpStream, String)> = (0..12)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut told = [0; 12];
            stream.read_exact(&mut told).unwrap();
            (stream, String::from_utf8_lossy(&told).into_owned())
        })
        .collect();
    let told = |status: &str| hung.iter().filter(|(_, told)| told == &format!("HTTP/1.1 {status}")).count();
    assert_eq!((told("100"), told("429")), (2, 10), "one key waits with half of those who may");
    for key in [&key, &other] {
        served.get("/v1/tools", key).is(200);
        assert_eq!(
            served.call(key, "calculator", &json!({"expression": "6*7"})).is(200).json()["result"],
            42
        );
    }
    drop(hung);
}

#[test]
fn requests_over_the_concurrency_limit_are_refused_at_once() {
    let served = Served::configured("[server]\nat_once = 2\n");
    let (key, other) = (served.key("local", "read,call"), served.key("local", "call"));
    let waiting = [waiting(&served, &key), waiting(&served, &other)];
    served.has_begun(2);
    let busy = served.get("/v1/tools", &key).refused(429, "rate_limited");
    assert_eq!(busy.header("retry-after"), Some("1"));
    drop(waiting);
    until(|| served.get("/v1/tools", &key).status == 200);
}
