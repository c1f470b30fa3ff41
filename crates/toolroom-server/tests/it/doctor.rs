//! `toolroom doctor` and the tool of that name: what they say of a sound toolroom, and of every fault.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolroom::clock::SystemClock;
use toolroom::scope::ProjectId;
use toolroom_host::folders::Folders;
use toolroom_host::seal::KeyRing;
use toolroom_store::{ProcessIdentity, Store, StoreOptions};

use crate::home::{Home, Ran, ran};
use crate::scripted_model::{Line, ScriptedModel};

const SEVEN: [&str; 7] = ["config", "memory", "context", "provider", "rag", "sessions", "disk"];
const FURTHER: [&str; 9] =
    ["policy", "files", "secrets", "store", "instances", "approvals", "servers", "sandbox", "clock"];

/// What is said of this toolroom, with the exit code it should end with.
#[track_caller]
fn examined(home: &Home, code: i32) -> Value {
    let report = home.run(&["doctor", "--json"]).ended(code).json();
    let names: Vec<&str> = report["checks"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, [&SEVEN[..], &FURTHER].concat());
    report
}

/// The codes of all findings, except those about the test machine.
fn codes(report: &Value) -> Vec<&str> {
    let checks = report["checks"].as_object().unwrap().values();
    let findings = checks.flat_map(|check| {
        let further = check.get("further").and_then(Value::as_array).into_iter().flatten();
        std::iter::once(check).chain(further)
    });
    let wrong = findings.filter(|finding| finding["status"] != "ok");
    let wrong = wrong.inspect(|finding| {
        let remedy = finding["remedy"].as_str().unwrap_or_default();
        assert!(!remedy.is_empty() && finding["code"].is_string(), "{finding}");
    });
    let codes = wrong.map(|finding| finding["code"].as_str().unwrap());
    codes.filter(|code| !code.starts_with("sandbox.") && !code.starts_with("disk.")).collect()
}

fn used() -> Home {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    home
}

fn database(home: &Home) -> std::path::PathBuf {
    home.path().join("toolroom.db")
}

fn overwrite(home: &Home, bytes: &[u8], at: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(database(home)).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// Keeps secrets as the product does.
fn keep(home: &Home, secrets: &[(&str, &str)]) {
    let folders = Folders { config: home.path().to_owned(), data: home.path().to_owned() };
    let ring = KeyRing::load_or_create(&folders).unwrap();
    let project = ProjectId::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let identity = ProcessIdentity {
            machine: "m".to_owned(),
            process: "p".to_owned(),
            probe: Arc::new(|_| Some(true)),
        };
        let store =
            Store::open(&database(home), StoreOptions::new(identity), Arc::new(SystemClock)).await.unwrap();
        for (name, value) in secrets {
            let purpose = toolroom_server::vault::purpose(&project, name);
            let sealed = ring.seal(&purpose, value.as_bytes()).unwrap();
            store.set_secret(&project, name, sealed).await.unwrap();
        }
        store.shutdown().await.unwrap();
    });
}

#[test]
fn a_fresh_toolroom_is_in_order_and_stays_untouched() {
    let home = Home::new();
    let report = examined(&home, 0);
    assert_eq!(codes(&report), Vec::<&str>::new(), "{report}");
    for name in &SEVEN[1..6] {
        assert_eq!(report["checks"][name], json!({"status": "ok", "details": "not configured"}));
    }
    let timestamp = report["timestamp"].as_str().unwrap();
    assert!(timestamp.len() == 25 && timestamp.ends_with("+00:00"), "{timestamp}");
    assert!(report["warnings"].is_array() && report["status"].is_string());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "the doctor creates nothing");

    let nowhere = home.command(&["doctor", "--json"]).env("TOOLROOM_HOME", "relative").output().unwrap();
    let nowhere = ran(nowhere).ended(1).json();
    assert_eq!(nowhere["checks"]["config"]["code"], "config.no_home");
}

#[test]
fn models_memories_and_conversations_are_reported() {
    let home = Home::new();
    let model = ScriptedModel::starts([Line::says("hello")]);
    model.is_set_up_in(
        home.path(),
        "[vendor.other]\nbase_url = \"http://127.0.0.1:1\"\nkey = \"$NO_SUCH_KEY\"\n",
    );
    home.run(&["call", "memory_store", "key=colour", "content=green"]).ended(0);
    home.run(&["chat", "hi"]).ended(0);
    let checks = examined(&home, 0)["checks"].clone();
    assert_eq!(checks["memory"]["details"], "1 memory", "{checks}");
    assert_eq!(checks["sessions"]["details"], "1 conversation", "{checks}");
    assert!(checks["provider"]["details"].as_str().unwrap().starts_with("default: `lab/m`"), "{checks}");
    assert!(checks["context"]["details"].as_str().unwrap().contains("32000 tokens"), "{checks}");
    // One that is to be asked and cannot be is told, with what to look at.
    let config = std::fs::read_to_string(home.path().join("toolroom.toml")).unwrap();
    std::fs::write(home.path().join("toolroom.toml"), config.replace("lab/m", "other/m")).unwrap();
    let provider = examined(&home, 0)["checks"]["provider"].clone();
    assert_eq!(provider["code"], "provider.not_set_up", "{provider}");
    assert!(provider["details"].as_str().unwrap().contains("NO_SUCH_KEY"), "{provider}");
}

