//! A desktop that records what is requested.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::home::{Home, Ran, ran};
use crate::processes::until;

/// Must not reach any desktop program.
pub(crate) const CANARY: &str = "tr-canary-4242424242";

/// A home with desktop programs that record their arguments.
pub(crate) struct StandIn {
    pub(crate) home: Home,
    programs: TempDir,
}

impl StandIn {
    pub(crate) fn new() -> Self {
        Self::at(Home::new())
    }

    pub(crate) fn at(home: Home) -> Self {
        let programs = TempDir::new().unwrap();
        for name in ["xdg-open", "notify-send"] {
            let place = programs.path().join(name);
            let record = place.display();
            let script = format!(
                "#!/bin/sh\nenv > {record}.env\nfor word in \"$@\"; do printf '%s\\0' \"$word\"; done > {record}.words\n\
                 mv {record}.words {record}.said\n"
            );
            std::fs::write(&place, script).unwrap();
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::create_dir_all(home.path().join("workspace")).unwrap();
        Self { home, programs }
    }

    /// The environment of a session on this desktop.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let path = format!("{}:{}", self.programs.path().display(), std::env::var("PATH").unwrap());
        vec![
            ("PATH", path),
            ("DISPLAY", ":4242".to_owned()),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere".to_owned()),
            ("SOME_TOKEN", CANARY.to_owned()),
        ]
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.envs(self.variables()).env_remove("WAYLAND_DISPLAY");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().unwrap())
    }

    /// Without a display.
    pub(crate) fn run_unseen(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        for name in ["DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        ran(command.output().unwrap())
    }

    /// A file in the workspace.
    pub(crate) fn file(&self, path: &str, content: &str) -> PathBuf {
        let place = self.home.path().join("workspace").join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, content).unwrap();
        place.canonicalize().unwrap()
    }

    fn record(&self, program: &str, what: &str) -> PathBuf {
        self.programs.path().join(format!("{program}.{what}"))
    }

    /// The arguments of a single call of a program. Checks that it got only the session's environment.
    #[track_caller]
    pub(crate) fn said(&self, program: &str) -> Vec<String> {
        let record = self.record(program, "said");
        until(|| record.exists());
        let words = std::fs::read_to_string(&record).unwrap();
        std::fs::remove_file(&record).unwrap();
        let environment = std::fs::read_to_string(self.record(program, "env")).unwrap();
        assert!(environment.contains("DISPLAY=:4242\n"), "{environment}");
        assert!(!environment.contains(CANARY) && !environment.contains("TOOLROOM_HOME"), "{environment}");
        words.split_terminator('\0').map(str::to_owned).collect()
    }

    /// Fails if a program was called.
    #[track_caller]
    pub(crate) fn is_untouched(&self) {
        for program in ["xdg-open", "notify-send"] {
            assert!(!self.record(program, "env").exists(), "{program} was called");
        }
    }
}
