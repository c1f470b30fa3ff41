//! `toolroom trust`: what is shown, what is asked, what is recorded, and how it is taken back.

use serde_json::{Value, json};

use crate::project::{Project, finish_in};
use crate::pty::{Pty, PtySession, Stdout};

const LENIENT: &str = "[policy]\npreset = \"open\"\n[tool.lottery]\nrate = \"9/h\"\n\
                       [[rule]]\nid = \"free\"\neffect = \"allow\"\ntool = \"publish_*\"\nwhen = \"args.text == 'x'\"\n";

fn lenient() -> Project {
    let project = Project::new("");
    project.write(LENIENT);
    project
}

/// Whether the file of the project counts in full now.
fn is_trusted(project: &Project) -> bool {
    let shown = project.run(&["config", "show", "policy.preset", "--json"]).ended(0).json();
    let document = project.run(&["config", "path", "--json"]).ended(0).json();
    let trusted = document["project_file"]["trusted"] == true;
    assert_eq!(shown["settings"][0]["value"] == "open", trusted, "{shown} {document}");
    trusted
}

/// A user who runs `toolroom trust` at a terminal.
fn asked(project: &Project, seat: Pty) -> PtySession {
    let mut command = project.home.command(&["trust"]);
    seat.starts(command.current_dir(project.folder()), Stdout::Terminal)
}

fn list(project: &Project) -> Value {
    project.run(&["trust", "--list", "--json"]).ended(0).json()
}

#[test]
fn what_it_would_allow_is_shown_before_it_is_trusted() {
    let project = lenient();
    let file = project.file().display().to_string();
    let ran = project.run(&["trust", "--yes"]).ended(0);
    assert_eq!(
        ran.err,
        format!(
            "{file} would be allowed to set:\n  \
             policy.preset = \"open\" (more lenient than \"balanced\")\n  \
             rule.free = allow publish_* when args.text == 'x' (only a trusted file may allow)\n  \
             tool.lottery.rate = \"9/h\" (replaces the current limit, even if that is stricter)\n\
             3 in total, until the file changes; settings that ask, deny or narrow need no trust\n\
             Trusted {file}; undo with `toolroom trust --revoke`\n"
        )
    );
    assert!(is_trusted(&project));
    let again = project.run(&["trust"]).ended(0);
    assert_eq!(again.err, format!("{file} is already trusted\n"));
    let document = project.run(&["trust", "--json"]).ended(0).json();
    assert_eq!((&document["trusted"], &document["path"]), (&json!(true), &json!(file)));
    assert_eq!(document["allows"].as_array().unwrap().len(), 3);
}

#[test]
fn without_a_terminal_a_yes_has_to_be_said_beforehand() {
    let project = lenient();
    let ran = project.run(&["trust"]).ended(2);
    assert!(
        ran.err.contains("policy.preset = \"open\"") && ran.err.contains("`toolroom trust --yes`"),
        "{ran:?}"
    );
    assert_eq!(project.run(&["trust", "--json"]).ended(2).json()["error"]["kind"], "usage");
    assert!(!is_trusted(&project));
    assert_eq!(list(&project), json!([]));
}

