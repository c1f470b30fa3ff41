//! A project folder with a toolroom of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use crate::home::{Home, Ran, ran};

/// A command that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Project {
    pub(crate) home: Home,
    folder: TempDir,
}

impl Project {
    /// A folder without a file of its own; the user's file says this.
    pub(crate) fn new(user_file: &str) -> Self {
        let project = Self { home: Home::new(), folder: TempDir::new().unwrap() };
        if !user_file.is_empty() {
            project.write_user_file(user_file);
        }
        project
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Where the project's file belongs.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder().join("toolroom.toml")
    }

    pub(crate) fn write(&self, text: impl AsRef<[u8]>) {
        std::fs::write(self.file(), text).unwrap();
    }

    pub(crate) fn write_user_file(&self, text: &str) {
        std::fs::write(self.home.path().join("toolroom.toml"), text).unwrap();
    }

    /// The `toolroom` command, in this folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(self.home.command(arguments))
    }

    /// The command with tools of its own, in this folder.
    pub(crate) fn run_own(&self, arguments: &[&str]) -> Ran {
        self.finish(self.home.own_tools(arguments))
    }

    pub(crate) fn finish(&self, command: Command) -> Ran {
        finish_in(command, self.folder.path())
    }
}

/// Runs a command in a folder, and fails if it does not end.
pub(crate) fn finish_in(mut command: Command, folder: &Path) -> Ran {
    let child = command.current_dir(folder).spawn().unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let output = receiver.recv_timeout(PATIENCE);
    ran(output.unwrap_or_else(|_| panic!("{command:?} hangs")))
}