#[test]
fn the_text_report_has_lines_with_remedies() {
    let home = used();
    let sound = home.run(&["doctor"]).ended(0);
    assert!(sound.out.contains("\n  ok      store "), "{sound:?}");
    assert!(sound.err.is_empty(), "{sound:?}");
    let lines = |text: &str| SEVEN.iter().chain(&FURTHER).all(|name| text.contains(name));
    assert!(lines(&sound.out), "{sound:?}");

    std::fs::write(home.path().join("toolroom.toml"), "[polcy]\n").unwrap();
    let broken = home.run(&["doctor"]).ended(1).out;
    assert!(broken.contains("  error   config ") && broken.contains("(config.invalid)\n"), "{broken}");
    assert!(broken.contains("\n    -> toolroom config check\n"), "{broken}");
    assert!(broken.lines().last().unwrap().starts_with("1 error, "), "{broken}");
    // `script` gives the command a terminal.
    let binary = crate::home::binary();
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{} doctor", binary.display()), "/dev/null"]);
    script.env("TOOLROOM_HOME", home.path()).env("TERM", "xterm").env_remove("CI").stdin(Stdio::null());
    let shown = String::from_utf8(script.output().unwrap().stdout).unwrap();
    assert!(shown.contains('✗') && shown.contains('✓') && shown.contains("→ toolroom"), "{shown}");
    script.env("TERM", "dumb");
    let shown = String::from_utf8(script.output().unwrap().stdout).unwrap();
    assert!(shown.is_ascii() && shown.contains("error   config"), "{shown}");
}

#[test]
fn unusable_folders_are_reported() {
    let home = used();
    let missing = home.path().join("documents");
    let settings = format!("workspace = \"{0}\"\n[files]\nread = [\"{0}\", \"/etc\"]\n", missing.display());
    std::fs::write(home.path().join("toolroom.toml"), settings).unwrap();
    let report = examined(&home, 1);
    assert_eq!(codes(&report), ["files.missing", "files.missing", "files.refused"], "{report}");
    let remedy = report["checks"]["files"]["remedy"].as_str().unwrap();
    assert!(Command::new("sh").args(["-c", remedy]).status().unwrap().success(), "{remedy}");
    assert_eq!(codes(&examined(&home, 0)), ["files.refused"]);
}

#[test]
fn the_tool_and_the_command_give_the_same_report() {
    let home = used();
    keep(&home, &[("SHORT", "abc")]);
    let comparable = |mut report: Value| {
        report["timestamp"].take();
        // Others write to the same disk meanwhile.
        report["checks"]["disk"]["details"].take();
        report
    };
    let by_command = examined(&home, 0);
    let by_tool = home.run(&["call", "doctor", "--json"]).ended(0).json();
    assert!(by_tool["result"]["timestamp"].is_string());
    assert_eq!(codes(&by_tool["result"]), ["secrets.too_short"]);
    assert_eq!(comparable(by_tool["result"].clone()), comparable(by_command));
    home.run(&["call", "doctor", "thorough=yes"]).ended(1);
    let spec = home.run(&["tools", "show", "doctor", "--json"]).ended(0).json();
    assert_eq!((&spec["id"], &spec["effect"]), (&json!("builtin:doctor"), &json!("read")));
}