#[test]
fn a_person_is_asked_and_only_a_yes_is_one() {
    for (typed, code) in [("y\n", 0), ("Yes\n", 0), ("n\n", 3), ("\n", 3), ("yess\n", 3), ("\u{4}", 3)] {
        let project = lenient();
        let mut sitting = asked(&project, Pty::new(80));
        sitting.sees("[y/N]");
        sitting.types(typed);
        let left = sitting.leaves().ended(code);
        assert_eq!(is_trusted(&project), code == 0, "{typed:?}: {left:?}");
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let project = lenient();
    let seat = Pty::new(80);
    seat.types_ahead("y\ny\n");
    let mut sitting = asked(&project, seat);
    sitting.sees("[y/N]");
    sitting.types("n\n");
    sitting.leaves().ended(3);
    assert!(!is_trusted(&project));
}

#[test]
fn what_is_trusted_is_what_was_shown_and_not_what_came_after() {
    let project = lenient();
    let mut sitting = asked(&project, Pty::new(80));
    sitting.sees("[y/N]");
    project.write("[redaction]\npatterns = false\n");
    sitting.types("y\n");
    sitting.leaves().ended(0);
    assert_eq!(list(&project)[0]["state"], "changed since");
    assert!(!is_trusted(&project));
    project.write(LENIENT);
    assert!(is_trusted(&project));
}

#[test]
fn a_byte_more_or_another_place_is_another_file() {
    let project = lenient();
    project.run(&["trust", "--yes"]).ended(0);
    assert!(is_trusted(&project));
    for changed in [format!("{LENIENT}\n"), LENIENT.replace("9/h", "8/h"), format!("\u{feff}{LENIENT}")] {
        project.write(&changed);
        assert!(!is_trusted(&project), "{changed:?}");
        assert_eq!(list(&project)[0]["state"], "changed since");
    }
    project.write(LENIENT);
    assert!(is_trusted(&project), "the content counts, not the time");

    let below = project.folder().join("copy");
    std::fs::create_dir(&below).unwrap();
    std::fs::copy(project.file(), below.join("toolroom.toml")).unwrap();
    let preset = || {
        let command = project.home.command(&["config", "show", "policy.preset"]);
        finish_in(command, &below).ended(0).out
    };
    assert_eq!(preset(), "policy.preset = \"balanced\"\n", "a copy");
    std::fs::remove_file(below.join("toolroom.toml")).unwrap();
    assert_eq!(preset(), "policy.preset = \"open\"\n", "the file above");
    std::fs::hard_link(project.file(), below.join("toolroom.toml")).unwrap();
    assert_eq!(preset(), "policy.preset = \"balanced\"\n", "the same file under another name");
}

#[test]
fn trust_is_listed_and_taken_back() {
    let project = lenient();
    let none = project.run(&["trust", "--list"]).ended(0);
    assert!(none.out.is_empty() && none.err.contains("No trusted project files"), "{none:?}");
    project.run(&["trust", "--revoke"]).ended(5);
    let trusted = || drop(project.run(&["trust", "--yes"]).ended(0));

    trusted();
    let listed = project.run(&["trust", "--list"]).ended(0).out;
    assert!(listed.trim_end().ends_with(&project.file().display().to_string()), "{listed}");
    std::fs::remove_file(project.file()).unwrap();
    assert!(project.run(&["trust", "--list"]).ended(0).out.contains("toolroom.toml  gone"));
    project.run(&["trust", "--revoke"]).ended(5);
    let file = project.file().display().to_string();
    let ran = project.run(&["trust", "--revoke", &file]).ended(0);
    assert_eq!(ran.err, format!("No longer trusted: {file}\n"));
    assert_eq!(list(&project), json!([]));

    project.write(LENIENT);
    std::fs::create_dir(project.folder().join("below")).unwrap();
    for path in ["", ".", "toolroom.toml", "./below/../toolroom.toml"] {
        trusted();
        let arguments: Vec<&str> =
            ["trust", "--revoke", path].into_iter().filter(|word| !word.is_empty()).collect();
        project.run(&arguments).ended(0);
        assert!(!is_trusted(&project), "{path}");
    }
    trusted();
    let ran = project.run(&["trust", "--revoke", "tolroom.toml"]).ended(5);
    assert!(ran.err.contains(&format!("did you mean `{file}`?")), "{ran:?}");
    assert!(is_trusted(&project));
}

#[test]
fn a_file_that_allows_nothing_needs_no_trust() {
    let project = Project::new("");
    project.write(
        "[policy]\npreset = \"careful\"\n[[rule]]\nid = \"no\"\neffect = \"deny\"\ntool = \"lottery\"\n",
    );
    let ran = project.run(&["trust", "--yes"]).ended(0);
    assert!(ran.err.contains("allows nothing, so it is fully in effect without trust"), "{ran:?}");
    assert!(!project.home.path().join("toolroom.db").exists());
    let document = project.run(&["trust", "--json"]).ended(0).json();
    assert_eq!((&document["trusted"], &document["allows"]), (&json!(false), &json!([])));
    project.run_own(&["call", "lottery"]).ended(3);
}

#[test]
fn a_file_that_is_wrong_or_missing_cannot_be_trusted() {
    let project = Project::new("");
    let ran = project.run(&["trust", "--yes"]).ended(5);
    assert!(ran.err.contains("create one with `toolroom init --project`"), "{ran:?}");
    project.write(format!("{LENIENT}effekt = 1\n"));
    let ran = project.run(&["trust", "--yes"]).ended(2);
    assert!(
        ran.err.contains("toolroom.toml:10: `rule.effekt` is not a known key; did you mean `rule.effect`?"),
        "{ran:?}"
    );
    assert_eq!(list(&project), json!([]));
    // Looking at what is trusted, and taking it back, needs no configuration.
    project.write(LENIENT);
    project.run(&["trust", "--yes"]).ended(0);
    project.write_user_file("[[[");
    assert_eq!(list(&project)[0]["state"], "");
    project.run(&["trust", "--revoke"]).ended(0);
}

#[test]
fn a_file_cannot_hide_what_it_allows() {
    let project = Project::new("");
    let hidden = "args.text == '\u{202e}x\u{200b}\\u001b[2J' or true";
    let rule = format!("id = \"x\"\neffect = \"allow\"\ntool = \"*\"\nwhen = \"{hidden}\"");
    project.write(format!("[[rule]]\n{rule}\n"));
    let ran = project.run(&["trust"]).ended(2);
    assert!(ran.err.contains("\\u{202e}x\\u{200b}\\u{1b}[2J' or true"), "{ran:?}");
    assert!(!ran.err.contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{ran:?}");
}

#[test]
fn a_path_that_is_no_text_is_never_trusted() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new("");
    let odd = project.folder().join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("toolroom.toml"), LENIENT).unwrap();
    let run = |arguments: &[&str]| finish_in(project.home.command(arguments), &odd);
    assert!(run(&["trust", "--yes"]).ended(2).err.contains("is not UTF-8"));
    assert!(run(&["config", "path"]).ended(0).out.contains("not trusted"));
    assert_eq!(run(&["config", "show", "policy.preset"]).ended(0).out, "policy.preset = \"balanced\"\n");
    for arguments in
        [&["config", "path", "--json"][..], &["config", "show", "--json"], &["config", "check", "--json"]]
    {
        run(arguments).ended(0).json();
    }
}
