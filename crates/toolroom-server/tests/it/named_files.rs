//! Start files, credentials and our own configuration: what tools write and programs reach.

use std::process::Command;

use tempfile::TempDir;

use crate::home::{Home, Ran, belongs_to_programs, ran};

const OPEN: &str =
    "[policy]\npreset = \"open\"\n[[rule]]\nid = \"write\"\neffect = \"allow\"\ntool = \"write_file\"\n";

/// A workspace with a repository, where only start files ask.
fn open_home() -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), OPEN).unwrap();
    std::fs::create_dir_all(home.path().join("workspace/.git/hooks")).unwrap();
    home
}

fn write(home: &Home, tool: &str, path: &str) -> Ran {
    home.run(&["call", tool, &format!("path={path}"), "content=evil", "--json"])
}

#[test]
fn a_tool_does_not_write_a_start_file_without_approval() {
    let home = open_home();
    write(&home, "write_file", "notes.txt").ended(0);
    let workspace = home.path().join("workspace");
    for folder in [".vscode", ".claude", "sub/.cursor", ".local/bin"] {
        std::fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".vscode/tasks.json",
        ".mcp.json",
        ".bashrc",
        "./x/../.bashrc",
        ".claude/settings.json",
        "sub/.cursor/mcp.json",
        ".CODEX/config.toml",
        "a/.gemini/settings.json",
        ".config/goose/config.yaml",
        ".devcontainer/devcontainer.json",
        ".envrc",
        ".zed/tasks.json",
        ".idea/workspace.xml",
        ".cargo/config.toml",
        ".local/bin/ls",
        ".githooks/pre-commit",
        "mise.toml",
        "sub/crush.json",
        ".kilocode/mcp.json",
        ".oh-my-zsh/custom/x.zsh",
        ".pnpmfile.cjs",
        ".config/vim/vimrc",
        workspace.join(".zshrc").to_str().unwrap(),
    ] {
        for tool in ["write_file", "fs-write"] {
            let asked = write(&home, tool, path).ended(4);
            assert!(asked.out.contains("runs code for its owner later"), "{path}: {asked:?}");
        }
    }
    let text = |path: &str| std::fs::read_to_string(workspace.join(path)).unwrap_or_default();
    assert_eq!([".git/config", ".bashrc", ".mcp.json", ".zshrc", ".vscode/tasks.json"].map(text), [""; 5]);
    // It may be read, and an approval allows writing it.
    let call = write(&home, "write_file", ".bashrc").ended(4).call_id();
    home.run(&["approvals", "approve", &call]).ended(0);
    home.run(&["call", "--resume", &call]).ended(0);
    assert_eq!(text(".bashrc"), "evil");
    assert_eq!(home.run(&["call", "read_file", "path=.bashrc", "--json"]).ended(0).json()["result"], "evil");
}

#[test]
fn the_default_workspace_in_a_home_contains_no_start_files() {
    let home = Home::new();
    let configuration = home.path().join(".config/toolroom");
    std::fs::create_dir_all(&configuration).unwrap();
    std::fs::write(configuration.join("toolroom.toml"), OPEN).unwrap();
    let write = |path: &str| {
        let mut command =
            home.command(&["call", "write_file", &format!("path={path}"), "content=x", "--json"]);
        command.env_remove("TOOLROOM_HOME").env("HOME", home.path());
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        ran(command.output().unwrap())
    };
    write("notes.txt").ended(0);
    write(".bashrc").ended(4);
    let workspace = home.path().join(".local/share/toolroom/workspace");
    assert!(workspace.join("notes.txt").is_file() && !workspace.join(".bashrc").exists());
}

#[test]
fn a_start_file_cannot_be_reached_under_another_name() {
    let home = open_home();
    let workspace = home.path().join("workspace");
    std::os::unix::fs::symlink(".git", workspace.join("plain")).unwrap();
    std::os::unix::fs::symlink("plain/hooks", workspace.join("deep")).unwrap();
    for path in ["plain/config", "deep/pre-commit"] {
        let refused = write(&home, "write_file", path).ended(1).json()["error"].clone();
        assert_eq!(refused["kind"], "permission_denied", "{path}: {refused}");
        assert!(refused["message"].to_string().contains("name that file itself"), "{refused}");
    }
    // This name shows that it is a hook.
    let asked = write(&home, "write_file", "plain/hooks/pre-push").ended(4);
    assert!(asked.out.contains("runs code for its owner later"), "{asked:?}");
    assert_eq!(std::fs::read_dir(workspace.join(".git/hooks")).unwrap().count(), 0);
    assert!(!workspace.join(".git/config").exists());
}

