//! The file tools through the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::{Home, Ran, binary, ran};

fn workspace(home: &Home) -> PathBuf {
    home.path().join("workspace")
}

/// A home with a workspace.
fn at_home() -> Home {
    let home = Home::new();
    std::fs::create_dir(workspace(&home)).unwrap();
    home
}

fn read(home: &Home, path: &str) -> Ran {
    home.run(&["call", "read_file", &format!("path={path}"), "--json"])
}

fn write(home: &Home, path: &str) -> Ran {
    home.run(&["call", "write_file", &format!("path={path}"), "content=x", "--yes", "--json"])
}

#[test]
fn each_file_tool_works() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    assert!(!workspace(&home).exists(), "nothing is made before it is needed");
    let asked = home.run(&["call", "write_file", "path=a/b.txt", "content=hello"]).ended(4);
    assert!(asked.err.contains("waits for approval") && !workspace(&home).exists(), "{asked:?}");

    let call = |words: &[&str]| {
        let words: Vec<&str> = ["call"].iter().chain(words).chain(&["--yes", "--json"]).copied().collect();
        home.run(&words).ended(0).json()["result"].clone()
    };
    let written = call(&["write_file", "path=a/b.txt", "content=hello\nworld\n"]);
    assert_eq!(written, json!({"success": true, "path": "a/b.txt", "bytes": 12}));
    assert_eq!(call(&["fs-write", "path=c.txt", "content=añ"]), json!({"ok": true, "bytesWritten": 3}));
    assert_eq!(call(&["read_file", "path=a/b.txt"]), json!("hello\nworld\n"));
    let note = "[lines 1 to 1; the file has 12 bytes; read on with offset=2]";
    assert_eq!(call(&["read_file", "path=a/b.txt", "limit=1"]), json!(format!("hello\n{note}")));
    assert_eq!(call(&["fs-read", "path=c.txt"]), json!({"content": "añ"}));
    let listed =
        json!([{"name": "a", "type": "dir", "size": 0}, {"name": "c.txt", "type": "file", "size": 3}]);
    assert_eq!(call(&["list_files"]), listed);
    assert_eq!(std::fs::read_to_string(workspace(&home).join("a/b.txt")).unwrap(), "hello\nworld\n");
    let printed = home.run(&["call", "read_file", "path=a/b.txt"]).ended(0);
    assert!(printed.out.starts_with("hello\nworld"), "{printed:?}");
}

#[test]
fn a_family_has_one_switch() {
    let home = at_home();
    home.run(&["tools", "disable", "fs-read"]).ended(0);
    home.run(&["call", "read_file", "path=x"]).ended(3);
    home.run(&["tools", "enable", "read_file"]).ended(0);
    home.run(&["call", "fs-read", "path=x"]).ended(1);
}

#[test]
fn no_path_outside_is_reached() {
    let home = at_home();
    let (space, secret) = (workspace(&home), home.path().join("secret.txt"));
    std::fs::write(&secret, "CANARY-91c4").unwrap();
    std::fs::write(space.join(".env"), "CANARY-91c4").unwrap();
    let link = |name: &str, to: &Path| std::os::unix::fs::symlink(to, space.join(name)).unwrap();
    link("out", Path::new("../secret.txt"));
    link("folder", home.path());
    link("env.txt", Path::new(".env"));
    link("process", Path::new("/proc/self/environ"));
    let absolute = secret.to_str().unwrap().to_owned();
    let database = home.path().join("toolroom.db").to_str().unwrap().to_owned();
    // Database and key exist from now on.
    write(&home, "fine.txt").ended(0);
    let before = std::fs::read_dir(home.path()).unwrap().count();
    for (path, kind) in [
        ("../secret.txt", "permission_denied"),
        ("a/../../secret.txt", "permission_denied"),
        (absolute.as_str(), "permission_denied"),
        ("out", "permission_denied"),
        ("folder/secret.txt", "permission_denied"),
        ("env.txt", "permission_denied"),
        (".env", "permission_denied"),
        ("process", "permission_denied"),
        ("../toolroom.db", "permission_denied"),
        (database.as_str(), "permission_denied"),
        ("/etc/passwd", "permission_denied"),
        ("/proc/self/environ", "permission_denied"),
        ("~/x", "invalid_arguments"),
    ] {
        let told = read(&home, path).ended(1);
        // If a folder is missing, its `..` has no target.
        let kinds = [kind, if path.starts_with("a/") { "not_found" } else { kind }];
        assert!(kinds.contains(&told.json()["error"]["kind"].as_str().unwrap()), "{path}: {told:?}");
        assert!(!told.out.contains("CANARY-91c4"), "{path}");
        let told = write(&home, path).ended(1);
        assert!(kinds.contains(&told.json()["error"]["kind"].as_str().unwrap()), "{path}: {told:?}");
    }
    for path in ["..", "folder", "/", "/etc", home.path().to_str().unwrap()] {
        home.run(&["call", "list_files", &format!("path={path}")]).ended(1);
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "CANARY-91c4");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), before);
}

