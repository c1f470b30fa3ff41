//! `[retention]` and `toolroom prune`: old data is deleted; pending calls and calls that still count stay.

use rustix::process::Signal;
use serde_json::json;

use crate::home::{Home, ran};
use crate::processes::until;
use crate::serve::Served;

/// Makes everything in a toolroom as old as this many days.
fn age(home: &Home, days: u64) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); n = int(sys.argv[2]) * 86400 * 10**6\n\
        c.execute('UPDATE calls SET asked_at = asked_at - ?, begun_at = begun_at - ?, ended_at = ended_at - ?', (n, n, n))\n\
        c.execute('UPDATE artifacts SET kept_at = kept_at - ?', (n,))\n\
        c.execute('UPDATE conversations SET updated_at = updated_at - ?, created_at = created_at - ?', (n, n))\n\
        c.commit(); c.close()";
    let mut python = std::process::Command::new("python3");
    python.args(["-c", script]).arg(home.path().join("toolroom.db")).arg(days.to_string());
    assert!(python.status().unwrap().success());
}

/// Calls, a whole result, a conversation, and a call that waits for an answer.
fn furnished() -> Home {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=6*7"]).ended(0);
    home.run_own(&["call", "repeat", "text=xyz", "times=20000"]).ended(0);
    home.run(&["chat", "what is 17*23?"]).ended(0);
    let note = format!("path={}", home.path().join("notes").display());
    home.run_own(&["call", "publish_note", &note, "text=hello"]).ended(4);
    home
}

fn configure(home: &Home, text: &str) {
    std::fs::write(home.path().join("toolroom.toml"), text).unwrap();
}

#[test]
fn what_is_older_than_configured_goes_and_what_waits_stays() {
    let home = furnished();
    let calls = home.journal().len();
    let unsaid = home.run(&["prune"]).ended(2);
    assert!(unsaid.err.contains("[retention]"), "{unsaid:?}");
    configure(&home, "[retention]\njournal = \"90d\"\nartifacts = \"30d\"\nconversations = \"365d\"\n");
    let none = home.run(&["prune", "--json"]).ended(0).json();
    assert_eq!(
        none["projects"],
        json!([{"project": "local", "calls": 0, "artifacts": 0, "conversations": 0, "bytes": 0}])
    );

    age(&home, 40);
    let preview = home.run(&["prune", "--dry-run", "--json"]).ended(0).json();
    assert_eq!(
        (&preview["projects"][0]["artifacts"], &preview["projects"][0]["calls"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(preview["projects"][0]["bytes"], json!(60_000), "what `repeat` said");
    let told = home.run(&["prune"]).ended(0);
    assert!(told.out.contains("1 stored result"), "{told:?}");
    assert_eq!(home.journal().len(), calls, "calls stay without their whole results");

    age(&home, 60);
    let done = home.run(&["prune", "--json"]).ended(0).json();
    assert_eq!(done["projects"][0]["calls"], json!(calls - 1), "{done}");
    assert_eq!(home.journal()[0]["status"], json!("pending"), "what waits for an answer stays");
    assert_eq!(home.run(&["approvals", "--json"]).ended(0).json().as_array().unwrap().len(), 1);
    assert!(home.run(&["conversations"]).ended(0).out.contains("17*23"));
    let said = home.run(&["prune", "--conversations", "90d", "--json"]).ended(0).json();
    assert_eq!(said["projects"][0]["conversations"], json!(1), "{said}");
    assert!(!home.run(&["conversations"]).ended(0).out.contains("17*23"));
}

#[test]
fn calls_that_are_still_counted_always_stay() {
    let home = furnished();
    configure(&home, "[retention]\njournal = \"7d\"\n");
    let short = home.run(&["log"]).ended(2);
    assert!(short.err.contains("retention.journal"), "{short:?}");
    configure(&home, "");
    age(&home, 20);
    let calls = home.journal().len();
    home.run(&["prune", "--journal", "30d"]).ended(0);
    assert_eq!(home.journal().len(), calls, "how often tools are used is counted over 30 days");
    age(&home, 20);
    // As bounded as in the file: what it refuses is no wish here either.
    for (flag, span, bounds) in [
        ("--journal", "0", "from 30d to 36500d, as `retention.journal`"),
        ("--journal", "1d", "from 30d to 36500d"),
        ("--journal", "90", "from 30d to 36500d"),
        ("--journal", "36501d", "from 30d to 36500d"),
        ("--artifacts", "59m", "from 1h to 36500d, as `retention.artifacts`"),
        ("--conversations", "23h", "from 24h to 36500d, as `retention.conversations`"),
    ] {
        let refused = home.run(&["prune", flag, span]).ended(2);
        assert!(refused.err.contains(flag) && refused.err.contains(bounds), "{span}: {refused:?}");
        assert_eq!(home.journal().len(), calls, "{span}");
    }
    home.run(&["prune", "--journal", "30d"]).ended(0);
    assert_eq!(home.journal().len(), 1);
}

#[test]
fn a_project_that_is_not_trusted_cannot_have_things_deleted() {
    let home = furnished();
    age(&home, 400);
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("toolroom.toml"), "[retention]\njournal = \"30d\"\n").unwrap();
    let refused = ran(home.command(&["prune"]).current_dir(&project).output().unwrap()).ended(2);
    assert!(refused.err.contains("no retention period is set"), "{refused:?}");
}

#[test]
fn a_server_deletes_what_is_old_when_it_starts() {
    let home = furnished();
    age(&home, 400);
    configure(&home, "[retention]\njournal = \"90d\"\nconversations = \"90d\"\n");
    let served = Served::at(home);
    until(|| served.home.journal().len() == 1);
    assert!(!served.home.run(&["conversations"]).ended(0).out.contains("17*23"));
}

#[test]
fn a_server_that_runs_keeps_things_as_long_as_its_configuration_says_now() {
    let home = furnished();
    age(&home, 400);
    let served = Served::at(home);
    let before = served.home.journal().len();
    assert!(before > 1, "{before}");
    configure(&served.home, "[retention]\njournal = \"90d\"\nconversations = \"90d\"\n");
    served.signal(Signal::HUP);
    until(|| served.home.journal().len() == 1);
}