#[test]
fn a_tool_does_not_write_into_a_repository_of_any_name_without_approval() {
    let home = open_home();
    let workspace = home.path().join("workspace");
    for made in ["store/objects/info", "store/hooks", "linked", "half/objects", "plain"] {
        std::fs::create_dir_all(workspace.join(made)).unwrap();
    }
    for file in ["store/HEAD", "linked/HEAD", "linked/commondir"] {
        std::fs::write(workspace.join(file), "").unwrap();
    }
    std::os::unix::fs::symlink("store", workspace.join("link")).unwrap();
    for path in [
        "store/config",
        "store/hooks/post-receive",
        "store/objects/info/alternates",
        "missing/../store/config",
        "linked/config.worktree",
        "half/HEAD",
        "x.git/config",
        "x.git/hooks/post-receive",
    ] {
        for tool in ["write_file", "fs-write"] {
            let asked = write(&home, tool, path).ended(4);
            assert!(asked.out.contains("runs code for its owner later"), "{path}: {asked:?}");
        }
    }
    // Links are not followed, because they may lead elsewhere after the approval.
    let call = write(&home, "write_file", "link/config").ended(4).call_id();
    home.run(&["approvals", "approve", &call]).ended(0);
    let refused = home.run(&["call", "--resume", &call]);
    assert!(refused.err.contains("without links") || refused.out.contains("without links"), "{refused:?}");
    assert!(!workspace.join("store/config").exists());
    let call = write(&home, "write_file", "store/config").ended(4).call_id();
    home.run(&["approvals", "approve", &call]).ended(0);
    home.run(&["call", "--resume", &call]).ended(0);
    assert!(workspace.join("store/config").exists());
    write(&home, "write_file", "plain/config").ended(0);
}

#[test]
fn no_standing_answer_lifts_the_question_about_a_start_file() {
    let home = Home::new();
    let call = write(&home, "write_file", "notes.txt").ended(4).call_id();
    home.run(&["approvals", "approve", &call, "--always"]).ended(0);
    write(&home, "write_file", "notes.txt").ended(0);
    let call = write(&home, "write_file", ".mcp.json").ended(4).call_id();
    let refused = home.run(&["approvals", "approve", &call, "--always"]);
    assert!(refused.code != 0 && refused.err.contains("answer once"), "{refused:?}");
    home.run(&["approvals", "approve", &call]).ended(0);
    home.run(&["call", "--resume", &call]).ended(0);
    write(&home, "write_file", ".mcp.json").ended(4);
    write(&home, "write_file", "notes.txt").ended(0);
}

/// A toolroom in its default folders, in a home that is also the workspace.
struct Ann(TempDir);

impl Ann {
    fn new() -> Self {
        let ann = Self(TempDir::new().unwrap());
        belongs_to_programs(ann.0.path());
        ann.run(&["tools", "enable", "execute_shell_command"]).ended(0);
        ann
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Home::new().command(arguments);
        command
            .env_remove("TOOLROOM_HOME")
            .env("HOME", self.0.path())
            .env("TOOLROOM_WORKSPACE", self.0.path());
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().unwrap())
    }

    fn configuration(&self) -> std::path::PathBuf {
        self.0.path().join(".config/toolroom/toolroom.toml")
    }
}