#[test]
fn a_broken_configuration_is_reported() {
    let home = used();
    std::fs::write(home.path().join("toolroom.toml"), "[policy]\npreste = \"open\"\n").unwrap();
    home.run(&["call", "calculator", "expression=1"]).ended(2);
    let report = examined(&home, 1);
    assert_eq!(codes(&report), ["config.invalid", "policy.unexamined", "files.unexamined"]);
    let details = report["checks"]["config"]["details"].as_str().unwrap();
    assert!(details.contains("toolroom.toml:2") && details.contains("preste"), "{details}");
    assert_eq!(report["warnings"][0], format!("config: {details}"));

    let rule = "[[rule]]\nid = \"a\"\neffect = \"deny\"\ntool = \"x\"\nwhen = \"args.a ==\"\n";
    std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
    assert_eq!(codes(&examined(&home, 1)), ["policy.invalid"]);
    std::fs::write(home.path().join("toolroom.toml"), b"\xff\xfe").unwrap();
    assert_eq!(codes(&examined(&home, 1)), ["config.unreadable", "policy.unexamined", "files.unexamined"]);
    std::fs::remove_file(home.path().join("toolroom.toml")).unwrap();
    let odd = home.command(&["doctor", "--json"]).env("TOOLROOM_POLICY_PRESTE", "open").output().unwrap();
    assert_eq!(codes(&ran(odd).ended(0).json()), ["config.odd"]);
    let set = home.run(&["doctor", "--json", "--set", "policy.preset=wild"]).ended(1).json();
    assert_eq!(codes(&set), ["config.invalid", "policy.unexamined", "files.unexamined"]);
}

#[test]
fn keys_and_secrets_are_reported_without_values() {
    let home = Home::new();
    keep(&home, &[("GOOD", "correct horse battery staple"), ("SHORT", "hunter2")]);
    let key = home.path().join("master.key");
    let text = std::fs::read_to_string(&key).unwrap();
    let examined = |code: i32| {
        let ran = home.run(&["doctor", "--json"]).ended(code);
        for value in ["correct horse", "hunter2", text.trim()] {
            assert!(!ran.out.contains(value) && !ran.err.contains(value), "{ran:?}");
        }
        ran.json()
    };
    let report = examined(0);
    assert_eq!(codes(&report), ["secrets.too_short"]);
    assert!(report["warnings"][0].as_str().unwrap().contains("`SHORT`"), "{report}");
    assert_eq!(report["checks"]["secrets"]["remedy"], "toolroom secrets set SHORT");

    // A key name that contains a secret is redacted, too.
    let configuration = home.path().join("toolroom.toml");
    std::fs::write(&configuration, "\"correct horse battery staple\" = 1\n").unwrap();
    let report = examined(1);
    assert!(report["checks"]["config"]["details"].as_str().unwrap().contains("[secret GOOD]"), "{report}");
    std::fs::remove_file(&configuration).unwrap();

    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let report = examined(1);
    assert_eq!(codes(&report), ["secrets.key_readable"]);
    let remedy = report["checks"]["secrets"]["remedy"].as_str().unwrap();
    assert!(Command::new("sh").args(["-c", remedy]).status().unwrap().success());
    assert_eq!(codes(&examined(0)), ["secrets.too_short"], "the remedy helps");

    std::fs::remove_file(&key).unwrap();
    assert_eq!(codes(&examined(1)), ["secrets.key_lost"]);
    let other = "0".repeat(64);
    let output = home.command(&["doctor", "--json"]).env("TOOLROOM_MASTER_KEY", &other).output().unwrap();
    let report = ran(output).ended(1).json();
    assert_eq!(codes(&report), ["secrets.other_key"]);
    let output = home.command(&["doctor", "--json"]).env("TOOLROOM_MASTER_KEY", "short").output().unwrap();
    assert_eq!(codes(&ran(output).ended(1).json()), ["secrets.key_unusable"]);
}

#[test]
fn each_fault_of_the_database_has_its_code() {
    let others = [
        "approvals.unexamined",
        "instances.unexamined",
        "policy.answers_unexamined",
        "secrets.unexamined",
        "servers.unexamined",
    ];
    let check = |exit: i32, code: &'static str, spoil: fn(&Home)| {
        let home = used();
        spoil(&home);
        let before = std::fs::read(database(&home)).ok();
        let report = examined(&home, exit);
        let mut found = codes(&report);
        found.sort_unstable();
        let mut expected = [&others[..], &[code]].concat();
        expected.sort_unstable();
        assert_eq!(found, expected, "{report}");
        assert_eq!(report["checks"]["store"]["code"], code);
        assert_eq!(std::fs::read(database(&home)).ok(), before, "the doctor changes nothing");
    };
    // Where SQLite keeps `user_version`.
    check(1, "store.newer", |home| overwrite(home, &99_u32.to_be_bytes(), 60));
    check(1, "store.foreign", |home| {
        std::fs::write(database(home), "a letter to my aunt".repeat(100)).unwrap();
    });
    check(1, "store.unreadable", |home| {
        std::fs::remove_file(database(home)).unwrap();
        std::fs::create_dir(database(home)).unwrap();
    });
    // A start that was killed before it had made anything leaves this; the next one goes on.
    check(0, "store.older", |home| std::fs::write(database(home), "").unwrap());
}

