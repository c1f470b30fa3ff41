//! The clipboard of a real X server without a screen.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::home::{Home, Ran, ran};
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;

/// An X server of its own.
pub(crate) struct Screen {
    server: Child,
    _printed: BufReader<ChildStdout>,
    pub(crate) display: String,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "64x64x24", "-noreset"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap_or_else(|error| panic!("Xvfb, from `make setup`: {error}"));
        let mut printed = BufReader::new(server.stdout.take().unwrap());
        let mut number = String::new();
        printed.read_line(&mut number).unwrap();
        let screen = Self { server, _printed: printed, display: format!(":{}", number.trim()) };
        // A server of an earlier screen with this number has exited, or is about to.
        until(|| screen.keepers() == 0);
        screen
    }

    fn seen_by(&self, mut command: Command) -> Command {
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY");
        command
    }

    fn run(&self, home: &Home, arguments: &[&str]) -> Ran {
        ran(self.seen_by(home.command(arguments)).output().unwrap())
    }

    fn xclip(&self, arguments: &[&str]) -> Command {
        let mut command = self.seen_by(Command::new("xclip"));
        command.args(["-selection", "clipboard"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Copies like another program.
    pub(crate) fn copies(&self, kind: &[&str], content: &[u8]) {
        let mut child = self.xclip(&[&["-i"], kind].concat()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// Pastes like another program.
    pub(crate) fn pasted(&self) -> String {
        let output = self.xclip(&["-o"]).stdin(Stdio::null()).stdout(Stdio::piped()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Our processes that serve a text on this screen.
    fn keepers(&self) -> usize {
        let shown = format!("DISPLAY={}\0", self.display);
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let holds = |path, text: &str| {
            std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
        };
        let keeps = entries.filter(|folder| {
            holds(folder.join("cmdline"), "keep-clipboard") && holds(folder.join("environ"), &shown)
        });
        keeps.count()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ended = self.server.kill();
        let _reaped = self.server.wait();
    }
}

#[test]
fn a_text_stays_on_the_clipboard_until_it_is_replaced() {
    let (screen, home) = (Screen::new(), Home::new());
    let text = "Grüße, 一\n\t\"quoted\" \u{1f600}";
    let argument = format!("text={text}");
    let written = screen.run(&home, &["call", "clipboard-write", &argument]).ended(0).json();
    assert_eq!(written, json!({"ok": true}));
    assert_eq!(screen.pasted(), text);
    let read = screen.run(&home, &["call", "clipboard-read"]).ended(0).json();
    assert_eq!(read, json!({"text": text}));
    assert_eq!(screen.keepers(), 1);
    // The next one replaces it.
    screen.run(&home, &["call", "clipboard-write", "text=-n"]).ended(0);
    assert_eq!(screen.pasted(), "-n");
    until(|| screen.keepers() == 1);
    screen.copies(&[], b"from elsewhere");
    until(|| screen.keepers() == 0);
    assert_eq!(
        screen.run(&home, &["call", "clipboard-read"]).ended(0).json(),
        json!({"text": "from elsewhere"})
    );
}

#[test]
fn content_without_text_is_reported_and_bad_arguments_leave_the_clipboard_alone() {
    let (screen, home) = (Screen::new(), Home::new());
    let failed = screen.run(&home, &["call", "clipboard-read"]).ended(1);
    assert!(failed.err.contains("the clipboard holds no text"), "{failed:?}");
    screen.copies(&["-t", "image/png"], b"\x89PNG\r\n\x1a\n\0\0");
    let failed = screen.run(&home, &["call", "clipboard-read"]).ended(1);
    assert!(failed.err.contains("the clipboard holds no text"), "{failed:?}");
    screen.copies(&[], b"mine");
    screen.run(&home, &["call", "clipboard-write"]).ended(1);
    screen.run(&home, &["call", "clipboard-write", "text:=7"]).ended(1);
    let long = "x".repeat(100_000);
    let long = format!("{{\"text\": \"{}\"}}", long.repeat(11));
    let mut child = screen
        .seen_by(home.command(&["call", "clipboard-write", "-"]))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(long.as_bytes()).unwrap();
    let failed = crate::home::finished(child).ended(1);
    assert!(failed.err.contains("1000000"), "{failed:?}");
    assert_eq!((screen.pasted().as_str(), screen.keepers()), ("mine", 0));
    screen.copies(&[], "y".repeat(1_000_001).as_bytes());
    let failed = screen.run(&home, &["call", "clipboard-read"]).ended(1);
    assert!(failed.err.contains("more than 1000000 bytes"), "{failed:?}");
}

#[test]
fn the_clipboard_is_the_same_over_rest_and_in_a_chat() {
    let (screen, home) = (Screen::new(), Home::new());
    let script = [Line::Calls("clipboard-read", json!({})), Line::says("It says hello.")];
    let model = ScriptedModel::starts(script);
    model.is_set_up_in(home.path(), "");
    let served = Served::started(home, &[], Stdio::inherit(), &[("DISPLAY", screen.display.as_str())]);
    let key = served.key("local", "read,call");
    let written = served.call(&key, "clipboard-write", &json!({"text": "hello from rest"})).is(200).json();
    assert_eq!(
        (&written["outcome"], &written["result"]),
        (&json!("done"), &json!({"ok": true})),
        "{written}"
    );
    assert_eq!(screen.pasted(), "hello from rest");
    screen.run(&served.home, &["chat", "what is on my clipboard?"]).ended(0);
    assert!(model.asked()[1].to_string().contains("hello from rest"));
    // The content is untrusted: a later outward call asks.
    let told = screen.run(&served.home, &["tools", "show", "clipboard-read", "--json"]).ended(0).out;
    assert!(told.contains("reads-private") && told.contains("reads-untrusted"), "{told}");
}
