//! Who may use which route: every route of the table with every kind of caller.

use serde_json::{Value, json};

use super::served::{SCOPES, Served};
use super::wire::Asked;

/// A kind of caller.
struct TestCaller {
    name: String,
    /// Its credentials.
    header: Option<(&'static str, String)>,
    project: &'static str,
    scopes: Vec<&'static str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Anonymous,
    Key,
    EndUser,
    Owner,
}

impl TestCaller {
    /// Whether a route with this access rule lets it in.
    fn may(&self, need: &str) -> bool {
        match need {
            "nothing" | "local" => true,
            "owner" => self.kind == Kind::Owner,
            "answerer" => ["answer", "approve"].iter().any(|scope| self.scopes.contains(scope)),
            "recipient" => self.kind == Kind::EndUser || self.scopes.contains(&"read"),
            "keeper" => self.project == "local" && self.scopes.contains(&"manage"),
            scope if SCOPES.contains(&scope) => self.scopes.contains(&scope),
            unknown => panic!("the need `{unknown}` has no row in this table"),
        }
    }
}

fn callers(served: &Served) -> Vec<TestCaller> {
    let mut callers = vec![TestCaller {
        name: "an anonymous client".to_owned(),
        header: None,
        project: "",
        scopes: Vec::new(),
        kind: Kind::Anonymous,
    }];
    for project in ["local", "shop"] {
        for scope in SCOPES {
            callers.push(TestCaller {
                name: format!("a key of {project} that may {scope}"),
                header: Some(("Authorization", format!("Bearer {}", served.key(project, scope)))),
                project,
                scopes: vec![scope],
                kind: Kind::Key,
            });
        }
    }
    let minting = served.key("shop", "mint");
    callers.push(TestCaller {
        name: "a user of shop".to_owned(),
        header: Some(("Authorization", format!("Bearer {}", served.token(&minting, "ann")))),
        project: "shop",
        scopes: vec!["chat", "answer"],
        kind: Kind::EndUser,
    });
    callers.push(TestCaller {
        name: "the owner".to_owned(),
        header: Some(("Cookie", served.cookie())),
        project: "local",
        scopes: SCOPES.to_vec(),
        kind: Kind::Owner,
    });
    callers
}

#[test]
fn every_route_lets_in_the_callers_it_should_and_no_others() {
    let served = Served::new();
    served.project("shop");
    let document = served.ask(&Asked::new("GET", "/openapi.json")).is(200).json();
    let callers = callers(&served);
    let mut wire = served.wire();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let need =
                operation["x-needs"].as_str().unwrap_or_else(|| panic!("{method} {path} says no need"));
            // Signing in and out would change the callers.
            if path.starts_with("/sign-") {
                continue;
            }
            // The path names nothing that exists, so no request changes anything.
            let target = filled(path);
            for caller in &callers {
                let mut request = Asked::new(&method.to_uppercase(), &target).json(&Value::from(17));
                if let Some((name, value)) = &caller.header {
                    request = request.header(name, value);
                }
                if caller.kind == Kind::Owner {
                    request = request.header("Origin", &served.origin());
                }
                let reply = wire.ask(&request);
                let told = format!("{} asks {method} {path} ({need}): {reply:?}", caller.name);
                match (caller.may(need), caller.kind) {
                    (true, _) => assert!(!matches!(reply.status, 401 | 403 | 500..), "{told}"),
                    (false, Kind::Anonymous) => {
                        assert_eq!(reply.status, 401, "{told}");
                        assert!(reply.header("www-authenticate").is_some(), "{told}");
                    }
                    (false, _) => assert_eq!(reply.status, 403, "{told}"),
                }
                asked += 1;
            }
        }
    }
    assert!(asked > 400, "only {asked} were asked");
}

/// The path with something in each of its places. A user of an app may talk to one agent, and to no other.
fn filled(path: &str) -> String {
    let place = if path.starts_with("/agui/") { "default" } else { "nothing-like-that" };
    let words = path.split('/').map(|word| if word.starts_with('{') { place } else { word });
    words.collect::<Vec<_>>().join("/")
}

#[test]
fn other_projects_are_invisible() {
    let served = Served::new();
    served.project("shop");
    let all = SCOPES.join(",");
    let (ours, theirs) = (served.key("local", &all), served.key("shop", &all));
    let repeated = json!({"text": "a long result ", "times": 5_000});
    let long = served.call(&ours, "repeat", &repeated).is(200).json();
    let (call, artifact) = (long["call_id"].as_str().unwrap(), long["artifact"].as_str().unwrap());
    let parked = served.park(&ours, "mine");
    served.send("PUT", "/v1/agents/cook", &ours, &json!({"prompt": "You cook."})).is(200);
    let key = served.make_key("local", "read");
    let key = key["id"].as_str().unwrap();
    let run =
        served.send("POST", "/v1/runs", &ours, &json!({"message": "hello", "wait": true})).is(200).json();
    let (run, conversation) = (run["id"].as_str().unwrap(), run["conversation"].as_str().unwrap());
    let places = [
        ("GET", "/v1/runs/{}", run),
        ("GET", "/v1/runs/{}/events", run),
        ("POST", "/v1/runs/{}/resume", run),
        ("POST", "/v1/runs/{}/cancel", run),
        ("GET", "/v1/conversations/{}", conversation),
        ("GET", "/v1/conversations/{}/messages", conversation),
        ("DELETE", "/v1/conversations/{}", conversation),
        ("GET", "/v1/calls/{}", call),
        ("POST", "/v1/calls/{}/cancel", call),
        ("POST", "/v1/calls/{}/resume", &parked),
        ("GET", "/v1/artifacts/{}", artifact),
        ("GET", "/v1/artifacts/{}/content", artifact),
        ("GET", "/v1/approvals/{}", &parked),
        ("GET", "/v1/agents/{}", "cook"),
        ("DELETE", "/v1/agents/{}", "cook"),
        ("DELETE", "/v1/keys/{}", key),
    ];
    for (method, place, id) in places {
        let told = |id: &str| {
            let asked =
                Asked::new(method, &place.replace("{}", id)).key(&theirs).header("X-Request-Id", "one");
            served.ask(&asked).refused(404, "not_found").body.replace(id, "")
        };
        assert_eq!(
            told(id),
            told("not-there"),
            "another project's data looks as if it did not exist: {place}"
        );
    }
    let answer = json!({"answer": "once"});
    served.send("POST", &format!("/v1/approvals/{parked}"), &theirs, &answer).refused(404, "not_found");
    let go_on = json!({"message": "hello", "conversation": conversation});
    served.send("POST", "/v1/runs", &theirs, &go_on).refused(404, "not_found");
    let runs = format!("runs?conversation={conversation}");
    for list in ["calls", "approvals", "keys", "runs", &runs, "conversations"] {
        let listed = served.get(&format!("/v1/{list}"), &theirs).is(200);
        let is_shown = |id: &str| listed.body.contains(id);
        assert!(![call, &parked, key, run, conversation].into_iter().any(is_shown), "{listed:?}");
    }
    // Nothing of all that has changed anything.
    assert_eq!(served.get(&format!("/v1/approvals/{parked}"), &ours).is(200).json()["state"], "waiting");
    served.get("/v1/agents/cook", &ours).is(200);
    served.get(&format!("/v1/conversations/{conversation}"), &ours).is(200);
    assert_eq!(served.written(), "");
}
