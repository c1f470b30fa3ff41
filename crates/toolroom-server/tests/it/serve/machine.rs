//! The tools that reach into this machine: for the local project, and for others while they are told so.

use serde_json::json;

use super::served::Served;

#[test]
fn the_machine_is_open_to_other_projects_as_long_as_they_are_told_so() {
    let served = Served::configured("[policy]\npreset = 'open'\n");
    served.project("shop");
    let (ours, theirs) = (served.key("local", "read,call"), served.key("shop", "read,call"));
    let has = |key: &str| {
        served.get("/v1/tools?all=true&limit=200", key).is(200).body.contains("\"builtin:write_file\"")
    };
    let write = || served.call(&theirs, "write_file", &json!({"path": "note.txt", "content": "hello"}));
    assert!(has(&ours) && !has(&theirs));
    write().is(404);
    served.home.run(&["projects", "set", "shop", "--host-tools", "on"]).ended(0);
    assert!(has(&theirs));
    let written = write().is(200).json();
    assert_eq!(written["outcome"], "done", "{written}");
    let note = served.home.path().join("workspaces/shop/note.txt");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "hello", "each project has a workspace of its own");
    let read = served.call(&ours, "read_file", &json!({"path": "note.txt"})).is(200).json();
    assert_eq!(read["outcome"], "failed", "{read}");
    served.home.run(&["projects", "set", "shop", "--host-tools", "off"]).ended(0);
    std::fs::remove_file(&note).unwrap();
    write().is(404);
    assert!(!note.exists() && !has(&theirs) && has(&ours));
}

#[test]
fn what_was_approved_does_not_run_once_the_machine_is_closed() {
    let served = Served::new();
    served.project("shop");
    served.home.run(&["projects", "set", "shop", "--host-tools", "on"]).ended(0);
    let key = served.key("shop", "read,call,approve");
    let call =
        served.call(&key, "write_file", &json!({"path": "note.txt", "content": "hello"})).is(202).json();
    let id = call["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{id}"), &key, &json!({"answer": "once"})).is(200);
    served.home.run(&["projects", "set", "shop", "--host-tools", "off"]).ended(0);
    let resumed = served.send("POST", &format!("/v1/calls/{id}/resume"), &key, &json!({}));
    assert_ne!(resumed.json()["outcome"], "done", "{resumed:?}");
    assert!(!served.home.path().join("workspaces/shop/note.txt").exists());
}
