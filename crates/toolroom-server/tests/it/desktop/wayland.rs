//! The clipboard of a real Wayland compositor without a screen.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::home::{Home, Ran, belongs_to_programs, ran};
use crate::processes::until;

/// A headless compositor without a graphics card.
struct Compositor {
    server: Child,
    folder: TempDir,
    display: String,
}

impl Compositor {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        belongs_to_programs(folder.path());
        let config = folder.path().join("config");
        // It prints its name when it is ready.
        std::fs::write(&config, "xwayland disable\nexec echo $WAYLAND_DISPLAY\n").unwrap();
        let mut command = Command::new("sway");
        command.arg("-c").arg(&config).env_clear().env("PATH", std::env::var("PATH").unwrap());
        command.env("XDG_RUNTIME_DIR", folder.path()).env("HOME", folder.path());
        command.envs([
            ("WLR_BACKENDS", "headless"),
            ("WLR_RENDERER", "pixman"),
            ("WLR_LIBINPUT_NO_DEVICES", "1"),
        ]);
        // It refuses to run as root.
        let owner = std::os::unix::fs::MetadataExt::uid(&folder.path().metadata().unwrap());
        if owner != rustix::process::getuid().as_raw() {
            command.uid(owner).gid(owner);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap_or_else(|error| panic!("sway, from `make setup`: {error}"));
        let mut display = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut display).unwrap();
        Self { server, folder, display: display.trim().to_owned() }
    }

    fn seen_by(&self, mut command: Command) -> Command {
        command.env("WAYLAND_DISPLAY", &self.display).env("XDG_RUNTIME_DIR", self.folder.path());
        command.env_remove("DISPLAY").stderr(Stdio::piped());
        command
    }

    fn run(&self, home: &Home, arguments: &[&str]) -> Ran {
        ran(self.seen_by(home.command(arguments)).output().unwrap())
    }

    /// Copies like another program.
    fn copies(&self, text: &str) {
        let mut command = self.seen_by(Command::new("wl-copy"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// Pastes like another program.
    fn pasted(&self) -> String {
        let mut command = self.seen_by(Command::new("wl-paste"));
        String::from_utf8(command.arg("--no-newline").stdin(Stdio::null()).output().unwrap().stdout).unwrap()
    }

    /// Our processes that serve a text here.
    fn keepers(&self) -> usize {
        let here = format!("XDG_RUNTIME_DIR={}\0", self.folder.path().display());
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let holds = |path, text: &str| {
            std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
        };
        let keeps = entries.filter(|folder| {
            holds(folder.join("cmdline"), "keep-clipboard") && holds(folder.join("environ"), &here)
        });
        keeps.count()
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let _ended = self.server.kill();
        let _reaped = self.server.wait();
    }
}

#[test]
fn under_wayland_a_text_stays_until_it_is_replaced() {
    let (compositor, home) = (Compositor::new(), Home::new());
    let failed = compositor.run(&home, &["call", "clipboard-read"]).ended(1);
    assert!(failed.err.contains("the clipboard holds no text"), "{failed:?}");
    let text = "Grüße, 一\n\t\u{1f600}";
    let written = compositor.run(&home, &["call", "clipboard-write", &format!("text={text}")]).ended(0);
    assert_eq!(written.json(), json!({"ok": true}));
    assert_eq!((compositor.pasted().as_str(), compositor.keepers()), (text, 1));
    assert_eq!(compositor.run(&home, &["call", "clipboard-read"]).ended(0).json(), json!({"text": text}));
    compositor.copies("from elsewhere");
    until(|| compositor.keepers() == 0);
    let read = compositor.run(&home, &["call", "clipboard-read"]).ended(0).json();
    assert_eq!(read, json!({"text": "from elsewhere"}));
}

#[test]
fn the_serving_process_ends_with_the_compositor() {
    let (mut compositor, home) = (Compositor::new(), Home::new());
    compositor.run(&home, &["call", "clipboard-write", "text=x"]).ended(0);
    assert_eq!(compositor.keepers(), 1);
    compositor.server.kill().unwrap();
    until(|| compositor.keepers() == 0);
    let failed = compositor.run(&home, &["call", "clipboard-read"]).ended(1);
    assert!(failed.err.contains("error: "), "{failed:?}");
}
