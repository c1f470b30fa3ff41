//! Malicious project files, before anyone has trusted them.
//!
//! The working folder may come from a stranger, and its `toolroom.toml` with it. So for any content of that file, the same
//! calls must have the same effects as in a folder without one, or fewer. Each row below is such a file. A valid file is
//! compared with no file at all; for an invalid file, every command has to refuse, in time, and change nothing.

use std::fmt::Write;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::home::{Home, Ran};
use crate::project::{Project, finish_in};

/// The owner's settings. The stranger knows all of them.
const OWNERS_FILE: &str = r#"
[tool.lottery]
rate = "1/h"
[tool.countdown]
timeout = "100ms"
[tool.repeat]
result_cap = 500

[[rule]]
id = "never-erase"
effect = "deny"
tool = "erase_notes"

[[rule]]
id = "mirror-by-operator"
effect = "ask"
by = "operator"
tool = "mirror_note"
"#;

/// A secret recognized by its format, and one by its variable name.
const ISSUED_KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const VARIABLE: (&str, &str) = ("SHOP_TOKEN", "horse-battery-staple");

/// The effects of one call of each kind.
#[derive(Debug, PartialEq)]
struct Effects {
    /// `publish_note` asks by default: exit code, and whether anything was written.
    published: (i32, bool),
    /// `erase_notes` is denied by a rule of the owner.
    erased: (i32, bool),
    /// `mirror_note` needs the operator; `--yes` only answers for the caller.
    mirrored: (i32, bool),
    /// How often `lottery` ran in two attempts.
    drawn: usize,
    /// `countdown` exceeds its timeout.
    waited: i32,
    /// Characters of the result of `repeat`.
    shown: usize,
    /// Hours until the question about `publish_note` expires.
    expires: i64,
    /// Whether the journal contains secrets from tool results.
    kept: (bool, bool),
    /// Whether a file outside the workspace was read, and whether one was written there.
    outside: (bool, bool),
    /// Whether a server on this machine was reached.
    reached: bool,
}

/// The effects without a file.
const WITHOUT: Effects = Effects {
    published: (4, false),
    erased: (3, false),
    mirrored: (4, false),
    drawn: 1,
    waited: 124,
    shown: 500,
    expires: 24,
    kept: (false, false),
    outside: (false, false),
    reached: false,
};

/// Makes the calls in a folder.
fn effects(home: &Home, folder: &Path) -> Effects {
    let call = |arguments: &[&str]| {
        let mut command = home.own_tools(&[&["call"], arguments].concat());
        command.env(VARIABLE.0, VARIABLE.1);
        finish_in(command, folder)
    };
    let note = home.path().join("note");
    let write = |tool: &str, more: &[&str]| {
        std::fs::write(&note, "precious").unwrap();
        let path = format!("path={}", note.display());
        let ran = call(&[&[tool, &path], more].concat());
        (ran.code, std::fs::read_to_string(&note).unwrap() != "precious")
    };
    let (published, erased, mirrored) = (
        write("publish_note", &["text=x", "--no-input"]),
        write("erase_notes", &["--yes"]),
        write("mirror_note", &["text=x", "--yes"]),
    );
    let drawn = (0..2).filter(|_| call(&["lottery"]).code == 0).count();
    let waited = call(&["countdown", "seconds=1"]).code;
    let repeated = call(&["repeat", "text=x", "times=3000", "--json"]);
    let shown = repeated.json()["result"].as_str().unwrap().chars().count().next_multiple_of(500);
    call(&["blurt", &format!("text={ISSUED_KEY} and {}", VARIABLE.1)]).ended(0);
    // Before files are read: after that, the provenance guard asks before anything is sent.
    let reached = reached(&call);
    let outside = outside(folder, &call);

    // Without the variable its value is not redacted.
    let look = |arguments: &[&str]| finish_in(home.own_tools(arguments), folder).ended(0);
    let questions = look(&["approvals", "list", "--json"]).json();
    let micros = |question: &Value, key: &str| question[key].as_i64().unwrap();
    let question =
        questions.as_array().unwrap().iter().find(|question| question["tool"] == "app:publish_note");
    let expires = question.map(|question| micros(question, "expires_at") - micros(question, "asked_at"));
    let journal = look(&["log", "--json"]).out;
    Effects {
        published,
        erased,
        mirrored,
        drawn,
        waited,
        shown,
        expires: expires.map_or(0, |micros| micros / 3_600_000_000),
        kept: (journal.contains(ISSUED_KEY), journal.contains(VARIABLE.1)),
        outside,
        reached,
    }
}

