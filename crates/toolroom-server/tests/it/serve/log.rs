//! The server's log, and what never appears in it.

use std::process::Stdio;

use serde_json::{Value, json};

use super::served::Served;
use super::wire::Asked;
use crate::canary::Canary;
use crate::home::Home;
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};

/// The line about a request, once it is written.
#[track_caller]
fn line_of(served: &Served, request_id: &str) -> Value {
    let find = || {
        let is_meant = |line: &Value| line["request_id"] == request_id && line["status"].is_u64();
        served.log_lines().into_iter().find(is_meant)
    };
    until(|| find().is_some());
    find().unwrap()
}

#[test]
fn each_request_is_one_line_with_an_id() {
    let served = Served::logged(Home::new(), &[]);
    let made = served.make_key("local", "read");
    let key = made["key"].as_str().unwrap();
    let reply =
        served.ask(&Asked::new("GET", "/v1/tools?tag=none").key(key).header("X-Request-Id", "front-1"));
    assert_eq!(reply.header("x-request-id"), Some("front-1"));
    let line = line_of(&served, "front-1");
    let expected = [
        ("level", json!("info")),
        ("message", json!("request")),
        ("method", json!("GET")),
        ("route", json!("/v1/tools")),
        ("status", json!(reply.status)),
        ("from", json!("127.0.0.1")),
        ("project", json!("local")),
        ("key", made["id"].clone()),
    ];
    for (name, value) in expected {
        assert_eq!(line[name], value, "{name}: {line}");
    }
    assert!(line["ms"].as_f64().unwrap() > 0.0 && line["time"].as_str().unwrap().ends_with('Z'), "{line}");
    let known =
        ["time", "level", "target", "message", "method", "route", "status", "ms", "from", "request_id"];
    for name in line.as_object().unwrap().keys() {
        assert!(known.contains(&name.as_str()) || ["project", "key"].contains(&name.as_str()), "{name}");
    }
    for wrong in ["a b", "x\"y", "{}", &"x".repeat(129)] {
        let reply = served.ask(&Asked::new("GET", "/healthz").header("X-Request-Id", wrong)).is(200);
        let name = reply.header("x-request-id").unwrap();
        assert_ne!(name, wrong);
        assert_eq!(line_of(&served, name)["route"], "/healthz");
    }
}

#[test]
fn a_problem_has_the_id_of_its_log_line() {
    let served = Served::logged(Home::new(), &[]);
    let key = served.key("local", "read,call");
    let asked = |method, path: &str| Asked::new(method, path).key(&key).header("X-Request-Id", "lost-1");
    let refused = [
        served.ask(&asked("GET", "/v1/calls/nothing")).refused(404, "not_found"),
        served.ask(&asked("GET", "/nowhere")).refused(404, "not_found"),
        served.ask(&asked("PUT", "/healthz")).refused(405, "method_not_allowed"),
        served.ask(&asked("GET", "/v1/keys")).refused(403, "forbidden"),
        served.ask(&asked("GET", "/healthz").host("evil.example")).refused(421, "unknown_host"),
        // Worked on in a task of its own.
        served
            .ask(&asked("POST", "/v1/calls").header("Idempotency-Key", "once").json(&json!({"tool": 1})))
            .is(400),
    ];
    for reply in refused {
        assert_eq!(reply.json()["request_id"], "lost-1", "{reply:?}");
        assert_eq!(reply.header("x-request-id"), Some("lost-1"), "{reply:?}");
    }
    until(|| served.log_lines().iter().filter(|line| line["request_id"] == "lost-1").count() == 6);
    let routes: Vec<Value> = served.log_lines().iter().map(|line| line["route"].clone()).collect();
    assert!(routes.contains(&json!("/v1/calls/{call}")) && routes.contains(&json!("none")), "{routes:?}");
}

