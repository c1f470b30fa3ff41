//! Which requests are refused: wrong hosts, foreign origins, invalid keys, used links, and claimed identities.

use std::io::ErrorKind;

use serde_json::json;

use super::served::{SCOPES, Served};
use super::wire::Asked;
use crate::home::Home;
use crate::scripted_model::Line;

#[test]
fn a_request_for_another_host_is_refused_on_every_path() {
    let served = Served::configured("[server]\nhosts = ['tools.example.com']\n");
    let key = served.key("local", "read");
    for path in ["/healthz", "/v1/tools", "/docs", "/nowhere", &served.link] {
        for host in ["evil.example", "localhost", "127.0.0.1:1", ""] {
            let asked = Asked::new("GET", path).key(&key).host(host);
            served.ask(&asked).refused(421, "unknown_host");
        }
    }
    let port = served.address.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), "tools.example.com".to_owned()] {
        served.ask(&Asked::new("GET", "/v1/tools").key(&key).host(&host)).is(200);
    }
    // With two names, a proxy could go by the other one.
    let own = served.address;
    for target in
        ["http://evil.example/healthz", &format!("http://{own}@evil.example/healthz"), "http://127.0.0.1/"]
    {
        served.ask(&Asked::new("GET", target)).refused(421, "unknown_host");
    }
    served.ask(&Asked::new("GET", &format!("http://{own}/healthz"))).is(200);
    for second in ["evil.example", &own.to_string()] {
        served.ask(&Asked::new("GET", "/healthz").header("Host", second)).refused(421, "unknown_host");
    }
    let pages = Asked::new("GET", "/v1/tools").key(&key).header("Origin", &served.origin());
    served.ask(&pages).is(200);
    served.ask(&pages.header("Origin", "https://evil.example")).refused(403, "forbidden");
    // A link that was opened under another host name is not used up.
    served.cookie();
}

#[test]
fn a_foreign_page_may_only_use_a_key_that_names_its_origin() {
    let served = Served::new();
    let (key, all) = (served.key("local", "read,call"), served.key("local", &SCOPES.join(",")));
    let order = json!({"name": "web", "scopes": ["call"], "origins": ["https://shop.example"]});
    let made = served.send("POST", "/v1/keys", &all, &order).is(201).json();
    let web = made["key"].as_str().unwrap();
    let call = |key: &str, origin: &str| {
        let body = json!({"tool": "calculator", "arguments": {"expression": "1"}});
        served.ask(&Asked::new("POST", "/v1/calls").key(key).header("Origin", origin).json(&body))
    };
    for origin in
        ["https://evil.example", "http://shop.example", "https://shop.example.evil.example", "null", "*"]
    {
        call(&key, origin).refused(403, "forbidden");
        call(web, origin).refused(403, "forbidden");
    }
    call(&key, "https://shop.example").refused(403, "forbidden");
    let reply = call(web, "https://shop.example").is(200);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://shop.example"));
    let preflight = |origin: &str| served.ask(&Asked::new("OPTIONS", "/v1/calls").header("Origin", origin));
    preflight("https://shop.example").is(204);
    preflight("https://evil.example").refused(403, "forbidden");
    for path in ["/healthz", "/openapi.json", "/docs"] {
        served
            .ask(&Asked::new("GET", path).header("Origin", "https://evil.example"))
            .refused(403, "forbidden");
    }
    assert_eq!(served.home.journal().len(), 1);
}

#[test]
fn a_refused_method_is_answered_with_the_allowed_ones() {
    let served = Served::new();
    for (path, allowed) in [("/mcp", ["GET", "POST", "DELETE"]), ("/v1/calls", ["GET", "POST", "OPTIONS"])] {
        let reply = served.ask(&Asked::new("PUT", path)).refused(405, "method_not_allowed");
        let named = reply.header("allow").unwrap();
        assert!(allowed.iter().all(|method| named.split(',').any(|name| name == *method)), "{path}: {named}");
    }
}