/// Stands for the working folder, which the owner has not opened to tools.
const HERE: &str = "@HERE@";

fn outside(folder: &Path, call: &impl Fn(&[&str]) -> Ran) -> (bool, bool) {
    let (letter, written) = (folder.join("letter"), folder.join("written"));
    std::fs::write(&letter, "dear diary").unwrap();
    let read = call(&["read_file", &format!("path={}", letter.display())]).out.contains("dear diary");
    call(&["write_file", &format!("path={}", written.display()), "content=x", "--yes"]);
    (read, std::fs::remove_file(&written).is_ok())
}

fn reached(call: &impl Fn(&[&str]) -> Ran) -> bool {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("url=http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    call(&["web_fetch", &url, "--timeout", "1"]);
    listener.accept().is_ok()
}

/// A readable file without effect.
fn changes_nothing(name: &str, text: impl AsRef<str>) {
    let project = Project::new(OWNERS_FILE);
    lay(&project, text.as_ref());
    assert_eq!(effects(&project.home, &project.folder()), WITHOUT, "{name}");
}

/// Writes a file that may refer to its own folder.
fn lay(project: &Project, text: &str) {
    project.write(text.replace(HERE, project.folder().to_str().unwrap()));
}

/// A file that stops every command before anything is created.
fn is_refused(name: &str, says: &str, text: impl AsRef<[u8]>) {
    let project = Project::new(OWNERS_FILE);
    project.write(text);
    refuses(name, says, &project);
}

fn refuses(name: &str, says: &str, project: &Project) {
    let note = project.folder().join("note");
    let path = format!("path={}", note.display());
    for arguments in [
        &["call", "append_note", &path, "text=x"][..],
        &["call", "calculator", "expression=1", "--json"],
        &["log"],
        &["trust", "--yes"],
    ] {
        let ran = project.run_own(arguments);
        let told = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 2, "{name}: {arguments:?}: {ran:?}");
        assert!(told.contains("toolroom.toml") && told.contains(says), "{name}: {arguments:?}: {ran:?}");
        assert!(!told.contains('\u{1b}') && told.len() < 100_000, "{name}: {} bytes", told.len());
    }
    assert!(!note.exists() && !project.home.path().join("toolroom.db").exists(), "{name} had an effect");
}

#[test]
fn the_baseline_is_a_folder_without_a_file() {
    let project = Project::new(OWNERS_FILE);
    assert_eq!(effects(&project.home, &project.folder()), WITHOUT);
}

#[test]
fn no_rule_of_a_stranger_allows_anything() {
    let rule = |rest: &str| format!("[[rule]]\nid = 'x'\neffect = 'allow'\n{rest}\n");
    changes_nothing("a rule for one tool", rule("tool = 'app:publish_note'"));
    changes_nothing("a rule for every tool", rule("tool = '*'"));
    changes_nothing("a rule with a condition", rule("tool = '*'\nwhen = 'true'"));
    changes_nothing(
        "a rule that would lift the guard of provenance",
        rule("tool = '*'\nwhen = 'provenance.private or not provenance.private'"),
    );
    changes_nothing("a rule in one line", "rule = [{ id = 'x', effect = 'allow', tool = '*' }]");
    changes_nothing(
        "a question that the caller may answer, beside that of the operator",
        "[[rule]]\nid = 'x'\neffect = 'ask'\nby = 'caller'\ntool = 'mirror_note'\n",
    );
}

#[test]
fn no_setting_of_a_stranger_loosens_anything() {
    changes_nothing("a lenient preset", "[policy]\npreset = 'open'");
    changes_nothing("the same in other words", "\"pol\\u0069cy\" = { 'preset' = 'open' }");
    changes_nothing("more time for a question", "[policy]\napproval_expires = '30d'");
    changes_nothing("secrets in the open", "[redaction]\npatterns = false\nenvironment = false");
}

#[test]
fn no_door_of_a_stranger_opens() {
    changes_nothing("another workspace", "workspace = '@HERE@'");
    changes_nothing("a folder to read", "[files]\nread = ['@HERE@']");
    changes_nothing("a folder to write", "[files]\nwrite = ['@HERE@', '/']");
    changes_nothing("this machine", "[network]\nopen = ['localhost', '127.0.0.1', '127.0.0.0/8']");
    changes_nothing("this machine for one tool", "[tool.web_fetch]\nopen = ['127.0.0.1']");
    changes_nothing("this machine for every tool", "[tool.'*']\nopen = ['127.0.0.0/8']");
}

