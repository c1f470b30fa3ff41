//! What cannot count is told: files in the project's place that are none of ours, and variables that are no text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{chown, symlink};

use rustix::fs::{CWD, FileType, mknodat};

use crate::home::{Home, finished};
use crate::project::Project;

/// An unused user id.
const STRANGER: u32 = 54_321;

/// The four places where it is told, and what it is called there.
#[track_caller]
fn is_told(project: &Project, why: &str, remedy: &str) {
    let told = format!("{}: is ignored: {why}", project.file().display());
    let call = project.run(&["call", "calculator", "expression=6*7"]).ended(0);
    assert!(call.out == "42\n" && call.err.contains(&format!("warning: {told}")), "{call:?}");
    let places = project.run(&["config", "path"]).ended(0);
    assert!(places.out.contains("project file  none") && places.err.contains(&told), "{places:?}");
    let places = project.run(&["config", "path", "--json"]).ended(0).json();
    assert_eq!(places["passed_over"][0], project.file().to_str().unwrap());
    assert!(project.run(&["config", "check"]).ended(0).err.contains(&format!("warning: {told}")));
    let checked = project.run(&["config", "check", "--json"]).ended(0).json();
    assert!(checked["warnings"][0]["message"].as_str().unwrap().contains(why), "{checked}");
    let report = project.run(&["doctor", "--json"]).json();
    let config = &report["checks"]["config"];
    assert_eq!(config["code"], "config.passed_over", "{report}");
    assert!(config["details"].as_str().unwrap().contains(why), "{config}");
    assert_eq!(config["remedy"], remedy.replace("FILE", &format!("'{}'", project.file().display())));
    assert!(project.run(&["trust", "--yes"]).ended(5).err.contains(&told));
}

#[test]
fn a_project_file_that_is_none_is_told_wherever_it_would_count() {
    let away = "mv FILE FILE.other";
    let project = Project::new("");
    symlink("missing.toml", project.file()).unwrap();
    is_told(&project, "it is a broken link", away);
    let project = Project::new("");
    std::fs::create_dir(project.file()).unwrap();
    is_told(&project, "it is not a regular file", away);
    let project = Project::new("");
    mknodat(CWD, project.file(), FileType::Fifo, 0o600.into(), 0).unwrap();
    is_told(&project, "it is not a regular file", away);
}

#[test]
fn a_project_file_of_another_user_is_ignored_with_a_warning() {
    let project = Project::new("");
    project.write("[policy]\npreset = \"careful\"\n");
    // Only root can give files away; the host tests the search for other users.
    if chown(project.file(), Some(STRANGER), None).is_err() {
        return;
    }
    is_told(&project, "it or its folder belongs to another user (54321)", "sudo chown \"$(id -u)\" FILE");
    let preset = project.run(&["config", "show", "policy.preset"]).ended(0).out;
    assert_eq!(preset, "policy.preset = \"balanced\"\n");
}

#[test]
fn a_variable_that_is_no_text_is_an_error_and_not_unset() {
    let home = Home::new();
    for arguments in [&["call", "calculator", "expression=1"][..], &["config", "check"], &["log"]] {
        let mut command = home.command(arguments);
        command.env("TOOLROOM_POLICY_PRESET", OsStr::from_bytes(b"careful\xff"));
        let ran = finished(command.spawn().unwrap()).ended(2);
        assert!(
            ran.err.contains(
                "TOOLROOM_POLICY_PRESET: is not UTF-8; set it again, or `unset TOOLROOM_POLICY_PRESET`"
            ),
            "{ran:?}"
        );
    }
    assert!(!home.path().join("toolroom.db").exists());
    let mut command = home.command(&["doctor", "--json"]);
    command.env("TOOLROOM_POLICY_PRESET", OsStr::from_bytes(b"\xff"));
    let report = finished(command.spawn().unwrap()).ended(1).json();
    assert_eq!(report["checks"]["config"]["code"], "config.invalid", "{report}");
}
