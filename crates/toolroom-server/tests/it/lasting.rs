//! Resources that outlive a call, and their records in a later process.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::processes::{marked, until};
use crate::pty::{Pty, PtySession, Stdout};
use crate::scripted_model::{Line, ScriptedModel};
use crate::shell::{background, process};
use crate::shop::{Shop, shell};

fn about(action: &str, id: &str) -> Line {
    process(json!({"action": action, "session_id": id}))
}

fn list() -> Line {
    process(json!({"action": "list"}))
}

/// The results after those of an earlier sitting.
fn after(told: &[Value], earlier: usize) -> &[Value] {
    told.get(earlier..).unwrap()
}

#[test]
fn a_program_is_lost_with_its_process_and_one_that_had_ended_is_not() {
    let shop = Shop::new();
    let mark = format!("600.{}61", std::process::id());
    shop.home.run_with_stdin(&["secrets", "set", "shop"], "canary-4711-secret").ended(0);
    let (told, _model) = shop.chat([
        background(&format!("echo canary-4711-secret > /dev/null; sleep {mark}")),
        background("touch ended; exit 3"),
        shell("until [ -e ended ]; do sleep 0.01; done; sleep 0.1"),
        list(),
    ]);
    assert_eq!((&told[0]["session_id"], &told[1]["session_id"]), (&json!("bg-1"), &json!("bg-2")));
    until(|| marked(&mark).is_empty());

    let told = shop.chat_on([
        list(),
        about("log", "bg-1"),
        about("kill", "bg-1"),
        about("remove", "bg-1"),
        about("log", "bg-1"),
        about("log", "bg-2"),
        background("true"),
        list(),
    ]);
    let told = after(&told, 4);
    assert_eq!((&told[0]["running"], &told[0]["total"]), (&json!([]), &json!(2)));
    let lost = &told[0]["finished"][0];
    assert_eq!((&lost["session_id"], &lost["status"]), (&json!("bg-1"), &json!("lost")));
    let command = lost["command"].as_str().unwrap();
    assert!(command.contains(&mark) && !command.contains("canary-4711"), "{lost}");
    assert!(lost["started_at"].as_str().unwrap().starts_with("20"), "{lost}");
    assert!(lost["note"].as_str().unwrap().contains("ended with the Toolroom process"), "{lost}");
    let ended = &told[0]["finished"][1];
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("finished"), &json!(3)));
    assert_eq!((&told[1]["status"], &told[1]["stdout"]), (&json!("lost"), &json!("")));
    assert!(told[1]["note"].as_str().unwrap().contains("its output is gone"), "{}", told[1]);
    assert!(told[2]["note"].as_str().unwrap().contains("nothing to kill"), "{}", told[2]);
    assert_eq!(told[3], json!({"success": true, "session_id": "bg-1"}));
    assert!(told[4]["error"].as_str().unwrap().contains("no program `bg-1`"), "{}", told[4]);
    assert_eq!((&told[5]["status"], &told[5]["exit_code"]), (&json!("finished"), &json!(3)));
    assert_eq!(told[6]["session_id"], "bg-3", "no number is given twice");
    assert_eq!(told[7]["total"], 2);
    // Another conversation is not affected.
    let (told, _model) = shop.chat([list()]);
    assert_eq!(told[0]["total"], 0);
}

#[test]
fn a_killed_process_leaves_lost_programs_too() {
    let shop = Shop::new();
    let mark = format!("600.{}62", std::process::id());
    let model = ScriptedModel::starts([background(&format!("sleep {mark}")), Line::stalls("wait")]);
    model.is_set_up_in(shop.home.path(), "");
    let mut chat = shop.home.command(&["chat", "go on", "--yes"]).spawn().unwrap();
    model.is_asked(2);
    until(|| !marked(&mark).is_empty());
    kill_process(Pid::from_child(&chat), Signal::KILL).unwrap();
    chat.wait().unwrap();
    until(|| marked(&mark).is_empty());
    shop.home.run(&["runs", "cancel", "last"]).ended(0);
    let told = shop.chat_on([list()]);
    let lost = &told.last().unwrap()["finished"][0];
    assert_eq!((&lost["session_id"], &lost["status"]), (&json!("bg-1"), &json!("lost")));
}

/// Waits until the prompt reads input.
fn prompted(sitting: &mut PtySession) {
    sitting.sees("\u{1b}[J› ");
    sitting.is_listened_to();
}

#[test]
fn deleting_a_conversation_ends_its_shell_and_its_programs() {
    let shop = Shop::new();
    let [left, behind] = [63, 64].map(|end| format!("600.{}{end}", std::process::id()));
    let model = ScriptedModel::starts([
        background(&format!("setsid sleep {behind} & sleep {behind}")),
        shell(&format!("sleep {left} & echo started")),
        Line::says("both run"),
    ]);
    model.is_set_up_in(shop.home.path(), "");
    let mut sitting = Pty::new(100).starts(&shop.home.command(&["chat"]), Stdout::Terminal);
    prompted(&mut sitting);
    sitting.types("go on\r");
    sitting.sees("both run");
    prompted(&mut sitting);
    assert!(!marked(&left).is_empty() && !marked(&behind).is_empty());

    // Another process lists them, and cannot reach them.
    let told = shop.chat_on([list(), about("log", "bg-1"), about("kill", "bg-1"), about("remove", "bg-1")]);
    let told = after(&told, 2);
    let item = &told[0]["running"][0];
    assert_eq!((&item["session_id"], &item["status"]), (&json!("bg-1"), &json!("elsewhere")));
    assert!(told[1]["note"].as_str().unwrap().contains("another running Toolroom process"), "{}", told[1]);
    for refused in &told[2..] {
        assert!(refused["error"].as_str().unwrap().contains("runs in another Toolroom process"), "{refused}");
    }
    assert!(!marked(&left).is_empty() && !marked(&behind).is_empty());

    shop.home.run(&["conversations", "delete", "last", "--yes"]).ended(0);
    until(|| marked(&left).is_empty() && marked(&behind).is_empty());
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}
