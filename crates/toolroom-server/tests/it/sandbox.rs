//! `toolroom sandbox` as a command.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::home::{Home, Ran, binary, ran};

/// A folder that a sandboxed program may change, also if the tests run as root.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    if is_root {
        std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
    }
    folder
}

fn command(home: &Home, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = home.command(&[&["sandbox"], arguments].concat());
    command.current_dir(folder);
    command
}

fn run(home: &Home, folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(home, folder, arguments).output().unwrap())
}

#[test]
fn without_a_command_it_shows_the_guarantees() {
    let (home, here) = (Home::new(), folder());
    let told = run(&home, here.path(), &[]).ended(0);
    assert!(told.out.starts_with("level: namespaces\n"), "{told:?}");
    for word in [
        "files",
        "network",
        "yes: no connection leaves the sandbox",
        "cgroup v2",
        "a watcher of the whole tree",
    ] {
        assert!(told.out.contains(word), "{word}: {told:?}");
    }
    let told = run(&home, here.path(), &["--level", "landlock", "--json"]).ended(0).json();
    assert_eq!(told["level"], "landlock");
    let group = &told["cgroup"];
    assert!(["absent", "not_delegated", "delegated"].map(Into::into).contains(&group["state"]), "{group}");
    assert!(group["meaning"].as_str().unwrap().contains("needed"), "{group}");
    let promises = told["promises"].as_array().unwrap();
    assert!(promises.iter().any(|promise| promise["name"] == "processes" && promise["holds"] == false));
}

#[test]
fn output_and_exit_are_those_of_the_program() {
    let (home, here) = (Home::new(), folder());
    for level in ["namespaces", "landlock"] {
        let script = "echo out; echo err >&2; echo text > file; exit 7";
        let ended = run(&home, here.path(), &["--level", level, "--", "sh", "-c", script]).ended(7);
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("out\n", "err\n"));
        assert_eq!(std::fs::read_to_string(here.path().join("file")).unwrap(), "text\n");
        run(&home, here.path(), &["--level", level, "--", "sh", "-c", "kill -TERM $$"]).ended(143);
        let arguments = ["--level", level, "--json", "--", "sh", "-c", "echo out; kill -KILL $$"];
        let told = run(&home, here.path(), &arguments).ended(137).json();
        assert_eq!(
            (&told["signal"], &told["stdout"], &told["level"]),
            (&9.into(), &"out\n".into(), &level.into())
        );
        let late =
            run(&home, here.path(), &["--level", level, "--timeout", "1", "--", "sleep", "600"]).ended(124);
        assert!(late.err.contains("timeout"), "{late:?}");
        let mut piped = command(&home, here.path(), &["--level", level, "--stdin", "--", "cat"]);
        piped.stdin(std::fs::File::open(here.path().join("file")).unwrap());
        assert_eq!(ran(piped.output().unwrap()).ended(0).out, "text\n");
    }
}

#[test]
fn profiles_are_enforced() {
    let (home, here, other) = (Home::new(), folder(), folder());
    std::fs::write(other.path().join("secret"), "canary").unwrap();
    let secret = other.path().join("secret").display().to_string();
    let cat = ["--", "cat", secret.as_str()];
    assert!(!run(&home, here.path(), &cat).out.contains("canary"));
    assert_eq!(run(&home, here.path(), &[&["--profile", "off"], &cat[..]].concat()).ended(0).out, "canary");
    run(&home, here.path(), &["--profile", "read-only", "--", "touch", "there"]).ended(1);
    assert!(!here.path().join("there").exists());
    let elsewhere = other.path().display().to_string();
    run(&home, here.path(), &["--folder", &elsewhere, "--", "touch", "there"]).ended(0);
    assert!(other.path().join("there").exists());
}

#[test]
fn an_unavailable_level_is_refused_and_nothing_runs() {
    let (home, here) = (Home::new(), folder());
    let touch = ["--", "/usr/bin/touch", "there"];
    let refused = |arguments: &[&str], code: i32, says: &str| {
        let told = run(&home, here.path(), &[arguments, &touch[..]].concat()).ended(code);
        assert!(told.err.contains(says), "{says}: {told:?}");
        assert!(!here.path().join("there").exists());
    };
    refused(&["--profile", "none"], 2, "there is no profile `none`");
    refused(&["--profile", "network:"], 2, "names no host");
    refused(&["--profile", "network:*.com"], 2, "open each of them");
    refused(&["--level", "strong"], 2, "expected `namespaces` or `landlock`");
    refused(&["--level", "landlock", "--profile", "network:example.com"], 3, "only with bubblewrap");
    refused(&["--folder", "/usr"], 3, "as the system is in it");
    run(&home, here.path(), &["--", "no-such-program"]).ended(5);
    let empty = TempDir::new().unwrap();
    let mut without =
        command(&home, here.path(), &["--level", "namespaces", "--", "/usr/bin/touch", "there"]);
    let told = ran(without.env("PATH", empty.path()).output().unwrap()).ended(3);
    assert!(told.err.contains("bubblewrap is not installed"), "{told:?}");
    assert!(!here.path().join("there").exists());
}

#[test]
fn a_toolroom_inside_cannot_answer_questions_of_the_one_outside() {
    let (home, here) = (Home::new(), folder());
    home.run(&["tools", "enable", "shell-exec"]).ended(0);
    let pending = home.run(&["call", "shell-exec", "command=rm", "args=[\"-r\", \"x\"]", "--json"]).ended(4);
    let call = pending.call_id();
    std::fs::copy(binary(), here.path().join("toolroom")).unwrap();
    // The user may do this to the files; only the sandbox prevents it.
    let opened = Command::new("chmod").args(["-R", "a+rwX"]).arg(home.path()).status().unwrap();
    assert!(opened.success());
    let place = home.path().display();
    let script = format!(
        "export TOOLROOM_HOME={place}; ./toolroom approvals approve {call}; ./toolroom log --json; ls {place}"
    );
    for level in ["namespaces", "landlock"] {
        let told = run(&home, here.path(), &["--level", level, "--", "sh", "-c", &script]);
        assert!(!told.out.contains("shell-exec"), "{told:?}");
        let waiting = home.run(&["approvals", "--json"]).ended(0);
        assert!(waiting.out.contains(&call), "{waiting:?}");
    }
    // Outside it works.
    let approved = Command::new(here.path().join("toolroom"))
        .args(["approvals", "approve", &call])
        .env("TOOLROOM_HOME", home.path())
        .output()
        .unwrap();
    assert!(approved.status.success(), "{approved:?}");
}

#[test]
fn doctor_reports_how_well_programs_are_confined() {
    let home = Home::new();
    let report = home.run(&["doctor", "--json"]).json();
    let text = report["checks"]["sandbox"].to_string();
    assert!(text.contains("level `namespaces`"), "{text}");
    let empty = TempDir::new().unwrap();
    let weaker = ran(home.command(&["doctor", "--json"]).env("PATH", empty.path()).output().unwrap());
    let text = weaker.json()["checks"]["sandbox"].to_string();
    assert!(text.contains("level `landlock`") && text.contains("bubblewrap is not installed"), "{text}");
}

#[test]
fn a_level_is_refused_without_confinement() {
    let (home, here) = (Home::new(), folder());
    let refused =
        run(&home, here.path(), &["--profile", "off", "--level", "namespaces", "--", "true"]).ended(2);
    assert!(refused.err.contains("leave out `--level`"), "{refused:?}");
    run(&home, here.path(), &["--profile", "off", "--", "true"]).ended(0);
}