#[test]
fn damage_is_found_on_every_page() {
    let home = used();
    let whole = std::fs::read(database(&home)).unwrap();
    // Without its first page the file cannot be recognized as ours.
    for page in 1..whole.len() / 4096 {
        overwrite(&home, &[0xff; 4096], u64::try_from(page * 4096).unwrap());
        let report = examined(&home, 1);
        assert_eq!(report["checks"]["store"]["code"], "store.damaged", "page {page}: {report}");
        assert!(report["checks"]["store"]["details"].as_str().unwrap().contains("damaged"), "{report}");
        std::fs::write(database(&home), &whole).unwrap();
    }
    assert_eq!(codes(&examined(&home, 0)), Vec::<&str>::new());
}

#[test]
fn an_unusable_data_folder_is_reported() {
    let home = Home::new();
    let file = home.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    for place in [file.clone(), file.join("below")] {
        let output = home.command(&["doctor", "--json"]).env("TOOLROOM_HOME", &place).output().unwrap();
        let report = ran(output).ended(1).json();
        assert_eq!(report["checks"]["store"]["code"], "store.no_folder", "{report}");
    }
}

#[test]
fn a_locked_database_is_reported() {
    let home = used();
    let hold = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\nc.execute('BEGIN IMMEDIATE')\nprint('held',flush=True)\nsys.stdin.read()";
    let mut python = Command::new("python3");
    python.args(["-c", hold]).arg(database(&home)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = python.spawn().unwrap();
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut [0; 5]).unwrap();
    let began = Instant::now();
    assert_eq!(codes(&examined(&home, 1)), ["store.locked"]);
    assert!(began.elapsed() < Duration::from_secs(10), "it does not wait as long as a call would");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(codes(&examined(&home, 0)), Vec::<&str>::new());
}

#[test]
fn calls_of_a_killed_process_are_reported_before_and_after_they_are_adopted() {
    let home = used();
    // Opening a pipe without a reader blocks: the call has begun, and does not end.
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let path = format!("path={}", pipe.display());
    let mut child = home.own_tools(&["call", "append_note", &path, "text=x"]).spawn().unwrap();
    crate::call::wait_for_status(&home, "begun");
    let living = examined(&home, 0);
    assert_eq!(codes(&living), Vec::<&str>::new());
    assert_eq!(living["checks"]["instances"]["details"], "1 other process with calls open");
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..2 {
        assert_eq!(codes(&examined(&home, 0)), ["instances.dead"], "the doctor changes nothing");
    }
    assert_eq!(home.journal()[0]["status"], "unknown");
    let report = examined(&home, 0);
    assert_eq!(codes(&report), ["instances.unknown_calls"]);
    let remedy = report["checks"]["instances"]["remedy"].as_str().unwrap();
    let words: Vec<&str> = remedy.split(' ').skip(1).collect();
    assert!(home.run(&words).ended(0).out.contains("append_note"));
}

#[test]
fn an_expired_question_is_reported() {
    let home = Home::new();
    let path = format!("path={}", home.path().join("notes").display());
    let asking = ["--set", "policy.approval_expires=1s", "call", "erase_notes", &path];
    home.run_own(&asking).ended(4);
    let deadline = Instant::now() + Duration::from_secs(60);
    let overdue = loop {
        assert!(Instant::now() < deadline, "it never ran out of time");
        let report = examined(&home, 0);
        if !codes(&report).is_empty() {
            break report;
        }
        assert_eq!(report["checks"]["approvals"]["details"], "1 question open");
    };
    assert_eq!(codes(&overdue), ["approvals.overdue"]);
    home.journal();
    assert_eq!(codes(&examined(&home, 0)), Vec::<&str>::new(), "the next command has answered it");
}

#[test]
fn an_untrusted_project_file_is_reported() {
    let home = used();
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join("toolroom.toml");
    std::fs::write(&file, "[policy]\npreset = \"open\"\n").unwrap();
    let there = |home: &Home| -> Ran {
        ran(home.command(&["doctor", "--json"]).current_dir(project.path()).output().unwrap())
    };
    let report = there(&home).ended(0).json();
    assert_eq!(codes(&report), ["config.untrusted"]);
    assert!(mentions(&report["checks"]["config"]["details"], &file), "{report}");
    std::fs::write(&file, "[policy]\npreset = \"careful\"\n").unwrap();
    let report = there(&home).ended(0).json();
    assert_eq!(codes(&report), Vec::<&str>::new(), "what only narrows needs no trust");
    assert!(report["checks"]["policy"]["details"].as_str().unwrap().contains("preset careful"), "{report}");
}

fn mentions(details: &Value, path: &Path) -> bool {
    details.as_str().unwrap().contains(&path.display().to_string())
}
