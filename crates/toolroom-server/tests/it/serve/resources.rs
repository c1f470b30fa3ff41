//! What there is besides calls: tools, switches, agents, artifacts, memories, vendors, policy, doctor, and the document
//! that describes it all.

use serde_json::{Value, json};

use super::served::{SCOPES, Served};
use super::wire::Asked;

struct Desk {
    served: Served,
    key: String,
}

impl Desk {
    fn new() -> Self {
        let served = Served::new();
        let key = served.key("local", &SCOPES.join(","));
        Self { served, key }
    }

    fn get(&self, path: &str) -> Value {
        self.served.get(path, &self.key).is(200).json()
    }

    fn put(&self, path: &str, body: &Value) -> super::wire::Reply {
        self.served.send("PUT", path, &self.key, body)
    }

    fn delete(&self, path: &str) -> super::wire::Reply {
        self.served.ask(&Asked::new("DELETE", path).key(&self.key))
    }
}

#[test]
fn tools_and_switches_are_what_the_command_line_says() {
    let desk = Desk::new();
    let printed = |words: &[&str]| desk.served.home.run_own(&[words, &["--json"]].concat()).ended(0).json();
    assert_eq!(desk.get("/v1/tools?limit=200")["tools"], printed(&["tools"]));
    assert_eq!(desk.get("/v1/tools/calculator"), printed(&["tools", "show", "calculator"]));
    desk.served.get("/v1/tools/calculater", &desk.key).refused(404, "not_found");
    let first = desk.get("/v1/tools?limit=1");
    let next = desk.get(&format!("/v1/tools?limit=1&cursor={}", first["next_cursor"].as_str().unwrap()));
    assert_ne!(first["tools"], next["tools"]);
    let state = |state: &str| desk.put("/v1/tools/calculator/state", &json!({"state": state}));
    assert_eq!(state("off").is(200).json(), json!({"toggle": "builtin:calculator", "state": "off"}));
    assert_eq!(desk.get("/v1/tools/calculator")["enabled"], false);
    state("default").is(200);
    assert_eq!(desk.get("/v1/tools/calculator")["enabled"], true);
    state("maybe").refused(400, "bad_request");
    assert_eq!(desk.get("/v1/switches")["switches"], printed(&["switch"]));
    let feature = desk.get("/v1/switches")["switches"][0]["feature"].as_str().unwrap().to_owned();
    let set = desk.put(&format!("/v1/switches/{feature}"), &json!({"state": "off"})).is(200).json();
    assert_eq!(set, json!({"feature": feature, "state": "off"}));
    assert_eq!(desk.get("/v1/switches")["switches"][0]["state"], "off");
    desk.put("/v1/switches/nothing", &json!({"state": "on"})).refused(404, "not_found");
}

#[test]
fn agents_are_made_shown_and_taken_out() {
    let desk = Desk::new();
    assert_eq!(desk.get("/v1/agents")["agents"][0]["id"], "default");
    let made = desk.put("/v1/agents/cook", &json!({"prompt": "You cook.", "deny": ["web_*"]})).is(200).json();
    assert_eq!(desk.get("/v1/agents/cook"), made);
    assert_eq!(desk.served.home.run(&["agents", "show", "cook", "--json"]).ended(0).json(), made);
    // What was shown can be sent back.
    assert_eq!(desk.put("/v1/agents/cook", &made).is(200).json(), made);
    for odd in [
        json!({"id": "baker"}),
        json!({"unknown": 1}),
        json!({"models": ["nonsense"]}),
        json!({"limits": {"iterations": 0}}),
        json!([]),
    ] {
        desk.put("/v1/agents/cook", &odd).refused(400, "bad_request");
    }
    desk.put("/v1/agents/a%20b", &json!({})).refused(400, "bad_request");
    assert_eq!(desk.get("/v1/agents/cook"), made);
    assert_eq!(desk.delete("/v1/agents/cook").is(200).json(), json!({"agent": "cook", "removed": true}));
    desk.delete("/v1/agents/cook").refused(404, "not_found");
}

