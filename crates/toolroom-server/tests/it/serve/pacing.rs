//! Who comes too often, and who comes when everybody is busy.

use serde_json::json;

use super::served::Served;
use super::wire::{Asked, Reply};
use crate::afoot::until;

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
fn a_key_has_so_many_requests_a_minute() {
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
fn an_address_has_so_many_and_fewer_tries_of_links() {
    let served = Served::configured("[server]\nip_rate = 40\n");
    for _ in 0..10 {
        served.ask(&Asked::new("GET", "/sign-in/guess")).refused(403, "forbidden");
    }
    is_too_soon(served.ask(&Asked::new("GET", "/sign-in/guess")), "(ip)");
    is_too_soon(served.ask(&Asked::new("GET", &served.link)), "(ip)");
    for _ in 0..28 {
        served.ask(&Asked::new("GET", "/healthz")).is(200);
    }
    is_too_soon(served.ask(&Asked::new("GET", "/healthz")), "(ip)");
    is_too_soon(served.get("/v1/tools", "trk_prod_guess"), "(ip)");
}

#[test]
fn behind_a_proxy_whoever_guesses_links_uses_up_only_their_own_tries() {
    let served = Served::configured("[server]\ntrusted_proxies = ['127.0.0.1']\n");
    let sign_in =
        |link: &str, from: &str| served.ask(&Asked::new("GET", link).header("X-Forwarded-For", from));
    for _ in 0..10 {
        sign_in("/sign-in/guess", "192.0.2.1").refused(403, "forbidden");
    }
    is_too_soon(sign_in(&served.link, "192.0.2.1"), "(ip)");
    sign_in(&served.link, "192.0.2.2").is(303);
}

#[test]
fn a_session_has_so_many_beside_its_key() {
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
fn who_comes_when_everybody_is_busy_is_told_at_once() {
    let served = Served::configured("[server]\nat_once = 2\n");
    let key = served.key("local", "read,call");
    let wait = Asked::new("POST", "/v1/calls").key(&key);
    let wait =
        wait.json(&json!({"tool": "countdown", "arguments": {"seconds": 3_000}, "timeout_ms": 3_000_000}));
    let mut waiting = [served.wire(), served.wire()];
    waiting.iter_mut().for_each(|wire| wire.send(&wait));
    served.has_begun(2);
    let busy = served.get("/v1/tools", &key).refused(429, "rate_limited");
    assert_eq!(busy.header("retry-after"), Some("1"));
    drop(waiting);
    until(|| served.get("/v1/tools", &key).status == 200);
}