#[test]
fn no_limit_of_a_stranger_widens_anything() {
    changes_nothing("a higher rate", "[tool.lottery]\nrate = '1000000/s'");
    changes_nothing("no rate", "[tool.lottery]\nrate = []\n[tool.'app:lottery']\nrate = []");
    changes_nothing("no rate of any tool", "[tool.'*']\nrate = []");
    changes_nothing("more time", "[tool.countdown]\ntimeout = '24h'\n[tool.'app:count*']\ntimeout = '1h'");
    changes_nothing(
        "longer results",
        "[tool.repeat]\nresult_cap = 10_000_000\n[tool.'*']\nresult_cap = 9_000",
    );
    changes_nothing("more at a time", "[tool.'*']\nconcurrency = 10_000");
}

/// Everything a stranger could try.
const EVERYTHING: &str = "[files]\nwrite = ['@HERE@']\n[network]\nopen = ['127.0.0.1']\n[policy]\npreset = 'open'\napproval_expires = '30d'\n\
    [redaction]\npatterns = false\nenvironment = false\n\
    [tool.'*']\nrate = []\ntimeout = '24h'\nresult_cap = 10_000_000\nconcurrency = 10_000\n\
    [tool.lottery]\nrate = ['1000000/s', '1000000/day project']\n\
    [[rule]]\nid = 'a'\neffect = 'allow'\ntool = '*'\n\
    [[rule]]\nid = 'b'\neffect = 'ask'\nby = 'caller'\ntool = 'mirror_note'\n";

#[test]
fn everything_at_once_in_odd_spellings_has_no_more_effect() {
    changes_nothing("everything", EVERYTHING);
    changes_nothing("with a byte order mark", format!("\u{feff}{EVERYTHING}"));
    changes_nothing("with other line ends", EVERYTHING.replace('\n', "\r\n"));
}

/// Shows that the calls above would have revealed an effect. The owner's denials and operator rules stay in force.
#[test]
fn the_same_file_has_its_effects_once_it_is_trusted() {
    let check = |text: &str, expected: Effects| {
        let project = Project::new(OWNERS_FILE);
        lay(&project, text);
        project.run(&["trust", "--yes"]).ended(0);
        assert_eq!(effects(&project.home, &project.folder()), expected);
    };
    let wide = Effects { published: (0, true), drawn: 2, waited: 0, shown: 3_000, expires: 0, ..WITHOUT };
    check(EVERYTHING, Effects { kept: (true, true), outside: (true, true), reached: true, ..wide });
    check("[files]\nread = ['@HERE@']", Effects { outside: (true, false), ..WITHOUT });
    check("[tool.web_fetch]\nopen = ['127.0.0.1']", Effects { reached: true, ..WITHOUT });
    check("[policy]\napproval_expires = '30d'", Effects { expires: 30 * 24, ..WITHOUT });
}

#[test]
fn stricter_settings_apply_at_once() {
    let project = Project::new(OWNERS_FILE);
    project.write(
        "[policy]\npreset = 'careful'\napproval_expires = '1h'\n[tool.lottery]\nrate = '1/day'\n\
         [[rule]]\nid = 'x'\neffect = 'deny'\ntool = 'mirror_note'\n",
    );
    let stricter = Effects { mirrored: (3, false), expires: 1, ..WITHOUT };
    assert_eq!(effects(&project.home, &project.folder()), stricter);
}

#[test]
fn an_invalid_file_stops_every_command() {
    is_refused("broken TOML", "syntax error", "[policy\npreset = 'open'");
    is_refused("a key twice", "duplicate key", "[policy]\npreset = 'careful'\npreset = 'open'");
    is_refused("a table twice", "duplicate key", "[policy]\npreset = 'careful'\n[policy]\npreset = 'open'");
    is_refused("an unknown key", "did you mean `policy.preset`?", "[policy]\npresets = 'open'");
    is_refused("a zero byte", "toolroom.toml:1: syntax error", "[policy]\0\npreset = 'open'");
    is_refused("bytes that are no text", "is not UTF-8 from byte 12 on", b"# comment: \xff\xfe".as_slice());
    is_refused("commands for a terminal", "\\u{1b}[2J", "x = \u{1b}[2J\u{1b}]0;owned\u{7}");
    is_refused("10 MB", "is longer than 1048576 bytes", vec![b'#'; 10_000_000]);
    is_refused("a wrong kind of value", "must be a table", "policy = 'open'\nrule = 'allow'");
    is_refused(
        "the name of the owner's rule",
        "is already the id of the rule at ",
        "[[rule]]\nid = 'never-erase'\neffect = 'allow'\ntool = 'erase_notes'\n",
    );
    is_refused(
        "the name of a rule of Toolroom",
        "that prefix is reserved for built-in rules",
        "[[rule]]\nid = 'default.destructive'\neffect = 'allow'\ntool = '*'\n",
    );
    is_refused(
        "a condition that is none",
        "the `when` of rule `x` cannot be used",
        "[[rule]]\nid = 'x'\neffect = 'ask'\ntool = '*'\nwhen = 'true or ('\n",
    );
}