#[test]
fn special_files_return_at_once() {
    let home = at_home();
    let space = workspace(&home);
    let made = Command::new("mkfifo").arg(space.join("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(space.join("socket")).unwrap();
    std::fs::File::create(space.join("sparse")).unwrap().set_len(4 << 30).unwrap();
    std::fs::write(space.join("image"), b"\x89PNG\r\n\x1a\n\0").unwrap();
    for (path, text) in [
        ("pipe", "`pipe` is a pipe, not a file"),
        ("socket", "`socket` is a socket, not a file"),
        ("sparse", "a binary file of 4294967296 bytes"),
        ("image", "a PNG image of 9 bytes"),
        (".", "`.` is a folder, not a file"),
    ] {
        let told = read(&home, path).ended(1).json()["error"].clone();
        assert!(told["kind"] == "tool" && told["message"].as_str().unwrap().contains(text), "{told}");
    }
    for path in ["pipe", "socket", "."] {
        assert_eq!(write(&home, path).ended(1).json()["error"]["kind"], "tool");
    }
}

#[test]
fn the_workspace_is_configurable() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("here.txt"), "here").unwrap();
    let at = |folder: &str| {
        let mut command = home.command(&["call", "list_files", "--json"]);
        ran(command.env("TOOLROOM_WORKSPACE", folder).output().unwrap())
    };
    let listed = at(elsewhere.path().to_str().unwrap()).ended(0).json()["result"].clone();
    assert_eq!(listed, json!([{"name": "here.txt", "type": "file", "size": 4}]));
    let relative = at("here").ended(2).json()["error"]["message"].to_string();
    assert!(relative.contains("use an absolute path"), "{relative}");
    let own = home.path().to_str().unwrap().to_owned();
    for (folder, why) in [
        ("/etc", "system folder"),
        ("/", "system folder"),
        ("/none/such", "does not exist"),
        (own.as_str(), "keeps its own files there"),
    ] {
        let told = at(folder).ended(1).json()["error"].clone();
        assert!(!told["message"].as_str().unwrap().contains(folder), "{told}");
        let mut command = home.command(&["call", "list_files"]);
        let told = ran(command.env("TOOLROOM_WORKSPACE", folder).output().unwrap()).ended(1);
        assert!(told.err.contains(why), "{folder}: {told:?}");
    }
}

#[test]
fn a_killed_writer_leaves_the_old_or_the_new_text() {
    let home = at_home();
    let file = workspace(&home).join("text");
    let texts = ["a", "b"].map(|letter| letter.repeat(100_000));
    std::fs::write(&file, &texts[0]).unwrap();
    let is_staged = || {
        let entries = std::fs::read_dir(workspace(&home)).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "part"))
            .count()
    };
    let mut killed = 0;
    for cycle in 0..8 {
        let before = is_staged();
        let content = format!("content={}", texts[(cycle + 1) % 2]);
        let mut child =
            home.command(&["call", "write_file", "path=text", &content, "--yes"]).spawn().unwrap();
        // During the write, if it is caught there; otherwise before it.
        while is_staged() == before && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let found = std::fs::read_to_string(&file).unwrap();
        assert!(texts.contains(&found), "cycle {cycle}: {} bytes", found.len());
    }
    assert!(killed > 0, "nobody was killed");
    let listed = home.run(&["call", "list_files", "--json"]).ended(0).json()["result"].clone();
    assert_eq!(listed, json!([{"name": "text", "type": "file", "size": 100_000}]), "leftovers are not shown");
}

#[test]
fn exceeding_the_file_size_limit_is_an_error_and_not_the_end() {
    let home = at_home();
    std::fs::write(workspace(&home).join("text"), "old").unwrap();
    // The database exists, and needs less than the limit.
    read(&home, "text").ended(0);
    let arguments = home.path().join("arguments.json");
    std::fs::write(&arguments, json!({"path": "text", "content": "x".repeat(3_500_000)}).to_string())
        .unwrap();
    let script =
        format!("ulimit -f 3000; {} call write_file - --set policy.preset=open --json", binary().display());
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).env("TOOLROOM_HOME", home.path());
    let told = ran(shell.stdin(std::fs::File::open(&arguments).unwrap()).output().unwrap()).ended(1);
    let message = told.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`text`") && message.contains("file too large"), "{message}");
    assert_eq!(std::fs::read_to_string(workspace(&home).join("text")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(workspace(&home)).unwrap().count(), 1, "nothing half done is left");
}

#[test]
fn a_full_disk_changes_nothing() {
    let home = at_home();
    let script = format!(
        "mount -t tmpfs -o size=64k none {space} && echo old > {space}/text && \
         {binary} call write_file path=text content=\"$(head -c 100000 /dev/zero | tr '\\0' x)\" --yes --json; \
         cat {space}/text; ls -A {space}",
        space = workspace(&home).display(),
        binary = binary().display(),
    );
    let mut shell = Command::new("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "bash", "-c", &script]);
    shell.env("TOOLROOM_HOME", home.path()).stdin(Stdio::null());
    let told = ran(shell.output().unwrap()).ended(0);
    let (report, rest) = told.out.split_at(told.out.rfind('}').unwrap_or_else(|| panic!("{told:?}")) + 1);
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["error"]["kind"], "tool");
    assert_eq!(report["error"]["message"], "there is no room left to write `text`; it is unchanged");
    assert_eq!(rest.trim(), "old\ntext", "the old text is there, and nothing half done");
}
