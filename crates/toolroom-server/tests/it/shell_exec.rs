//! `shell-exec` without a sandbox: off by default, asks each time, and leaves no process behind.

use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::home::{Home, Ran, finished, ran};
use crate::processes::{marked, until};
use crate::pty::{Pty, Stdout};

/// A toolroom with the tool enabled, and a workspace.
struct Shop {
    home: Home,
    workspace: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("toolroom.toml"), "[policy]\nexec_sandbox = \"off\"\n").unwrap();
        home.run(&["tools", "enable", "shell-exec"]).ended(0);
        let workspace = home.path().join("workspace");
        std::fs::create_dir_all(workspace.join("sub")).unwrap();
        Self { home, workspace: workspace.canonicalize().unwrap() }
    }

    fn command(&self, arguments: &Value, more: &[&str]) -> Command {
        let mut command =
            self.home.command(&[&["call", "shell-exec", &arguments.to_string()], more].concat());
        command.current_dir(&self.workspace).env("SHOP_API_KEY", "canary-4711");
        command
    }

    /// Calls with approval.
    fn call(&self, arguments: &Value) -> Ran {
        ran(self.command(arguments, &["--yes", "--json"]).output().unwrap())
    }

    fn result(&self, arguments: &Value) -> Value {
        self.call(arguments).ended(0).json()["result"].clone()
    }

    /// The error of a failed call.
    fn error(&self, arguments: &Value) -> Value {
        self.call(arguments).ended(1).json()["error"].clone()
    }

    /// Starts a call whose program has many descendants, and waits until they run.
    fn started(&self, mark: &str) -> Child {
        let script = format!(
            "sleep {mark} & setsid sh -c 'trap \"\" TERM INT HUP; sleep {mark} & sleep {mark}' & (sleep {mark} &); \
             sleep {mark}"
        );
        let child =
            self.command(&json!({"command": "sh", "args": ["-c", script]}), &["--yes", "--json"]).spawn();
        // The sleeps, the two shells, and the command itself, whose arguments contain the mark too.
        until(|| marked(mark).len() >= 8);
        child.unwrap()
    }
}

/// A unique sleep duration.
fn mark(test: u32) -> String {
    format!("600.{}{test}", std::process::id())
}

#[test]
fn it_is_off_by_default_and_asks_when_enabled() {
    let home = Home::new();
    assert!(!home.run(&["tools"]).ended(0).out.contains("shell-exec"));
    let off = home.run(&["call", "shell-exec", "command=true", "--yes"]).ended(3);
    assert!(off.err.contains("toolroom tools enable"), "{off:?}");
    home.run(&["tools", "enable", "execute_shell_command"]).ended(0);
    let unconfined = ["--set", "policy.exec_sandbox=off", "--json"];
    let asked =
        home.run(&[&["call", "shell-exec", "command=true"], &unconfined[..]].concat()).ended(4).json();
    assert_eq!(asked["outcome"], "pending");
    let spec = home.run(&["tools", "show", "shell-exec", "--json"]).ended(0).json();
    assert_eq!((&spec["risk"], &spec["effect"]), (&json!("high"), &json!("destructive")));
    let parameters = &spec["parameters"];
    assert_eq!(parameters["required"], json!(["command"]));
    assert_eq!(parameters["properties"]["args"]["items"]["type"], "string");
    assert!(parameters["properties"]["cwd"].is_object());
    // Output is untrusted.
    assert!(spec["capabilities"].as_array().unwrap().contains(&json!("reads-untrusted")), "{spec}");
    home.run(&["approvals", "approve", "last"]).ended(0);
    home.run(&["tools", "disable", "shell-exec"]).ended(0);
    home.run(&[&["call", "--resume", "last"], &unconfined[..]].concat()).ended(3);
}