#[test]
fn a_link_signs_in_once_and_a_browser_sends_its_origin() {
    let served = Served::new();
    // A link preview sends HEAD and does not use it up.
    let mut wire = served.wire();
    wire.send(&Asked::new("HEAD", &served.link));
    assert_eq!(wire.head().status, 405);
    let cookie = served.cookie();
    served.ask(&Asked::new("GET", &served.link)).refused(403, "forbidden");
    let body = json!({"id": "shop"});
    let make = || Asked::new("POST", "/v1/projects").header("Cookie", &cookie).json(&body);
    served.ask(&make()).refused(403, "forbidden");
    served.ask(&make().header("Origin", "https://evil.example")).refused(403, "forbidden");
    let list = served.home.run(&["projects", "list", "--json"]).ended(0).json();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    served.ask(&make().header("Origin", &served.origin())).is(201);
    // Reading needs no origin: a foreign page cannot read the reply.
    served.ask(&Asked::new("GET", "/v1/projects").header("Cookie", &cookie)).is(200);
    let leave = Asked::new("POST", "/sign-out").header("Cookie", &cookie).header("Origin", &served.origin());
    served.ask(&leave).is(204);
    served.ask(&Asked::new("GET", "/v1/projects").header("Cookie", &cookie)).refused(401, "unauthorized");
    let forged = "toolroom_browser=0123456789abcdefghijklmnopqrstuvwxyz";
    served.ask(&Asked::new("GET", "/v1/projects").header("Cookie", forged)).refused(401, "unauthorized");
}

#[test]
fn a_request_cannot_claim_an_identity() {
    let served = Served::new();
    served.project("shop");
    let key = served.key("shop", "read,call");
    let body = json!({"tool": "calculator", "arguments": {"expression": "1"}});
    for field in ["user", "project", "scope", "caller"] {
        let mut body = body.clone();
        body[field] = json!("local");
        served.send("POST", "/v1/calls", &key, &body).refused(400, "bad_request");
    }
    let mut asked = Asked::new("POST", "/v1/calls").key(&key).json(&body);
    for header in ["X-User", "X-Project", "X-Toolroom-Project", "X-Forwarded-User", "Remote-User"] {
        asked = asked.header(header, "local");
    }
    let call = served.ask(&asked).is(200).json();
    let id = call["call_id"].as_str().unwrap();
    let kept = served.get(&format!("/v1/calls/{id}"), &key).is(200).json();
    assert_eq!((kept["project"].as_str(), kept["user"].is_null()), (Some("shop"), true), "{kept}");
    // The runtime context is data and gives no rights.
    let mut body = body;
    body["context"] = json!({"user": "root", "project": "local", "scopes": ["approve"]});
    let id = served.send("POST", "/v1/calls", &key, &body).is(200).json()["call_id"].clone();
    let kept = served.get(&format!("/v1/calls/{}", id.as_str().unwrap()), &key).is(200).json();
    assert_eq!(kept["project"], "shop");
    served.get("/v1/calls?project=local", &key).refused(400, "bad_request");
}

