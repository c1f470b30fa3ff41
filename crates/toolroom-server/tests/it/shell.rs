//! The shell family through `toolroom call`, and through a chat whose model wants commands.

use std::os::unix::fs::chown;

use serde_json::{Value, json};

use crate::home::Home;
use crate::processes::{marked, until};
use crate::scripted_model::Line;
use crate::shop::{Shop, shell};

pub(crate) fn process(arguments: Value) -> Line {
    Line::Calls("manage_process", arguments)
}

pub(crate) fn background(command: &str) -> Line {
    Line::Calls("execute_shell_command", json!({"command": command, "background": true}))
}

#[test]
fn one_switch_enables_all_and_the_judge_decides_which_calls_ask() {
    let home = Home::new();
    let tools =
        ["execute_shell_command", "manage_process", "run_command", "shell-exec", "ssh_configure_host"];
    for switched in tools {
        assert!(!tools.iter().any(|tool| home.run(&["tools"]).ended(0).out.contains(tool)));
        home.run(&["tools", "enable", switched]).ended(0);
        let out = home.run(&["tools"]).ended(0).out;
        assert!(tools.iter().all(|tool| out.contains(tool)), "{out}");
        home.run(&["tools", "disable", switched]).ended(0);
    }
    home.run(&["tools", "enable", "manage_process"]).ended(0);
    for tool in ["execute_shell_command", "run_command"] {
        home.run(&["call", tool, "command=true"]).ended(0);
        let asked = home.run(&["call", tool, "command=rm -rf x", "--json"]).ended(4).json();
        assert_eq!(asked["outcome"], "pending");
        let refused = home.run(&["call", tool, "command=rm -rf /", "--yes"]).ended(3);
        assert!(refused.err.contains("removes a folder of the system"), "{refused:?}");
        let unconfined = ["call", tool, "command=true", "--set", "policy.exec_sandbox=off", "--json"];
        assert_eq!(home.run(&unconfined).ended(4).json()["outcome"], "pending");
        let spec = home.run(&["tools", "show", tool, "--json"]).ended(0).json();
        assert_eq!((&spec["risk"], &spec["effect"]), (&json!("high"), &json!("destructive")));
        let description = spec["description"].as_str().unwrap();
        let workspace = home.path().join("workspace");
        for word in
            ["Linux with bash", "in a sandbox", "no network", "self-contained", workspace.to_str().unwrap()]
        {
            assert!(description.contains(word), "{word}: {description}");
        }
    }
    // Managing background programs needs no approval.
    home.run(&["call", "manage_process", "action=list"]).ended(0);
}

#[test]
fn a_command_does_not_fill_the_disk() {
    let home = Home::new();
    home.run(&["tools", "enable", "run_command"]).ended(0);
    for (command, told) in [
        (
            "while :; do i=$((i+1)); head -c 1000000 /dev/zero > $i; done",
            "it used more disk space than allowed",
        ),
        ("head -c 5000000 /dev/zero > /tmp/x", "No space left on device"),
    ] {
        let command = format!("command={command}");
        let call = ["call", "run_command", command.as_str(), "--yes", "--set", "policy.exec_disk_mib=8"];
        let ended = home.run(&call);
        assert!(format!("{ended:?}").contains(told), "{ended:?}");
    }
}

#[test]
fn a_command_has_the_seeds_shape() {
    let shop = Shop::new();
    let cwd = shop.workspace.to_str().unwrap();
    let result = shop.command(&json!({"command": "echo $((6 * 7)) | cat; echo no >&2"}));
    let expected = json!({
        "success": true, "stdout": "42\n", "stderr": "no\n", "exit_code": 0, "timed_out": false, "cwd": cwd,
    });
    assert_eq!(result, expected);
    let failed = shop.command(&json!({"command": "exit 3"}));
    assert_eq!((&failed["success"], &failed["exit_code"]), (&json!(false), &json!(3)));
    assert_eq!(shop.command(&json!({"command": "kill -9 $$"}))["exit_code"], 137);
    assert_eq!(shop.command(&json!({"command": "printf 'a\\377b'"}))["stdout"], "a\u{fffd}b");
    let inside = shop.command(&json!({"command": "pwd", "working_dir": "sub"}));
    assert_eq!(inside["stdout"], format!("{cwd}/sub\n"));
    let seen =
        shop.command(&json!({"command": "env", "env": {"GREETING": "it's $HOME"}}))["stdout"].to_string();
    assert!(seen.contains("GREETING=it's $HOME") && !seen.contains("canary-4711"), "{seen}");
}