#[test]
fn a_program_in_a_home_cannot_switch_its_sandbox_off() {
    let text = "[policy]\\nexec_sandbox = \\\"off\\\"\\npreset = \\\"open\\\"\\n";
    let make = format!("mkdir -p .config/toolroom; printf \"{text}\" > .config/toolroom/toolroom.toml");
    for command in [make.as_str(), "mkdir -p .ssh; echo key > .ssh/authorized_keys"] {
        let ann = Ann::new();
        ann.run(&["call", "run_command", &format!("command={command}"), "--yes"]);
        assert!(!ann.configuration().exists());
        assert!(!ann.0.path().join(".ssh/authorized_keys").exists());
        let shown = ann.run(&["config", "show", "policy.exec_sandbox"]).ended(0);
        assert_eq!(shown.out, "policy.exec_sandbox = \"workspace\"\n");
        // Behind Landlock alone nothing runs there.
        let none = TempDir::new().unwrap();
        let mut call =
            ann.command(&["call", "run_command", &format!("command={command}; echo x > ran"), "--yes"]);
        let refused = ran(call.env("PATH", none.path()).output().unwrap()).ended(1);
        assert!(refused.err.contains("holds a home") && !ann.0.path().join("ran").exists(), "{refused:?}");
    }
}

#[test]
fn a_configuration_that_appears_during_a_program_counts_once_trusted() {
    let ann = Ann::new();
    let preset = || ann.run(&["config", "show", "policy.preset"]).ended(0).out;
    let mut child = ann
        .command(&["call", "run_command", "command=until [ -e go ]; do sleep 0.05; done", "--yes"])
        .spawn()
        .unwrap();
    let folder = ann.configuration().parent().unwrap().to_owned();
    let has_mark = || std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
    while !has_mark() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    std::fs::write(ann.configuration(), "[policy]\npreset = \"open\"\n").unwrap();
    assert_eq!(preset(), "policy.preset = \"balanced\"\n");
    std::fs::write(ann.0.path().join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(preset(), "policy.preset = \"balanced\"\n");
    let told = ann.run(&["doctor"]);
    assert!(told.out.contains("is not trusted") && told.out.contains("toolroom trust"), "{told:?}");
    let told = ann.run(&["trust"]).ended(2);
    assert!(told.err.contains("policy.preset = \"open\""), "{told:?}");
    assert_eq!(preset(), "policy.preset = \"balanced\"\n");
    ann.run(&["trust", "--yes"]).ended(0);
    assert_eq!(preset(), "policy.preset = \"open\"\n");
}

#[test]
fn programs_can_read_the_credentials_that_the_owner_names() {
    let home = Home::new();
    let here = TempDir::new().unwrap();
    for name in [".env", ".npmrc", "sub/.env"] {
        let path = here.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "canary").unwrap();
    }
    belongs_to_programs(here.path());
    let read = |more: &[&str]| {
        let words = [more, &["sandbox", "--", "grep", "-r", "", "."]].concat();
        let mut command = home.command(&words);
        command.current_dir(here.path());
        ran(command.output().unwrap()).out.matches("canary").count()
    };
    assert_eq!(read(&[]), 0);
    std::fs::write(home.path().join("toolroom.toml"), "files.programs_read = [\".env\"]\n").unwrap();
    assert_eq!(read(&[]), 2);
    // A project file opens nothing.
    std::fs::write(home.path().join("toolroom.toml"), "").unwrap();
    std::fs::write(here.path().join("toolroom.toml"), "files.programs_read = [\"*\"]\n").unwrap();
    assert_eq!(read(&[]), 0);
    let checked = home.run(&["config", "check", "--set", "files.programs_read=['notes.txt']"]);
    assert!(
        checked.err.contains("not hidden from programs") || checked.out.contains("not hidden from programs"),
        "{checked:?}"
    );
}

#[test]
fn a_private_key_is_found_wherever_a_page_starts() {
    let home = Home::new();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let key = format!("-----BEGIN OPENSSH {} KEY-----\ncanary\n", "PRIVATE");
    std::fs::write(workspace.join("log.txt"), "line\n".repeat(100_000) + &key).unwrap();
    for more in [&[][..], &["offset=100000"], &["offset=100002", "limit=1"]] {
        let words = [&["call", "read_file", "path=log.txt", "--json"], more].concat();
        let refused = home.run(&words).ended(1);
        assert!(
            refused.out.contains("private key") && !refused.out.contains("canary"),
            "{more:?} {refused:?}"
        );
    }
}