#[test]
fn a_file_that_would_take_forever_is_refused_in_time() {
    let deep = |open: &str, close: &str| format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
    is_refused("lists in lists", "nested more than 64 deep", deep("[", "]"));
    is_refused("tables in tables", "nested more than 64 deep", deep("{a.b=", "}"));
    is_refused("a long path", "nested more than 64 deep", format!("[{}x]", "a.".repeat(500_000)));
    let many = |row: fn(usize) -> String, count: usize| {
        (0..count).fold(String::new(), |mut text, number| {
            write!(text, "{}", row(number)).unwrap();
            text
        })
    };
    is_refused(
        "unknown keys",
        "there are more problems; fix these first",
        many(|number| format!("k{number} = 1\n"), 30_000),
    );
    is_refused("limits", "must have at most 1000", many(|number| format!("[tool.t{number}]\n"), 30_000));
    let rule = |rest: &str| format!("[[rule]]\nid = 'x'\neffect = 'ask'\ntool = 'y'\n{rest}");
    is_refused("examples", "more than 2000 examples", rule(&format!("match = [{}]", "{},".repeat(100_000))));
    let slow = format!("args.x in [{}]", "1,".repeat(4_000));
    is_refused("a condition too long", "the `when` of rule `x`", rule(&format!("when = '{slow}1]'")));
}

#[test]
fn a_folder_or_device_is_not_a_project_file() {
    let mkfifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let check = |name: &str, make: &dyn Fn(&Path)| {
        let project = Project::new(OWNERS_FILE);
        make(&project.file());
        let ran = project.run_own(&["call", "repeat", "text=x", "times=1"]).ended(0);
        assert_eq!(ran.out, "x\n", "{name}");
        assert!(ran.err.starts_with("warning: ") && ran.err.lines().count() == 1, "{name}: {ran:?}");
        assert_eq!(project.run(&["config", "path", "--json"]).ended(0).json()["project_file"], Value::Null);
    };
    check("a pipe nobody writes to", &mkfifo);
    check("a folder", &|path| std::fs::create_dir(path).unwrap());
    check("a link into the void", &|path| symlink("nowhere", path).unwrap());
    check("a link to itself", &|path| symlink(path, path).unwrap());
    check("a device without end", &|path| symlink("/dev/zero", path).unwrap());
    check("a link to a pipe", &|path| {
        mkfifo(&path.with_extension("pipe"));
        symlink(path.with_extension("pipe"), path).unwrap();
    });
}

/// Errors quote the file, so following a link would reveal any file of the user.
#[test]
fn a_link_reveals_nothing_of_its_target() {
    let project = Project::new(OWNERS_FILE);
    let secret = project.home.path().join("credentials");
    std::fs::write(&secret, "password horse battery staple\n").unwrap();
    for target in [secret.as_path(), Path::new("/etc/shadow"), Path::new("/etc/passwd")] {
        symlink(target, project.file()).unwrap();
        refuses("a link", "is not a regular file", &project);
        for command in ["check", "show"] {
            let ran = project.run(&["config", command]).ended(2);
            assert!(!ran.err.contains("horse") && !ran.err.contains("root:"), "{ran:?}");
        }
        std::fs::remove_file(project.file()).unwrap();
    }
}

#[test]
fn a_file_in_a_parent_or_sibling_folder_counts_no_more() {
    let project = Project::new(OWNERS_FILE);
    project.write("[policy]\npreset = 'open'\n[[rule]]\nid = 'x'\neffect = 'allow'\ntool = '*'\n");
    let below = project.folder().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(effects(&project.home, &below), WITHOUT);
}

#[test]
fn the_owners_own_folder_holds_one_file_and_not_two() {
    let project = Project::new(OWNERS_FILE);
    let path = project.home.path();
    assert_eq!(effects(&project.home, path), WITHOUT);
    // Under another name it is still the same file.
    let link = project.folder().join("link");
    symlink(path, &link).unwrap();
    let mut command = project.home.command(&["config", "show", "--json"]);
    command.env("TOOLROOM_HOME", &link);
    let shown = finish_in(command, path).ended(0).json();
    let rules = shown["settings"].as_array().unwrap().iter().filter(|setting| setting["value"].is_object());
    assert_eq!(rules.count(), 2);
}