#[test]
fn forbidden_arguments_are_refused_before_approval() {
    let shop = Shop::new();
    for name in
        ["PATH", "LD_PRELOAD", "DYLD_X", "BASH_ENV", "ENV", "NODE_OPTIONS", "PYTHONSTARTUP", "GIT_DIR", "IFS"]
    {
        let arguments = json!({"command": "touch canary", "env": {name: "x"}}).to_string();
        let refused = shop.home.run(&["call", "execute_shell_command", &arguments, "--json"]).ended(1).json();
        assert_eq!(refused["error"]["kind"], "invalid_arguments", "{refused}");
        let text = refused["error"]["message"].as_str().unwrap();
        assert!(text.contains(&format!("`{name}` may not be set")), "{text}");
    }
    for timeout in [0, 121] {
        for tool in ["execute_shell_command", "run_command"] {
            let error = shop.error(tool, &json!({"command": "touch canary", "timeout": timeout}));
            assert_eq!(error["kind"], "invalid_arguments");
        }
    }
    for (tool, name) in [("execute_shell_command", "working_dir"), ("run_command", "cwd")] {
        let error = shop.error(tool, &json!({"command": "touch canary", name: "/"}));
        assert_eq!(error["kind"], "permission_denied", "{error}");
        let error = shop.error(tool, &json!({"command": "touch canary", name: "missing"}));
        assert_eq!(error["kind"], "not_found", "{error}");
    }
    let error = shop.error("execute_shell_command", &json!({"command": "touch canary", "background": true}));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("toolroom chat") && hint.contains("toolroom serve"), "{error}");
    let error = shop.error("manage_process", &json!({"action": "log"}));
    assert!(error["message"].as_str().unwrap().contains("session_id"), "{error}");
    assert_eq!(
        shop.error("manage_process", &json!({"action": "kill", "session_id": "bg-1"}))["kind"],
        "not_found"
    );
    assert!(!shop.workspace.join("canary").exists());
}

#[test]
fn run_command_returns_everything_as_one_text() {
    let shop = Shop::new();
    assert_eq!(shop.text("true"), "(no output)");
    assert_eq!(shop.text("echo one && echo two"), "one\ntwo\n");
    assert_eq!(shop.text("printf out; printf err >&2; exit 3"), "out\n[stderr]\nerr\n[exit code: 3]");
    assert_eq!(shop.text("echo err >&2"), "[stderr]\nerr\n");
    assert_eq!(shop.text("exit 1"), "[exit code: 1]");
    let late = shop.result("run_command", &json!({"command": "echo so far; sleep 600", "timeout": 1}));
    assert_eq!(late, "so far\n[timed out after 1 s, and ended with all processes it had started]");
    let long = shop.text("seq 100000");
    assert!(long.starts_with("1\n2\n") && long.ends_with("99999\n100000\n"), "{long}");
    assert!((49_000..=50_000).contains(&long.chars().count()) && long.matches("left out").count() == 1);
}

#[test]
fn long_streams_keep_both_ends_and_the_whole_is_stored() {
    let shop = Shop::new();
    let report =
        shop.call("execute_shell_command", &json!({"command": "seq 100000; seq 50000 >&2"})).ended(0).json();
    let mut markers = 0;
    for (stream, last) in [("stdout", "99999\n100000\n"), ("stderr", "49999\n50000\n")] {
        let text = report["result"][stream].as_str().unwrap();
        assert!(text.starts_with("1\n2\n") && text.ends_with(last), "{text}");
        assert!((29_000..=30_000).contains(&text.chars().count()), "{}", text.len());
        markers += text.matches("result_read").count();
    }
    assert_eq!(markers, 1);
    let artifact = report["artifact"].as_str().unwrap();
    let page = json!({"artifact": artifact, "pointer": "/stdout", "offset": 588_000});
    let page = shop.result("result_read", &page);
    assert!(page["content"].as_str().unwrap().ends_with("99999\n100000\n"), "{page}");
}

#[test]
fn a_command_that_times_out_returns_its_output() {
    let shop = Shop::new();
    let mark = format!("600.{}51", std::process::id());
    let command = format!("echo so far; setsid sleep {mark} & sleep {mark}");
    let late = shop.command(&json!({"command": command, "timeout": 1}));
    assert_eq!((&late["timed_out"], &late["success"]), (&json!(true), &json!(false)));
    assert_eq!((&late["stdout"], &late["exit_code"]), (&json!("so far\n"), &json!(-1)));
    until(|| marked(&mark).is_empty());
}

