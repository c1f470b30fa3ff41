//! Servers under a process that stays: started once, given up when they fail again and again, looked at when they change.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{folder, found, python};
use crate::home::Home;
use crate::serve::Served;

/// Longer than it takes until a process has looked at what another one has set.
const BOUND: Duration = Duration::from_secs(60);

/// A process that stays, with a hostile server.
fn serving(mode: &str) -> Served {
    let home = Home::new();
    let script = found(&folder().join("hostile.py"));
    home.run(&["mcp", "add", "evil", "--", &python(), &script, mode]).ended(0);
    Served::at(home)
}

/// Calls the tool, says yes to it, and gives what came of it.
fn called(served: &Served, key: &str) -> Value {
    let asked = served.call(key, "mcp:evil:work", &json!({})).json();
    let Some(id) = asked["call_id"].as_str().filter(|_| asked["outcome"] == "pending") else { return asked };
    served.send("POST", &format!("/v1/approvals/{id}"), key, &json!({"answer": "once"})).is(200);
    served.send("POST", &format!("/v1/calls/{id}/resume"), key, &json!({})).json()
}

fn starts(home: &Home, mode: &str) -> String {
    std::fs::read_to_string(home.path().join("workspace").join(format!("starts-{mode}"))).unwrap()
}

#[test]
fn one_process_serves_all_calls_and_none_after_it_is_off() {
    let served = serving("calm");
    let key = served.key("local", "approve,call");
    for _ in 0..3 {
        assert_eq!(called(&served, &key)["result"], "ok");
    }
    assert_eq!(starts(&served.home, "calm"), "2", "once to be looked at, and once for all calls");
    served.home.run(&["mcp", "disable", "evil"]).ended(0);
    let off = called(&served, &key);
    assert_ne!(off["outcome"], "done", "the next call knows: {off}");
}

#[test]
fn a_server_that_fails_three_times_is_given_up_until_a_person_wants_it() {
    let served = serving("dies");
    let key = served.key("local", "approve,call");
    for _ in 0..3 {
        let failed = called(&served, &key);
        assert_eq!(failed["error"]["kind"], "unreachable", "{failed}");
    }
    let given_up = called(&served, &key);
    assert!(given_up["error"]["message"].as_str().unwrap().contains("does not start"), "{given_up}");
    assert_eq!(starts(&served.home, "dies"), "4", "it is not started again");
    let listed = served.home.run(&["mcp", "list", "--json"]).ended(0).json();
    assert_eq!(listed[0]["state"], "given_up", "{listed}");
    served.home.run(&["mcp", "enable", "evil"]).ended(0);
    let began = Instant::now();
    while called(&served, &key)["error"]["message"] == given_up["error"]["message"] {
        assert!(began.elapsed() < BOUND, "`mcp test` skips the back-off");
    }
}

#[test]
fn a_server_that_changes_its_tools_is_looked_at_before_the_next_call() {
    let served = serving("announces");
    let key = served.key("local", "approve,call");
    assert_eq!(called(&served, &key)["result"], "ok");
    let refused = called(&served, &key);
    assert_ne!(refused["outcome"], "done", "{refused}");
    let waiting = served.home.run(&["mcp", "review", "--json"]).ended(0).json();
    assert_eq!(waiting[0]["offered"]["description"], "Works for somebody else", "{waiting}");
    assert_eq!(starts(&served.home, "announces"), "2", "it was asked again, not started again");
}