#[test]
fn a_long_result_is_read_whole_or_in_parts() {
    let desk = Desk::new();
    let call =
        desk.served.call(&desk.key, "repeat", &json!({"text": "0123456789", "times": 5_000})).is(200).json();
    let place = format!("/v1/artifacts/{}", call["artifact"].as_str().unwrap());
    let about = desk.get(&place);
    assert_eq!((&about["bytes"], &about["call_id"]), (&json!(50_000), &call["call_id"]), "{about}");
    let whole = desk.served.get(&format!("{place}/content"), &desk.key).is(200);
    assert_eq!((whole.body.len(), whole.header("content-type")), (50_000, Some("text/plain")));
    let part = |range: &str| {
        let asked = Asked::new("GET", &format!("{place}/content")).key(&desk.key);
        desk.served.ask(&asked.header("Range", range))
    };
    let some = part("bytes=5-12").is(206);
    assert_eq!((some.body.as_str(), some.header("content-range")), ("56789012", Some("bytes 5-12/50000")));
    assert_eq!(part("bytes=-3").is(206).body, "789");
    let beyond = part("bytes=50000-").refused(416, "no_such_range");
    assert_eq!(beyond.header("content-range"), Some("bytes */50000"));
}

#[test]
fn memories_are_listed_exported_and_forgotten_by_user() {
    let desk = Desk::new();
    for key in ["city", "euros"] {
        let arguments = json!({"key": key, "content": format!("about {key}")});
        let kept = desk.served.call(&desk.key, "memory_store", &arguments).is(200).json();
        assert_eq!(kept["outcome"], "done", "{kept}");
    }
    let list = desk.get("/v1/memories?limit=1");
    assert_eq!(list["memories"][0]["key"], "city");
    assert!(list["next_cursor"].is_string());
    assert_eq!(desk.get("/v1/memories?user=ann")["memories"], json!([]));
    let export = desk.served.get("/v1/memory-export", &desk.key).is(200);
    assert!(export.body.contains("- **city**: about city"), "{export:?}");
    assert_eq!(desk.delete("/v1/memories/city").is(200).json(), json!({"forgotten": ["city"]}));
    desk.delete("/v1/memories/city").refused(404, "not_found");
    desk.delete("/v1/memories/euros?user=ann").refused(404, "not_found");
    assert_eq!(desk.get("/v1/memories")["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn vendors_policy_and_doctor_say_what_the_command_line_says() {
    let desk = Desk::new();
    let printed = |words: &[&str]| desk.served.home.run_own(&[words, &["--json"]].concat()).json();
    assert_eq!(desk.get("/v1/vendors?all=true"), printed(&["models", "list", "--all"]));
    let explain = |body: Value| desk.served.send("POST", "/v1/policy/explain", &desk.key, &body);
    let judged = explain(json!({"tool": "calculator", "arguments": {"expression": "1"}})).is(200).json();
    assert_eq!((&judged["ruling"], &judged["tool"]), (&json!("allow"), &json!("builtin:calculator")));
    explain(json!({"tool": "nothing"})).refused(404, "not_found");
    explain(json!({"tool": "calculator", "user": "root"})).refused(400, "bad_request");
    assert!(desk.served.home.journal().is_empty(), "explaining calls nothing");
    let report = desk.get("/v1/doctor");
    assert!(report["status"].is_string() && report["checks"]["store"]["status"].is_string(), "{report}");
}

#[test]
fn the_document_describes_every_route_once() {
    let desk = Desk::new();
    let document = desk.served.ask(&Asked::new("GET", "/openapi.json")).is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = std::collections::HashSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(names.insert(operation["operationId"].clone()), "{operation}");
            let replies = operation["responses"].as_object().unwrap();
            let ends_well = replies.keys().any(|status| status.as_str() < "4");
            let is_refused = ["403", "421", "429", "500"].iter().all(|status| replies.contains_key(*status));
            assert!(ends_well && is_refused, "{method} {path}");
        }
    }
    // Every definition that is named is there.
    let text = document.to_string();
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
    let page = desk.served.ask(&Asked::new("GET", "/docs")).is(200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(page.body.contains("/v1/calls") && page.body.contains("problem-rate_limited"));
}