#[test]
fn nothing_that_was_sent_is_in_the_log() {
    let names = [
        "header", "query", "body", "path", "agent", "argument", "vendor", "key", "cookie", "message",
        "context", "method", "stored", "foreign", "origin", "host",
    ];
    let canaries: Vec<Canary> = names.iter().map(|name| Canary::new(name)).collect();
    let value = |name: &str| canaries[names.iter().position(|known| *known == name).unwrap()].value.as_str();
    let home = Home::new();
    let vendor = format!("your key {} and {} are wrong", value("vendor"), value("stored"));
    let refused = Line::RefusesSaying(401, vendor);
    let model = ScriptedModel::starts(vec![refused; 8]);
    model.is_set_up_in(home.path(), "[log]\nlevel = \"trace\"\n[redaction]\npatterns = false\n");
    let mut served = Served::logged(home, &[]);
    served.project("shop");
    let all = "read,call,chat,mint,manage,approve";
    let (key, shop) = (served.key("local", all), served.key("shop", all));
    served.home.run_with_stdin(&["secrets", "set", "MINE"], value("stored")).ended(0);
    let token = served.token(&key, "ann");
    let unsafe_path: String = value("path").bytes().map(|byte| format!("%{byte:02x}")).collect();
    for known in [&key, &shop, &token] {
        let asked = |method, path: &str| {
            Asked::new(method, path)
                .key(known)
                .header("User-Agent", value("agent"))
                .header("X-Other", value("header"))
                .header("X-Request-Id", value("header"))
                .header("Cookie", &format!("toolroom_browser={}", value("cookie")))
        };
        served.ask(&asked("GET", &format!("/v1/tools?tag={}", value("query").replace('>', "%3e"))));
        served.ask(&asked("GET", &format!("/v1/calls/{unsafe_path}")));
        served.ask(&asked("GET", &format!("/{unsafe_path}")));
        served.ask(&asked("GET", &format!("/sign-in/{unsafe_path}")));
        served.ask(&asked("POST", "/v1/calls").text(value("body")));
        served.ask(&asked("GET", "/healthz").header("Origin", value("origin")));
        served.ask(&asked("GET", "/healthz").host(value("host")));
        let arguments = json!({"expression": value("argument"), value("argument"): 1});
        served.ask(&asked("POST", "/v1/calls").json(&json!({
            "tool": "calculator", "arguments": arguments, "context": {"who": value("context")},
        })));
        served.ask(&asked("POST", "/v1/calls").json(&json!({
            "tool": "calculator", "arguments": {"expression": value("argument")},
        })));
        let message =
            json!({"message": value("message"), "wait": true, "context": {"who": value("context")}});
        served.ask(&asked("POST", "/v1/runs").json(&message));
        served.ask(&Asked::new("GET", "/v1/tools").key(value("key")));
        served.ask(&Asked::new("GET", "/v1/tools").header("X-API-Key", value("key")));
    }
    assert!(!model.asked().is_empty(), "the vendor was asked");
    let link = served.link.clone();
    served.ask(&Asked::new("GET", &link)).is(303);
    served.ends();
    let lines = served.log_lines();
    assert!(lines.len() > 30, "{}", served.log());
    for (name, canary) in names.iter().zip(&canaries) {
        assert!(!served.log().contains(&canary.value), "{name}");
        canary.is_not_in(&served.log());
    }
    for secret in [key.as_str(), &shop, &token, link.rsplit('/').next().unwrap()] {
        assert!(!served.log().contains(secret), "{secret}");
    }
}

#[test]
fn a_reader_that_does_not_read_stops_nothing() {
    let served = Served::telling(Home::new(), &["--set", "log.level=trace"], Stdio::piped());
    // Some hundred bytes each: a pipe is full long before the end.
    let mut wire = served.wire();
    for _ in 0..1_000 {
        wire.ask(&Asked::new("GET", "/healthz").header("X-Request-Id", &"x".repeat(128))).is(200);
    }
}

#[test]
fn people_read_text_and_programs_json() {
    let mut served = Served::logged(Home::new(), &["--log-format", "text"]);
    served.ask(&Asked::new("GET", "/healthz").header("X-Request-Id", "for-people")).is(200);
    served.ends();
    let log = served.log();
    let line = log.lines().find(|line| line.contains("for-people")).unwrap();
    assert!(line.contains(" INFO  request method=GET route=/healthz status=200 ms="), "{line}");
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), "[log]\nformat = \"json\"\nlevel = \"warn\"\n")
        .unwrap();
    let mut served = Served::logged(home, &[]);
    served.ask(&Asked::new("GET", "/healthz")).is(200);
    served.ends();
    assert_eq!(served.log_lines(), Vec::<Value>::new(), "nothing was odd");
}