#[test]
fn commands_of_a_conversation_share_a_shell() {
    let shop = Shop::new();
    let mark = format!("600.{}52", std::process::id());
    let (told, model) = shop.chat([
        shell("cd sub; export A=1; f() { echo \"f $A\"; }; echo here"),
        shell(&format!("f; pwd; sleep {mark} & echo $A")),
        Line::Calls("execute_shell_command", json!({"command": "echo [$A]", "fresh": true})),
        Line::Calls("execute_shell_command", json!({"command": "A=2; sleep 600", "timeout": 1})),
        shell("f; exit 7"),
        Line::Calls("execute_shell_command", json!({"command": "echo [$A] $B", "env": {"B": "b"}})),
    ]);
    let sub = shop.workspace.join("sub").display().to_string();
    let root = shop.workspace.display().to_string();
    assert_eq!((&told[0]["stdout"], &told[0]["cwd"]), (&json!("here\n"), &json!(sub)));
    assert_eq!(told[1]["stdout"], format!("f 1\n{sub}\n1\n"));
    assert_eq!((&told[2]["stdout"], &told[2]["cwd"]), (&json!("[]\n"), &json!(root)));
    assert_eq!((&told[3]["timed_out"], &told[3]["shell_died"]), (&json!(true), &json!(true)));
    // The earlier state is there; that of an abandoned shell is not.
    assert_eq!(told[4]["stdout"], "f 1\n");
    assert_eq!((&told[4]["exit_code"], &told[4]["shell_died"]), (&json!(7), &json!(true)));
    assert_eq!((&told[5]["stdout"], &told[5]["cwd"]), (&json!("[] b\n"), &json!(root)));
    assert_eq!(told[5]["shell_died"], false);
    // A result of its own length, so that nothing else has to make room for it.
    let (long, _model) = shop.chat([shell("seq 100000")]);
    let long = long[0].to_string();
    assert!(
        long.contains("99999\\n100000") && (15_000..=20_000).contains(&long.chars().count()),
        "{}",
        long.len()
    );
    let offered = model.asked()[0]["tools"].as_array().unwrap().clone();
    let offered: Vec<&str> = offered.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(
        offered.contains(&"builtin__manage_process") && !offered.contains(&"builtin__run_command"),
        "{offered:?}"
    );
    until(|| marked(&mark).is_empty());
}

#[test]
fn programs_in_the_background_can_be_managed() {
    let shop = Shop::new();
    let mark = format!("600.{}53", std::process::id());
    let background = |command: &str| {
        Line::Calls(
            "execute_shell_command",
            json!({"command": command, "background": true, "working_dir": "sub"}),
        )
    };
    let (told, _model) = shop.chat([
        background(&format!("seq 5; echo trouble >&2; touch ready; setsid sleep {mark} & sleep {mark}")),
        shell("until [ -e sub/ready ]; do sleep 0.01; done; sleep 0.1"),
        process(json!({"action": "log", "session_id": "bg-1", "offset": 1, "limit": 2})),
        process(json!({"action": "list"})),
        process(json!({"action": "remove", "session_id": "bg-1"})),
        process(json!({"action": "kill", "session_id": "bg-1"})),
        process(json!({"action": "list"})),
        process(json!({"action": "remove", "session_id": "bg-1"})),
        process(json!({"action": "log", "session_id": "bg-1"})),
        background(&format!("sleep {mark}")),
    ]);
    assert_eq!((&told[0]["success"], &told[0]["session_id"]), (&json!(true), &json!("bg-1")));
    let log = json!({
        "success": true, "session_id": "bg-1", "status": "running", "exit_code": -1, "stdout": "2\n3\n",
        "stderr": "trouble\n", "total_stdout_lines": 5, "offset": 1, "timed_out": false,
    });
    assert_eq!(told[2], log);
    let item = &told[3]["running"][0];
    assert_eq!((&item["session_id"], &item["status"]), (&json!("bg-1"), &json!("running")));
    assert_eq!((&item["stdout_length"], &told[3]["total"]), (&json!(10), &json!(1)));
    assert!(item["command"].as_str().unwrap().starts_with("seq 5"), "{item}");
    assert!(told[4]["error"].as_str().unwrap().contains("still runs"), "{}", told[4]);
    assert_eq!((&told[5]["success"], &told[5]["status"]), (&json!(true), &json!("killed")));
    assert_eq!((&told[6]["finished"][0]["status"], &told[6]["running"]), (&json!("killed"), &json!([])));
    assert_eq!(told[7], json!({"success": true, "session_id": "bg-1"}));
    assert!(told[8]["error"].as_str().unwrap().contains("there is no program `bg-1`"), "{}", told[8]);
    assert_eq!(told[9]["session_id"], "bg-2");
    // It ends with the process that started it.
    until(|| marked(&mark).is_empty());
}

#[test]
fn commands_started_by_root_work_in_a_workspace_of_another_user() {
    let shop = Shop::new();
    if chown(&shop.workspace, Some(4_711), Some(4_711)).is_err() {
        // Only root can change owners.
        return;
    }
    assert_eq!(shop.text("touch here ~/there && id -u"), "4711\n");
    assert_eq!(shop.text("ls ~"), "there\n");
}

#[test]
fn variables_passed_to_a_command_are_judged_with_it() {
    let shop = Shop::new();
    let call = |name: &str| {
        let arguments = json!({"command": "true", "env": {name: "x"}}).to_string();
        shop.home.run(&["call", "execute_shell_command", &arguments, "--json"])
    };
    call("RUST_LOG").ended(0);
    assert!(call("TAR_OPTIONS").ended(4).out.contains("sets `TAR_OPTIONS`"));
    call("LD_PRELOAD").ended(1);
}
