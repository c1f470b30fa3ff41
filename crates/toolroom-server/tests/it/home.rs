//! A toolroom of its own for each test, and the commands to use it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A data folder of its own.
pub(crate) struct Home {
    folder: TempDir,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The `toolroom` binary, here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program(&binary(), arguments)
    }

    /// The example with tools of its own, here.
    pub(crate) fn own_tools(&self, arguments: &[&str]) -> Command {
        self.program(&example("own_tools"), arguments)
    }

    /// The same, where a process may have few files open until it asks for more.
    pub(crate) fn with_few_files(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(Path::new("sh"), &["-c", "ulimit -Sn 256; exec \"$0\" \"$@\""]);
        command.arg(example("own_tools")).args(arguments);
        command
    }

    fn program(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("TOOLROOM_HOME", self.path())
            .env("TZ", "UTC")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("CI");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_own(&self, arguments: &[&str]) -> Ran {
        ran(self.own_tools(arguments).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        fed(self.command(arguments), stdin)
    }

    pub(crate) fn run_own_with_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        fed(self.own_tools(arguments), stdin)
    }

    /// What the journal says, newest first.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let listed = self.run(&["log", "--json", "--limit", "100000"]);
        assert_eq!(listed.code, 0, "{listed:?}");
        serde_json::from_str(&listed.out).unwrap()
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The call a `--json` report is about.
    pub(crate) fn call_id(&self) -> String {
        self.json()["call_id"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// Fails unless the command ended with this code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

fn fed(mut command: Command, stdin: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap())
}

pub(crate) fn ran(output: Output) -> Ran {
    use std::os::unix::process::ExitStatusExt;
    Ran {
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap()),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn finished(child: Child) -> Ran {
    ran(child.wait_with_output().unwrap())
}

/// Programs started by root in a sandbox run as another user, who has to own the working folder.
pub(crate) fn belongs_to_programs(folder: &Path) {
    const NOBODY: Option<u32> = Some(65_534);
    if std::os::unix::fs::MetadataExt::uid(&folder.metadata().unwrap()) == 0 {
        std::os::unix::fs::chown(folder, NOBODY, NOBODY).unwrap();
    }
}

pub(crate) fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_toolroom"))
}

/// Cargo builds a package's examples together with its tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let path = binary().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: run the tests of the whole package", path.display());
    path
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap().to_owned()
}
