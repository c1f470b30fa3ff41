//! Servers over HTTP that mean harm are contained as those on this machine are, and learn nothing by it.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::{Listening, folder, found, python};
use crate::home::{Home, Ran};

/// Only the server may see it.
const CANARY: &str = "correct-horse-battery-staple";

/// A toolroom with a hostile server of this kind, which gets a secret with every request.
struct Hostile {
    home: Home,
    added: Ran,
    _server: Listening,
}

impl Hostile {
    fn new(mode: &str) -> Self {
        Self::with(mode, &[])
    }

    fn with(mode: &str, more: &[&str]) -> Self {
        let home = Home::new();
        let script = found(&folder().join("hostile_http.py"));
        let server = Listening::with_port(&python(), |port| {
            [&[script.as_str(), mode, port][..], more].concat().into_iter().map(str::to_owned).collect()
        });
        home.run_with_stdin(&["secrets", "set", "KEY"], &format!("Bearer {CANARY}")).ended(0);
        let url = format!("http://127.0.0.1:{}/mcp", server.port);
        let header = "authorization=secret:KEY";
        let added = home.run(&["mcp", "add", "evil", "--url", &url, "--header", header, "--timeout", "20"]);
        let hostile = Self { home, added, _server: server };
        hostile.keeps_quiet(&hostile.added);
        hostile
    }

    fn works(mode: &str) -> Self {
        let hostile = Self::new(mode);
        assert_eq!(hostile.added.code, 0, "{mode}: {:?}", hostile.added);
        hostile
    }

    fn called(&self, tool: &str, more: &[&str]) -> Ran {
        let id = format!("mcp:evil:{tool}");
        let ran = self.home.run(&[&["call", &id, "--yes", "--json"][..], more].concat());
        self.keeps_quiet(&ran);
        ran
    }

    fn shown(&self) -> Value {
        let shown = self.home.run(&["mcp", "show", "evil", "--json"]).ended(0);
        self.keeps_quiet(&shown);
        shown.json()
    }

    /// Neither what was printed nor anything that is kept holds the secret, or something a terminal would obey.
    #[track_caller]
    fn keeps_quiet(&self, ran: &Ran) {
        assert!(!format!("{ran:?}").contains("horse"), "{ran:?}");
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{ran:?}");
        for name in ["toolroom.db", "toolroom.db-wal"] {
            let kept = std::fs::read(self.home.path().join(name)).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&kept).contains("horse"), "{name}");
        }
    }
}