#[test]
fn a_result_has_the_seeds_shape() {
    let shop = Shop::new();
    let result = shop.result(&json!({"command": "printf", "args": ["%s|", "a b", "", "$HOME", "*"]}));
    assert_eq!(result, json!({"stdout": "a b||$HOME|*|", "stderr": "", "exitCode": 0}));
    let failed = shop.result(&json!({"command": "sh", "args": ["-c", "echo no >&2; exit 3"]}));
    assert_eq!(failed, json!({"stdout": "", "stderr": "no\n", "exitCode": 3}));
    let killed = shop.result(&json!({"command": "sh", "args": ["-c", "kill -9 $$"]}));
    assert_eq!(killed["exitCode"], Value::Null);
    let binary = shop.result(&json!({"command": "printf", "args": ["a\\377b"]}));
    assert_eq!(binary["stdout"], "a\u{fffd}b");
}

#[test]
fn the_folder_is_the_workspace_or_inside_it() {
    let shop = Shop::new();
    let here = |cwd: Value| shop.result(&json!({"command": "pwd", "cwd": cwd}))["stdout"].clone();
    let inside = format!("{}\n", shop.workspace.join("sub").display());
    assert_eq!(shop.result(&json!({"command": "pwd"}))["stdout"], format!("{}\n", shop.workspace.display()));
    assert_eq!(here(json!("sub")), inside);
    assert_eq!(here(json!(shop.workspace.join("sub"))), inside);
    for outside in ["..", "/", "sub/../.."] {
        let error = shop.error(&json!({"command": "pwd", "cwd": outside}));
        assert!(error["message"].as_str().unwrap().contains("is outside the workspace"), "{error}");
        assert_eq!(error["kind"], "permission_denied");
    }
    let missing = shop.error(&json!({"command": "pwd", "cwd": "missing"}));
    assert_eq!(missing["kind"], "not_found", "{missing}");
}

#[test]
fn an_invalid_command_is_explained() {
    let shop = Shop::new();
    let missing = shop.error(&json!({"command": "no-such-program"}));
    assert_eq!(
        (&missing["kind"], &missing["message"]),
        (&json!("not_found"), &json!("there is no program `no-such-program`"))
    );
    let line = shop.error(&json!({"command": "ls -la /tmp"}));
    assert!(line["hint"].as_str().unwrap().contains("use `ls`, and put `-la /tmp` into `args`"), "{line}");
    std::fs::write(shop.workspace.join("text"), "text").unwrap();
    let text = shop.error(&json!({"command": "./text"}));
    assert_eq!(text["kind"], "permission_denied", "{text}");
    // Refused before approval.
    let canary = shop.workspace.join("canary");
    let wrong = shop.call(&json!({"command": "touch", "args": [canary, 7]})).ended(1).json();
    assert_eq!(wrong["error"]["kind"], "invalid_arguments", "{wrong}");
    assert!(!canary.exists());
    shop.call(&json!({"command": "touch", "args": [canary]})).ended(0);
    assert!(canary.exists());
}

#[test]
fn it_inherits_nothing_of_our_environment() {
    let shop = Shop::new();
    let script = "env; tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline";
    let seen = shop.result(&json!({"command": "sh", "args": ["-c", script]})).to_string();
    assert!(seen.contains("TERM=dumb"), "{seen}");
    assert!(!seen.contains("canary-4711") && !seen.contains("TOOLROOM_HOME"), "{seen}");
}

#[test]
fn long_output_keeps_both_ends() {
    let shop = Shop::new();
    let script = "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo; echo last";
    let report = shop.call(&json!({"command": "sh", "args": ["-c", script]})).ended(0).json();
    let stdout = report["result"].to_string();
    assert!(stdout.contains("first") && stdout.contains("last"), "{stdout}");
    assert!(stdout.len() < 40_000, "{}", stdout.len());
}

#[test]
fn an_approval_is_for_one_call() {
    let shop = Shop::new();
    let arguments = json!({"command": "touch", "args": ["canary"]});
    let park = || ran(shop.command(&arguments, &["--json"]).output().unwrap()).ended(4).call_id();
    let call = park();
    for answer in [&["--always"][..], &["--session"], &["--always", "--when", "args.command == 'touch'"]] {
        let refused = shop.home.run(&[&["approvals", "approve", &call], answer].concat()).ended(2);
        let text = "each call of `builtin:shell-exec` is answered by itself: answer once";
        assert!(refused.err.contains(text), "{refused:?}");
    }
    assert!(!shop.workspace.join("canary").exists());
    shop.home.run(&["approvals", "approve", &call]).ended(0);
    let mut resume = shop.home.command(&["call", "--resume", &call]);
    ran(resume.current_dir(&shop.workspace).output().unwrap()).ended(0);
    assert!(shop.workspace.join("canary").exists());
    shop.home.run(&["approvals", "deny", &park(), "--never"]).ended(0);
    ran(shop.command(&arguments, &["--yes"]).output().unwrap()).ended(3);
}

