//! Entries of servers: what is said about them, and what is refused.

use serde_json::json;

use super::{folder, found, home, python};

#[test]
fn an_entry_is_kept_shown_switched_and_removed() {
    let home = home();
    assert!(home.run(&["mcp"]).ended(0).err.contains("no server yet"));
    let script = found(&folder().join("hostile.py"));
    let words =
        ["mcp", "add", "calm", "--no-start", "--env", "MODE=a b", "--json", "--", &python(), &script, "x y"];
    let added = home.run(&words).ended(0).json();
    assert_eq!((&added["state"], &added["reached"]["profile"]), (&json!("never_seen"), &json!("workspace")));
    assert!(added["reached"]["command"].as_str().unwrap().starts_with('/'), "where it was found: {added}");
    assert!(format!("{:?}", home.run(&words).ended(2)).contains("--replace"), "no entry is lost by mistake");
    let shown = home.run(&["mcp", "show", "calm"]).ended(0).out;
    assert!(shown.contains(&format!("{script} 'x y'")) && shown.contains("MODE=a b"), "{shown}");

    home.run(&["mcp", "disable", "calm"]).ended(0);
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json()[0]["state"], "disabled");
    home.run(&["mcp", "test", "calm"]).ended(0);
    home.run(&["call", "mcp:calm:work", "--yes"]).ended(5);
    home.run(&["mcp", "enable", "calm"]).ended(0);
    assert_eq!(home.run(&["call", "mcp:calm:work", "--yes"]).ended(0).out, "ok\n");
    home.run(&["tools", "disable", "mcp:calm:work"]).ended(0);
    home.run(&["call", "mcp:calm:work", "--yes"]).ended(3);

    home.run(&["mcp", "remove", "calm"]).ended(0);
    home.run(&["mcp", "show", "calm"]).ended(5);
    home.run(&["call", "mcp:calm:work", "--yes"]).ended(5);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let home = home();
    for (words, why) in [
        (&["a b", "--", "true"][..], "a name has"),
        (&["x"][..], "say which server"),
        (&["x", "--url", "ftp://x.example"][..], "https://"),
        (&["x", "--url", "https://ann:pw@x.example"][..], "password"),
        (&["x", "--profile", "wide-open", "--", "true"][..], "no profile"),
        (&["x", "--", "no-such-program-anywhere"][..], "no program"),
        (&["x", "--env", "API_TOKEN=abcdefgh12345", "--", "true"][..], "secret:NAME"),
        (&["x", "--env", "novalue", "--", "true"][..], "NAME=VALUE"),
    ] {
        let refused = home.run(&[&["mcp", "add"][..], words].concat()).ended(2);
        assert!(refused.err.contains(why), "{words:?}: {refused:?}");
    }
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json(), json!([]));
    for command in ["show", "remove", "enable", "disable", "test", "logs", "review"] {
        assert!(home.run(&["mcp", command, "nobody"]).ended(5).err.contains("no server"), "{command}");
    }
}