/// The tools that are kept, with how they stand.
fn tools(shown: &Value) -> Vec<(&str, &str)> {
    let tools = shown["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["id"].as_str().unwrap(), tool["state"].as_str().unwrap())).collect()
}

#[test]
fn every_call_to_a_hostile_http_server_ends() {
    for (mode, code, kind) in [
        ("silent", 124, "timeout"),
        ("wrong_ids", 124, "timeout"),
        ("wrong_id", 1, "upstream"),
        ("floods", 1, "unreachable"),
        ("idless", 1, "unreachable"),
        ("endless_event", 1, "upstream"),
        ("endless_document", 1, "unreachable"),
    ] {
        let hostile = Hostile::works(mode);
        let limit: &[&str] = if code == 124 { &["--timeout", "1s"] } else { &[] };
        let ended = hostile.called("work", limit).ended(code).json();
        assert_eq!(ended["error"]["kind"], kind, "{mode}: {ended}");
        assert!(!ended.to_string().contains("stolen"), "{mode}: {ended}");
        assert_eq!(hostile.home.journal()[0]["status"], "unknown", "{mode}: the outcome is unknown");
    }
}

#[test]
fn unrequested_messages_do_no_harm() {
    for mode in ["asks", "endless_comments"] {
        assert_eq!(Hostile::works(mode).called("work", &[]).ended(0).json()["result"], "ok", "{mode}");
    }
}

#[test]
fn lists_and_definitions_are_bounded_one_by_one_and_together() {
    let hostile = Hostile::new("endless_pages");
    assert!(hostile.added.err.contains("200 pages"), "{:?}", hostile.added);

    let hostile = Hostile::works("huge_tool");
    let shown = hostile.shown();
    assert_eq!(tools(&shown), [("mcp:evil:work", "accepted")], "{shown}");
    assert!(shown["condition"]["left_out"][0].as_str().unwrap().contains("64 KiB"), "{shown}");

    let hostile = Hostile::works("huge_list");
    let shown = hostile.shown();
    // 200 tools of 60 kB came; what is kept of them has a limit.
    assert!((60..=70).contains(&tools(&shown).len()), "{shown}");
    assert!(shown["condition"]["left_out"][0].as_str().unwrap().contains("4 MiB"), "{shown}");
    let kept = std::fs::metadata(hostile.home.path().join("toolroom.db")).unwrap().len();
    assert!(kept < 16 * 1024 * 1024, "{kept} bytes are kept");
}

#[test]
fn no_foreign_tool_passes_for_another_one_over_http_either() {
    let hostile = Hostile::works("shadows");
    let shown = hostile.shown();
    assert_eq!(
        tools(&shown),
        [("mcp:evil:calculator", "accepted"), ("mcp:evil:twice", "accepted")],
        "{shown}"
    );
    let ours = hostile.home.run(&["call", "calculator", "expression=6*7", "--json"]).ended(0).json();
    assert_eq!((&ours["tool"], &ours["result"]), (&json!("builtin:calculator"), &json!(42)));
}

#[test]
fn a_definition_with_hidden_characters_waits_for_review() {
    let hostile = Hostile::works("poisoned");
    let shown = hostile.shown();
    let expected = [
        ("mcp:evil:backs", "new"),
        ("mcp:evil:deep", "new"),
        ("mcp:evil:escapes", "new"),
        ("mcp:evil:plain", "accepted"),
        ("mcp:evil:tags", "new"),
    ];
    assert_eq!(tools(&shown), expected, "{shown}");
    assert_eq!(hostile.called("plain", &[]).ended(0).json()["result"], "ok");
    hostile.called("escapes", &[]).ended(5);
    let review = hostile.home.run(&["mcp", "review", "evil", "--tool", "tags"]).ended(2);
    assert!(review.err.contains("\\u{200b}\\u{e0049}"), "{review:?}");
    let review = hostile.home.run(&["mcp", "review", "evil", "--tool", "escapes"]).ended(2);
    assert!(review.err.contains("\\u001b[2J"), "{review:?}");
    hostile.keeps_quiet(&review);
    hostile.keeps_quiet(&hostile.home.run(&["mcp", "show", "evil"]).ended(0));
    hostile.keeps_quiet(&hostile.home.run(&["mcp", "list"]).ended(0));
}

#[test]
fn a_tool_that_changes_between_two_calls_is_not_called() {
    let hostile = Hostile::works("changes");
    let refused = hostile.called("work", &[]).ended(1).json();
    assert_eq!(refused["error"]["kind"], "permission_denied", "{refused}");
    assert_ne!(hostile.home.journal()[0]["status"], "unknown", "it was never sent");
    assert_eq!(hostile.called("kept", &[]).ended(0).json()["result"], "ok", "others are what they were");
}

#[test]
fn a_call_is_led_nowhere_else() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let target = format!("http://{}/latest/meta-data", inside.local_addr().unwrap());
    let hostile = Hostile::with("redirects", &[&target]);
    hostile.called("work", &[]).ended(1);
    assert!(inside.accept().is_err(), "no connection");
    let hostile = Hostile::works("bars");
    let barred = hostile.called("work", &[]).ended(1).json();
    assert_eq!(barred["outcome"], "failed", "{barred}");
}

#[test]
fn a_server_that_repeats_what_it_was_sent_gives_no_secret_away() {
    for mode in ["echoes_error", "echoes_status"] {
        let hostile = Hostile::new(mode);
        assert_eq!(hostile.added.code, 1, "{mode}: {:?}", hostile.added);
        assert_eq!(hostile.shown()["state"], "failing", "{mode}");
        hostile.keeps_quiet(&hostile.home.run(&["mcp", "logs", "evil"]).ended(0));
    }
    let hostile = Hostile::works("echoes");
    let shown = hostile.shown();
    assert_eq!(tools(&shown), [("mcp:evil:work", "accepted")], "{shown}");
    assert!(shown["condition"]["left_out"].to_string().contains("contains a stored secret"), "{shown}");
    hostile.called("work", &[]).ended(1);
    hostile.keeps_quiet(&hostile.home.run(&["log", "--json"]).ended(0));
}
