//! Calls that take long, for clients that take tasks.

use serde_json::{Value, json};

use super::place::{modern, modern_with, result, text};
use crate::processes::until;
use crate::serve::Served;
use crate::serve::wire::{Asked, Reply};

fn takes_tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn counts(served: &Served, key: &str, seconds: u32) -> Value {
    let params = json!({"name": "app__countdown", "arguments": {"seconds": seconds}});
    result(&served.ask(&modern_with(key, "tools/call", params, &takes_tasks())))
}

fn about(key: &str, method: &str, task: &str) -> Asked {
    modern_with(key, method, json!({"taskId": task}), &takes_tasks()).header("Mcp-Name", task)
}

fn named(task: &Value) -> String {
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    task["taskId"].as_str().unwrap().to_owned()
}

#[test]
fn a_long_call_goes_on_as_a_task_and_tells_what_came_of_it() {
    let served = Served::new();
    let key = served.key("local", "call");
    assert_eq!(counts(&served, &key, 0)["resultType"], "complete");
    let task = named(&counts(&served, &key, 2));
    let get = || result(&served.ask(&about(&key, "tasks/get", &task)));
    until(|| get()["status"] == "completed");
    let done = get();
    assert_eq!(done["result"]["content"][0]["text"], "lift-off", "{done}");
    assert_eq!(done["taskId"], *task);
}

#[test]
fn a_task_is_visible_to_its_caller_only_and_can_be_cancelled() {
    let served = Served::new();
    let (key, other) = (served.key("local", "call,read"), served.key("local", "call,read"));
    let task = named(&counts(&served, &key, 60));
    let refused = |reply: &Reply, code: i32| {
        let answer = reply.json();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    };
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        refused(&served.ask(&about(&other, method, &task)), -32602);
        refused(&served.ask(&about(&key, method, "nothing-like-that")), -32602);
        let cannot = modern(&key, method, json!({"taskId": task})).header("Mcp-Name", &task);
        refused(&served.ask(&cannot).is(400), -32021);
    }
    assert_eq!(served.home.journal()[0]["status"], "begun");
    result(&served.ask(&about(&key, "tasks/cancel", &task)));
    until(|| served.home.journal()[0]["status"] == "cancelled");
    assert_eq!(result(&served.ask(&about(&key, "tasks/get", &task)))["status"], "cancelled");
}

#[test]
fn a_task_that_waits_for_its_turn_is_one_and_can_be_stopped() {
    let served = Served::configured("[tool.\"app:countdown\"]\nconcurrency = 1\n");
    let key = served.key("local", "call");
    let first = named(&counts(&served, &key, 50));
    let second = named(&counts(&served, &key, 51));
    let status = |task: &str| result(&served.ask(&about(&key, "tasks/get", task)))["status"].clone();
    assert_eq!((status(&first), status(&second)), (json!("working"), json!("working")));
    assert_eq!(served.home.journal().len(), 1, "the second one has no row yet");
    result(&served.ask(&about(&key, "tasks/cancel", &second)));
    until(|| status(&second) == "cancelled");
    assert_eq!(status(&first), "working");
}

/// Calls with these arguments wait for a yes, which comes from elsewhere.
fn approved(served: &Served, key: &str, seconds: u32) {
    let asked = counts(served, key, seconds);
    assert!(text(&asked).contains("waits for approval"), "{asked}");
    let call = served.home.journal()[0]["id"].as_str().unwrap().to_owned();
    served.home.run_own(&["approvals", "approve", &call]).ended(0);
}

#[test]
fn a_long_call_that_was_approved_goes_on_as_a_task_and_can_be_stopped() {
    let rule = "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"app:countdown\"\nreason = \"to see\"\n";
    let served = Served::configured(rule);
    let key = served.key("local", "call");
    approved(&served, &key, 2);
    let task = named(&counts(&served, &key, 2));
    let get = |task: &str| result(&served.ask(&about(&key, "tasks/get", task)));
    until(|| get(&task)["status"] == "completed");
    assert_eq!(get(&task)["result"]["content"][0]["text"], "lift-off");

    approved(&served, &key, 60);
    let task = named(&counts(&served, &key, 60));
    result(&served.ask(&about(&key, "tasks/cancel", &task)));
    until(|| get(&task)["status"] == "cancelled");
    // A short one is told at once.
    approved(&served, &key, 0);
    assert_eq!(text(&counts(&served, &key, 0)), "lift-off");
}

/// What was approved and waits for its place has no row of its own that says so; a process that ends then leaves it parked.
#[test]
fn a_parked_task_says_what_it_waits_for() {
    let rule = "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"app:countdown\"\nreason = \"to see\"\n\
                [tool.\"app:countdown\"]\nconcurrency = 1\n";
    let mut served = Served::configured(rule);
    let key = served.key("local", "call");
    approved(&served, &key, 60);
    let first = named(&counts(&served, &key, 60));
    approved(&served, &key, 2);
    let second = named(&counts(&served, &key, 2));
    let status =
        |served: &Served, task: &str| result(&served.ask(&about(&key, "tasks/get", task)))["status"].clone();
    assert_eq!((status(&served, &first), status(&served, &second)), (json!("working"), json!("working")));
    served.dies();
    served.starts_again();
    let told = result(&served.ask(&about(&key, "tasks/get", &second)));
    assert_eq!((&told["status"], &told["result"]["isError"]), (&json!("completed"), &json!(true)), "{told}");
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("make the same call again"), "{told}");
    until(|| status(&served, &first) == "failed");
    let task = named(&counts(&served, &key, 2));
    until(|| status(&served, &task) == "completed");
    assert_eq!(served.home.journal().len(), 2, "it is the same call");
}
