//! Local users: the command line, `chat`, and MCP over standard streams.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::stand_in::{CANARY, StandIn};
use crate::home::{Home, finished};
use crate::scripted_model::{Line, ScriptedModel};

#[test]
fn an_address_and_a_file_are_opened_on_the_desktop() {
    let desk = StandIn::new();
    let opened = desk.run(&["call", "open_url", "url=https://Example.com/a b?q=1&r='2'"]).ended(0).json();
    let url = "https://example.com/a%20b?q=1&r=%272%27";
    assert_eq!((&opened["success"], &opened["url"]), (&json!(true), &json!(url)), "{opened}");
    assert!(opened["message"].as_str().unwrap().contains("desktop"), "{opened}");
    assert_eq!(desk.said("xdg-open"), [url]);

    let page = desk.file("pages/-x report.html", "<p>hello</p>");
    let opened = desk.run(&["call", "open_file", "path=pages/-x report.html", "--json"]).ended(0).json();
    assert_eq!((&opened["result"]["success"], opened.get("offers")), (&json!(true), None), "{opened}");
    assert_eq!(desk.said("xdg-open"), [page.to_str().unwrap()]);
    desk.run(&["call", "open_url", &format!("url=file://{}", page.display())]).ended(0);
    assert_eq!(desk.said("xdg-open"), [page.to_str().unwrap()]);
}

#[test]
fn a_local_user_gets_the_path_of_a_file_and_no_copy() {
    let desk = StandIn::new();
    let file = desk.file("data.bin", "0123456789");
    let sent = desk.run(&["call", "send_file", "path=data.bin", "--json"]).ended(0).json();
    assert_eq!((&sent["result"]["size"], &sent["result"]["success"]), (&json!(10), &json!(true)), "{sent}");
    assert_eq!((sent["result"]["place"].as_str(), sent.get("offers")), (file.to_str(), None), "{sent}");
    desk.is_untouched();
}

#[test]
fn a_notification_is_plain_text() {
    let desk = StandIn::new();
    let told =
        desk.run(&["call", "send_notification", "message=<b>done</b> \\074i\nnow", "title=--help\u{7}"]);
    assert_eq!(told.ended(0).json()["success"], true);
    let words = desk.said("notify-send");
    assert_eq!(words, ["--app-name=Toolroom", "--", "--help ", "&lt;b&gt;done&lt;/b&gt; \\\\074i\nnow"]);
    desk.run(&["call", "send_notification", "message=-u critical"]).ended(0);
    assert_eq!(desk.said("notify-send")[1..], ["--", "Toolroom", "-u critical"]);
}

#[test]
fn without_a_desktop_the_missing_variable_is_named() {
    let desk = StandIn::new();
    desk.file("a.html", "x");
    for call in [
        &["open_url", "url=https://example.com"][..],
        &["open_file", "path=a.html"],
        &["clipboard-read"],
        &["clipboard-write", "text=x"],
    ] {
        let failed = desk.run_unseen(&[&["call"], call].concat()).ended(1);
        assert!(failed.err.contains("neither `DISPLAY` nor `WAYLAND_DISPLAY` is set"), "{failed:?}");
    }
    let failed = desk.run_unseen(&["call", "send_notification", "message=x"]).ended(1);
    assert!(failed.err.contains("`DBUS_SESSION_BUS_ADDRESS`"), "{failed:?}");
    desk.is_untouched();
}

#[test]
fn a_missing_or_failing_program_is_reported() {
    let desk = StandIn::new();
    let mut bare = desk.command(&["call", "open_url", "url=https://example.com"]);
    let failed = finished(bare.env("PATH", "/nonexistent").spawn().unwrap()).ended(1);
    assert!(failed.err.contains("`xdg-open` is not on the `PATH`; install `xdg-utils`"), "{failed:?}");
    let other = tempfile::TempDir::new().unwrap();
    for (name, script) in [("xdg-open", "exit 3"), ("notify-send", "echo no server >&2; exit 3")] {
        let place = other.path().join(name);
        std::fs::write(&place, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&place, mode).unwrap();
    }
    let path = format!("{}:{}", other.path().display(), std::env::var("PATH").unwrap());
    let run =
        |arguments: &[&str]| finished(desk.command(arguments).env("PATH", &path).spawn().unwrap()).ended(1);
    let failed = run(&["call", "open_url", "url=https://example.com"]);
    assert!(failed.err.contains("status 3: no program for it was found; try it in a terminal"), "{failed:?}");
    let failed = run(&["call", "send_notification", "message=x"]);
    let next = "status 3: no server; look whether a service for notifications runs in this session";
    assert!(failed.err.contains(next), "{failed:?}");
    // No server listens at the address of `DISPLAY`.
    let failed = run(&["call", "clipboard-read"]);
    let next = "look whether the session that `DISPLAY` or `WAYLAND_DISPLAY` names is still there";
    assert!(
        failed.err.contains("the clipboard cannot be reached: ") && failed.err.contains(next),
        "{failed:?}"
    );
}