#[test]
fn the_prompt_offers_only_single_approvals() {
    let shop = Shop::new();
    let command = shop.home.command(&["call", "shell-exec", "command=echo", "args:=[\"it ran\"]"]);
    let mut sitting = Pty::new(120).starts(&command, Stdout::Terminal);
    sitting.is_asked();
    for key in ["a", "s"] {
        sitting.types(key);
        sitting.sees("is answered by itself: answer once");
        sitting.is_asked();
    }
    sitting.types("y");
    sitting.leaves().ended(0).shows("it ran");
}

#[test]
fn a_program_that_times_out_is_ended_and_its_output_returned() {
    let shop = Shop::new();
    let mark = mark(1);
    let script = format!("echo so far; echo trouble >&2; setsid sleep {mark} & sleep {mark}");
    let arguments = json!({"command": "sh", "args": ["-c", script]});
    let late = shop.command(&arguments, &["--yes", "--json", "--timeout", "3s"]).output().unwrap();
    let error = ran(late).ended(124).json()["error"].clone();
    assert_eq!(error["kind"], "timeout", "{error}");
    assert_eq!(shop.home.run(&["log", "last", "--json"]).ended(0).json()["status"], "unknown");
    let text = error["message"].as_str().unwrap();
    assert!(text.contains("it took too long\nstdout so far:\nso far\n"), "{text}");
    assert!(text.contains("stderr so far:\ntrouble\n"), "{text}");
    until(|| marked(&mark).is_empty());
}

#[test]
fn an_interrupt_ends_the_whole_tree() {
    let shop = Shop::new();
    for (n, signal) in ["-INT", "-TERM", "-HUP"].into_iter().enumerate() {
        let mark = mark(10 + u32::try_from(n).unwrap());
        let child = shop.started(&mark);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(finished(child).ended(130).json()["outcome"], "cancelled");
        until(|| marked(&mark).is_empty());
    }
}

#[test]
fn a_killed_command_line_ends_the_whole_tree() {
    let shop = Shop::new();
    let mark = mark(2);
    let mut child = shop.started(&mark);
    child.kill().unwrap();
    child.wait().unwrap();
    until(|| marked(&mark).is_empty());
}

#[test]
fn a_program_that_stops_the_helper_ends_with_the_command_line() {
    let shop = Shop::new();
    let mark = mark(3);
    let script = format!("setsid sleep {mark} & kill -STOP $PPID; sleep {mark}");
    let arguments = json!({"command": "sh", "args": ["-c", script]});
    let late = shop.command(&arguments, &["--yes", "--json", "--timeout", "2s"]).output().unwrap();
    assert_eq!(ran(late).ended(124).json()["error"]["kind"], "timeout");
    until(|| marked(&mark).is_empty());
}

#[test]
fn programs_from_the_same_arguments_have_the_tool_too() {
    let home = Home::new();
    home.run_own(&["tools", "enable", "shell-exec"]).ended(0);
    let done =
        home.run_own(&["call", "shell-exec", "command=echo", "args:=[\"hi\"]", "--yes", "--json"]).ended(0);
    assert_eq!(done.json()["result"]["stdout"], "hi\n");
}

#[test]
fn the_helper_is_not_a_command_for_people() {
    let home = Home::new();
    for arguments in [&["--help"][..], &["completions", "bash"], &["completions", "fish"]] {
        assert!(!home.run(arguments).ended(0).out.contains("__supervise"), "{arguments:?}");
    }
    // Started by hand it does nothing, and opens nothing.
    home.run(&["__supervise"]).ended(1);
    home.run(&["__supervise", "begin", "{}", "touch", "canary"]).ended(1);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}
