//! The file tools through the whole path of a call.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolroom::Toolroom;
use toolroom::call::{CallReport, CallRequest, Outcome};
use toolroom::catalog::Audience;
use toolroom::ledger::Switches;
use toolroom::policy::ToolChoice;
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{MemoryLedger, NoSeal, unguarded};
use toolroom_host::files::Access;
use toolroom_host::folders::Folders;

use super::*;

struct FileToolroom {
    room: Toolroom,
    folder: TempDir,
}

impl FileToolroom {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let folders = Folders { config: folder.path().join("config"), data: folder.path().join("data") };
        let projects = Projects::new(&folders, "local", vec![folders.data.join("toolroom.db")]);
        let projects = projects.with_root(folder.path().join("shared"), Access::ReadOnly);
        fs::create_dir(folder.path().join("shared")).unwrap();
        let room = Toolroom::builder(Arc::new(MemoryLedger::new()))
            .policy(unguarded())
            .seal(Arc::new(NoSeal))
            .build();
        room.catalog().register_all(None, all(&Some(Arc::new(projects))).unwrap()).unwrap();
        Self { room, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("data/workspace").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    async fn call_as(&self, project: &str, tool: &str, arguments: Value) -> CallReport {
        let Value::Object(arguments) = arguments else { panic!("no arguments") };
        self.room.call(CallRequest::new(tool).scope(Scope::project(project)).arguments(arguments)).await
    }

    async fn done(&self, tool: &str, arguments: Value) -> Value {
        let report = self.call_as("local", tool, arguments).await;
        let told = report.for_client();
        assert!(told.success, "{told:?}");
        told.result.unwrap()
    }

    async fn failed(&self, tool: &str, arguments: Value) -> ToolError {
        match self.call_as("local", tool, arguments).await.outcome {
            Outcome::Failed(error) => error,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn each_variant_has_its_own_result_shape() {
    let room = FileToolroom::new();
    assert!(!room.path("").exists(), "the workspace is created on first use");
    let written = room.done("write_file", json!({"path": "a/b.txt", "content": "añ"})).await;
    assert_eq!(written, json!({"success": true, "path": "a/b.txt", "bytes": 3}));
    let written = room.done("fs-write", json!({"path": "c.txt", "content": "x\n"})).await;
    assert_eq!(written, json!({"ok": true, "bytesWritten": 2}));
    assert_eq!(room.done("read_file", json!({"path": "a/b.txt"})).await, json!("añ"));
    assert_eq!(room.done("fs-read", json!({"path": "c.txt"})).await, json!({"content": "x\n"}));
    let listed =
        json!([{"name": "a", "type": "dir", "size": 0}, {"name": "c.txt", "type": "file", "size": 2}]);
    assert_eq!(room.done("list_files", json!({})).await, listed);
    let inner = json!([{"name": "b.txt", "type": "file", "size": 3}]);
    assert_eq!(room.done("list_files", json!({"path": "a"})).await, inner);
    let missing = room.failed("fs-write", json!({"path": "new/x.txt", "content": ""})).await;
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(!room.path("new").exists());
}

#[tokio::test]
async fn a_long_text_is_shortened_and_can_be_read_in_parts() {
    let room = FileToolroom::new();
    let text: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    room.put("long.txt", &text);
    let report = room.call_as("local", "read_file", json!({"path": "long.txt"})).await;
    let Outcome::Done(done) = report.outcome else { panic!("{report:?}") };
    assert!(done.truncated && done.artifact.is_some() && done.chars == text.len());
    let shown = done.value.as_str().unwrap();
    let size = shown.chars().count();
    assert!((45_000..=50_000).contains(&size), "{size}");
    assert!(shown.contains(&format!("{} characters", text.len())), "the note tells how much there is");
    let page = room.done("read_file", json!({"path": "long.txt", "offset": 7, "limit": 2})).await;
    let note = format!("[lines 7 to 8; the file has {} bytes; read on with offset=9]", text.len());
    assert_eq!(page, json!(format!("line 7\nline 8\n{note}")));
    let end = room.done("read_file", json!({"path": "long.txt", "offset": 20_000})).await;
    assert_eq!(end, json!("line 20000\n"));
    let (mut joined, mut next) = (String::new(), Some(1_u64));
    while let Some(offset) = next {
        let page = room.done("read_file", json!({"path": "long.txt", "offset": offset})).await;
        let (body, note) = page.as_str().unwrap().rsplit_once('[').unwrap_or((page.as_str().unwrap(), ""));
        joined.push_str(body);
        next = note.trim_end_matches(']').rsplit_once('=').map(|(_, next)| next.parse().unwrap());
    }
    assert_eq!(joined, text);
    let beyond = room.failed("read_file", json!({"path": "long.txt", "offset": 20_001})).await;
    assert_eq!(
        (beyond.kind(), beyond.for_model()),
        (ErrorKind::InvalidArguments, "`long.txt` has no line 20001")
    );
}

#[tokio::test]
async fn a_file_too_large_to_read_whole_is_cut_and_says_how_to_continue() {
    let room = FileToolroom::new();
    let line = "x".repeat(999) + "\n";
    room.put("large.txt", line.repeat(11_000));
    room.put("one_line.txt", "x".repeat(11_000_000));
    let page = room.done("read_file", json!({"path": "large.txt"})).await;
    assert!(
        page.as_str()
            .unwrap()
            .ends_with("[lines 1 to 49; the file has 11000000 bytes; read on with offset=50]")
    );
    let page = room.done("read_file", json!({"path": "one_line.txt"})).await;
    assert!(page.as_str().unwrap().contains("\n[the beginning of line 1, which is too long"), "{page}");
    let error = room.failed("fs-read", json!({"path": "large.txt"})).await;
    assert!(error.kind() == ErrorKind::Tool && error.for_model().contains("line by line"), "{error}");
}

#[tokio::test]
async fn errors_have_a_kind_and_reveal_nothing_about_other_paths() {
    let room = FileToolroom::new();
    room.put("dir/x", "x");
    room.put(".env", "x");
    room.put("image", b"\x89PNG\r\n\x1a\n\0");
    std::os::unix::fs::symlink("/etc/hostname", room.path("link")).unwrap();
    std::os::unix::fs::symlink("/secret/place/x", room.path("nowhere")).unwrap();
    let shared = room.folder.path().join("shared/x.txt");
    for (tool, path, kind) in [
        ("read_file", "", ErrorKind::InvalidArguments),
        ("read_file", "~/x", ErrorKind::InvalidArguments),
        ("fs-read", "a\0b", ErrorKind::InvalidArguments),
        ("read_file", "missing", ErrorKind::NotFound),
        ("fs-read", "../../toolroom.db", ErrorKind::PermissionDenied),
        ("read_file", "/etc/passwd", ErrorKind::PermissionDenied),
        ("read_file", ".env", ErrorKind::PermissionDenied),
        ("read_file", "link", ErrorKind::PermissionDenied),
        ("fs-read", "nowhere", ErrorKind::PermissionDenied),
        ("read_file", "dir", ErrorKind::Tool),
        ("read_file", "image", ErrorKind::Tool),
        ("list_files", "dir/x", ErrorKind::Tool),
        ("list_files", "/", ErrorKind::PermissionDenied),
        ("write_file", "link", ErrorKind::PermissionDenied),
        ("write_file", "dir", ErrorKind::Tool),
        ("fs-write", "../x", ErrorKind::PermissionDenied),
        ("write_file", shared.to_str().unwrap(), ErrorKind::PermissionDenied),
    ] {
        let mut arguments = json!({"path": path});
        if tool.contains("write") {
            arguments["content"] = "x".into();
        }
        let error = room.failed(tool, arguments).await;
        assert_eq!(error.kind(), kind, "{tool} {path}: {error}");
        assert!(!error.for_model().contains("secret/place"), "{error}");
        assert!(path != "link" || !error.for_model().contains("hostname"), "{error}");
    }
}

#[tokio::test]
async fn a_workspace_that_cannot_be_opened_is_reported_to_the_operator() {
    let folders = Folders { config: "/c".into(), data: "/d".into() };
    let projects = Projects::new(&folders, "local", Vec::new()).with_workspace("/etc".into());
    let room = Toolroom::builder(Arc::new(MemoryLedger::new())).build();
    room.catalog().register_all(None, all(&Some(Arc::new(projects))).unwrap()).unwrap();
    let report = room.call(CallRequest::new("list_files")).await;
    let Outcome::Failed(error) = report.outcome else { panic!("{report:?}") };
    assert!(!error.for_model().contains("/etc"), "{error}");
    assert!(error.for_operator().unwrap().contains("`/etc` cannot be opened for files"), "{error:?}");
    let nobody = Toolroom::builder(Arc::new(MemoryLedger::new())).build();
    nobody.catalog().register_all(None, all(&None).unwrap()).unwrap();
    assert!(!nobody.call(CallRequest::new("list_files")).await.for_client().success);
}

#[tokio::test]
async fn projects_do_not_see_each_others_files() {
    let room = FileToolroom::new();
    room.done("write_file", json!({"path": "ours.txt", "content": "ours"})).await;
    let theirs = room.call_as("theirs", "list_files", json!({})).await.for_client();
    assert_eq!(theirs.result, Some(json!([])));
    let ours = room.path("ours.txt").to_str().unwrap().to_owned();
    for path in ["ours.txt", "../workspace/ours.txt", &ours] {
        assert!(
            !room.call_as("theirs", "read_file", json!({"path": path})).await.for_client().success,
            "{path}"
        );
    }
}

#[tokio::test]
async fn one_variant_of_each_family_is_offered() {
    let room = FileToolroom::new();
    let catalog = room.room.catalog();
    let offer = catalog.offer(
        &ProjectId::default(),
        &Switches::default(),
        &Map::new(),
        Audience::Full,
        &ToolChoice::default(),
    );
    let names: Vec<&str> = offer.tools.iter().map(|entry| entry.spec().id.bare()).collect();
    assert_eq!(names, ["list_files", "read_file", "write_file"]);
}

#[tokio::test]
async fn a_long_listing_says_how_many_entries_are_left_out() {
    let room = FileToolroom::new();
    for number in 0..10_003 {
        room.put(&format!("many/{number:05}"), "");
    }
    let report = room.call_as("local", "list_files", json!({"path": "many"})).await;
    let told = report.for_client();
    assert_eq!(told.message.as_deref(), Some("10003 entries"));
    let entries = told.result.unwrap();
    assert!(entries.to_string().contains("3 of 10003 entries are left out"), "{entries}");
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_marked() {
    use std::os::unix::ffi::OsStrExt;
    let room = FileToolroom::new();
    room.put("dir/x", "");
    fs::rename(room.path("dir/x"), room.path("dir").join(std::ffi::OsStr::from_bytes(b"caf\xe9"))).unwrap();
    std::os::unix::fs::symlink("/etc", room.path("dir/out")).unwrap();
    let listed = room.done("list_files", json!({"path": "dir"})).await;
    let note = "its name is not UTF-8, so it cannot be opened by name";
    let odd = json!({"name": "caf\u{fffd}", "type": "file", "size": 0, "note": note});
    assert_eq!(listed, json!([odd, {"name": "out", "type": "other", "size": 0}]));
}