#[test]
fn no_file_outside_is_opened_or_sent_and_no_program_is_opened() {
    let desk = StandIn::new();
    let secret = desk.home.path().join("secret.html");
    std::fs::write(&secret, CANARY).unwrap();
    let workspace = desk.home.path().join("workspace");
    std::os::unix::fs::symlink(&secret, workspace.join("link.html")).unwrap();
    std::os::unix::fs::symlink(desk.home.path(), workspace.join("folder")).unwrap();
    desk.file("start.desktop", "[Desktop Entry]\nExec=touch /tmp/x\n");
    desk.file("run.sh", "#!/bin/sh\n");
    desk.file(".env", "KEY=1");
    std::os::unix::fs::symlink("run.sh", workspace.join("harmless.html")).unwrap();
    let outside = format!("url=file://{}", secret.display());
    let up = format!("url=file://{}/%2e%2e/secret.html", workspace.display());
    for call in [
        &["open_url", outside.as_str()][..],
        &["open_url", &up],
        &["open_url", "url=file:///etc/passwd"],
        &["open_url", "url=file://server/share/x.html"],
        &["open_url", "url=javascript:alert(1)"],
        &["open_url", "url=data:text/html,x"],
        &["open_url", "url=mailto:a@example.com"],
        &["open_url", "url=--help"],
        &["open_url", "url=-x"],
        &["open_url", "url=https://a:b@example.com/"],
        &["open_file", "path=/etc/passwd"],
        &["open_file", "path=../secret.html"],
        &["open_file", "path=folder/secret.html"],
        &["open_file", "path=link.html"],
        &["open_file", "path=start.desktop"],
        &["open_file", "path=run.sh"],
        &["open_file", "path=harmless.html"],
        &["open_file", "path=.env"],
        &["open_file", "path=."],
        &["open_file", "path=missing.html"],
        &["send_file", "path=../secret.html"],
        &["send_file", "path=link.html"],
        &["send_file", "path=.env"],
        &["send_notification", "message="],
    ] {
        let failed = desk.run(&[&["call"], call].concat()).ended(1);
        assert!(!failed.err.contains(CANARY) && failed.out.is_empty(), "{call:?}: {failed:?}");
    }
    desk.is_untouched();
}

#[test]
fn a_chat_at_the_terminal_is_local() {
    let home = Home::new();
    let script = [
        Line::CallsAll(vec![
            ("open_url", json!({"url": "https://example.com/"})),
            ("send_notification", json!({"message": "look"})),
            ("send_file", json!({"path": "a.txt"})),
        ]),
        Line::says("There it is."),
    ];
    let model = ScriptedModel::starts(script);
    model.is_set_up_in(home.path(), "");
    let desk = StandIn::at(home);
    desk.file("a.txt", "x");
    let ran = desk.run(&["chat", "open it", "--jsonl"]).ended(0);
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended: Vec<&Value> = events.iter().filter(|event| event["type"] == "call_ended").collect();
    assert!(ended.len() == 3 && ended.iter().all(|end| end["outcome"] == "done"), "{ended:?}");
    assert!(ended.iter().all(|end| end.get("offers").is_none()), "{ended:?}");
    assert_eq!(desk.said("xdg-open"), ["https://example.com/"]);
    assert_eq!(desk.said("notify-send")[3], "look");
    let asked = model.asked()[1].to_string();
    assert!(asked.contains("desktop of this machine"), "{asked}");
}

#[test]
fn an_mcp_client_that_started_us_is_local() {
    let desk = StandIn::new();
    let mut child = desk.command(&["mcp", "serve"]).stdin(Stdio::piped()).spawn().unwrap();
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let call = json!({"name": "open_url", "arguments": {"url": "https://example.com/"}});
    let mut said = child.stdin.take().unwrap();
    for (id, method, params) in [(0, "initialize", hello), (1, "tools/call", call)] {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(said, "{message}").unwrap();
    }
    drop(said);
    let told = finished(child).ended(0).out;
    assert!(told.contains("desktop of this machine"), "{told}");
    assert_eq!(desk.said("xdg-open"), ["https://example.com/"]);
}

#[test]
fn a_local_request_stays_local_when_it_is_resumed() {
    let home = Home::new();
    let rule = "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"builtin:open_url\"\nreason = \"to see\"\n";
    std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
    let desk = StandIn::at(home);
    // Parked at the terminal, it is opened here.
    let parked = desk.run(&["call", "open_url", "url=https://example.com/", "--no-input", "--json"]).ended(4);
    let call = parked.call_id();
    desk.is_untouched();
    desk.run(&["approvals", "approve", &call]).ended(0);
    desk.run(&["call", "--resume", &call]).ended(0);
    assert_eq!(desk.said("xdg-open"), ["https://example.com/"]);
}
