//! The tools that reach into this machine: for the local project, and for others while they are told so.

use serde_json::json;

use super::served::Served;

#[test]
fn the_machine_is_open_to_other_projects_as_long_as_they_are_told_so() {
    let served = Served::new();
    served.project("shop");
    let (ours, theirs) = (served.key("local", "read,call"), served.key("shop", "read,call"));
    let has = |key: &str| {
        served.get("/v1/tools?all=true&limit=200", key).is(200).body.contains("\"builtin:file_write\"")
    };
    let write = || served.call(&theirs, "file_write", json!({"path": "note.txt", "content": "hello"}));
    assert!(has(&ours) && !has(&theirs));
    write().is(404);
    served.home.run(&["projects", "set", "shop", "--host-tools", "on"]).ended(0);
    assert!(has(&theirs));
    let written = write().is(200).json();
    assert_eq!(written["outcome"], "done", "{written}");
    let note = served.home.path().join("workspaces/shop/note.txt");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "hello", "each project has a workspace of its own");
    assert_eq!(
        served.call(&ours, "file_read", json!({"path": "note.txt"})).is(200).json()["outcome"],
        "failed"
    );
    served.home.run(&["projects", "set", "shop", "--host-tools", "off"]).ended(0);
    std::fs::remove_file(&note).unwrap();
    write().is(404);
    assert!(!note.exists() && !has(&theirs) && has(&ours));
}