#[test]
fn expired_and_revoked_keys_are_refused() {
    let served = Served::new();
    let made = |scopes: &str| {
        let made = served.make_key("local", scopes);
        (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
    };
    let check = |key: &str| served.get("/v1/tools", key);
    let ((revoked, revoked_key), (rotated, rotated_key)) = (made("read"), made("read,chat"));
    check(&revoked_key).is(200);
    served.home.run(&["keys", "revoke", &revoked]).ended(0);
    check(&revoked_key).refused(401, "unauthorized");
    let new = served.home.run(&["keys", "rotate", &rotated, "--overlap", "1h", "--json"]).ended(0).json();
    check(&rotated_key).is(200);
    check(new["key"].as_str().unwrap()).is(200);
    let again =
        served.home.run(&["keys", "rotate", new["id"].as_str().unwrap(), "--overlap", "0s", "--json"]);
    check(new["key"].as_str().unwrap()).refused(401, "unauthorized");
    check(again.json()["key"].as_str().unwrap()).is(200);
    let short = ["keys", "create", "--name", "short", "--expires", "1ms", "--json"];
    check(served.home.run(&short).ended(0).json()["key"].as_str().unwrap()).refused(401, "unauthorized");
    for wrong in ["trk_prod_0", "", "trk_", "tru_AAAA", &rotated_key[..rotated_key.len() - 1]] {
        check(wrong).refused(401, "unauthorized");
    }
    // Only the hash of the key is stored.
    let database = std::fs::read(served.home.path().join("toolroom.db")).unwrap();
    let wal = std::fs::read(served.home.path().join("toolroom.db-wal")).unwrap_or_default();
    for bytes in [database, wal] {
        assert!(!bytes.windows(rotated_key.len()).any(|window| window == rotated_key.as_bytes()));
    }
}

#[test]
fn tokens_end_with_their_key() {
    let served = Served::new();
    let minting = served.make_key("local", "mint");
    let key = minting["key"].as_str().unwrap();
    let token = served.token(key, "ann");
    let check = || served.get("/v1/approvals", &token);
    check().is(200);
    let order = |body| served.send("POST", "/v1/tokens", key, &body);
    order(json!({"user": "ann", "agent": "nobody"})).refused(404, "not_found");
    order(json!({"user": "", "agent": "default"})).refused(400, "bad_request");
    order(json!({"user": "ann", "agent": "default", "expires_in": 9})).refused(400, "bad_request");
    order(json!({"user": "ann", "agent": "default", "project": "shop"})).refused(400, "bad_request");
    served.home.run(&["keys", "revoke", minting["id"].as_str().unwrap()]).ended(0);
    check().refused(401, "unauthorized");
}

#[test]
fn revoking_a_key_ends_its_streams() {
    let (served, _model) = Served::over(vec![Line::stalls("so far "); 4], "");
    let made = served.make_key("local", "chat,mint");
    let key = made["key"].as_str().unwrap();
    let token = served.token(key, "ann");
    let said = json!([{"id": "m", "role": "user", "content": "go on"}]);
    let run = json!({"message": "go on", "stream": true});
    let input = json!({"threadId": "t", "runId": "r", "messages": said});
    let completion =
        json!({"model": "default", "stream": true, "messages": [{"role": "user", "content": "go on"}]});
    let asked = [
        ("/v1/runs", &run, key),
        ("/v1/runs", &run, &token),
        ("/agui/default", &input, &token),
        ("/v1/chat/completions", &completion, key),
    ];
    let streams = asked.map(|(path, body, key)| {
        let mut wire = served.wire();
        wire.send(&Asked::new("POST", path).key(key).json(body));
        let head = wire.head();
        assert_eq!(head.status, 200, "{head:?}");
        wire
    });
    served.home.run(&["keys", "revoke", made["id"].as_str().unwrap()]).ended(0);
    for mut wire in streams {
        // Ended with an error, and not as if complete.
        let cut_off = loop {
            match wire.chunk() {
                Ok(piece) => assert!(!piece.is_empty(), "it ended in order"),
                Err(error) => break error,
            }
        };
        assert!(!matches!(cut_off.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{cut_off}");
    }
}

#[test]
fn listening_beyond_this_machine_needs_a_key() {
    let home = Home::new();
    let refused = home.run(&["serve", "--listen", "0.0.0.0:0"]).ended(3);
    assert!(refused.err.contains("toolroom keys create --name"), "{refused:?}");
    home.run(&["keys", "create", "--name", "old", "--expires", "1ms"]).ended(0);
    home.run(&["serve", "--listen", "0.0.0.0:0"]).ended(3);
}

#[test]
fn an_address_in_use_is_reported_with_a_remedy_and_leaves_nothing_behind() {
    let other = Served::new();
    let address = other.origin().replace("http://", "");
    let home = Home::new();
    let refused = home.run(&["serve", "--listen", &address]).ended(1);
    let what = format!("cannot listen on {address}");
    for told in [what.as_str(), "another `toolroom serve`", "`--listen`", "in use"] {
        assert!(refused.err.contains(told), "{told}: {refused:?}");
    }
    // Neither the other server nor the next one in this home is affected.
    other.ask(&Asked::new("GET", "/healthz")).is(200);
    Served::at(home).ask(&Asked::new("GET", "/readyz")).is(200);
}
