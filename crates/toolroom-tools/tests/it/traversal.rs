//! No file tool is a way out of the workspace, however the path is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolroom::call::{CallRequest, Outcome};
use toolroom_host::files::Projects;
use toolroom_host::folders::Folders;
use toolroom_tools::builtin::web::Web;

use crate::room::room;
use crate::scale::scaled;
use crate::ways_out::{CANARY, MARK, STRINGS, WaysOut};

/// However much is wanted: each of them is a whole call.
const MOST: u32 = 200_000;

/// A data folder with a workspace in it, and beside it a folder that must stay as it is.
struct Ground {
    folder: TempDir,
}

impl Ground {
    /// Where nothing waits for a disk, if there is such a place.
    fn new() -> Self {
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let ground = Self { folder };
        fs::create_dir(ground.outside()).unwrap();
        for name in ["canary.txt", MARK] {
            fs::write(ground.outside().join(name), CANARY).unwrap();
        }
        fs::create_dir_all(ground.inside().join("dir/sub")).unwrap();
        for name in ["file.txt", "canary.txt", "dir/file.txt", "dir/canary.txt"] {
            fs::write(ground.inside().join(name), "inside\n").unwrap();
        }
        ground
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn inside(&self) -> PathBuf {
        self.data().join("workspace")
    }

    #[track_caller]
    fn assert_untouched(&self, path: &str) {
        let has = |folder: &Path, names: &[&str]| {
            let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let found: BTreeSet<_> = entries.map(|name| name.into_string().unwrap()).collect();
            assert_eq!(found, names.iter().map(ToString::to_string).collect(), "{path}");
        };
        has(self.folder.path(), &["data", "outside"]);
        has(&self.data(), &["workspace"]);
        has(&self.outside(), &["canary.txt", MARK]);
        for name in ["canary.txt", MARK] {
            assert_eq!(fs::read_to_string(self.outside().join(name)).unwrap(), CANARY, "{path}");
        }
    }
}

/// Calls a tool with every way out, and looks at all that it says and at what it left behind.
async fn nothing_leads_out(tool: &str, content: Option<&str>, hidden: &str) {
    let ground = Ground::new();
    let mut ways = WaysOut::lay(&ground.inside(), &ground.outside(), "../../outside");
    let folders = Folders { config: ground.folder.path().join("config"), data: ground.data() };
    let room = room(Web::public(), Some(Projects::new(&folders, "local", Vec::new())));
    let (mut done, mut outward) = (0_u32, 0_u32);
    for number in 0..scaled(STRINGS).min(MOST) {
        let path = ways.next();
        // Where it leads if it is simply followed.
        let led = fs::canonicalize(ground.inside().join(&path));
        outward += u32::from(led.is_ok_and(|place| place.starts_with(ground.outside())));
        let request = CallRequest::new(tool).argument("path", path.as_str());
        let request = content.into_iter().fold(request, |request, text| request.argument("content", text));
        match room.call(request).await.outcome {
            Outcome::Done(said) => {
                assert!(!said.value.to_string().contains(hidden), "{path}");
                done += 1;
            }
            Outcome::Failed(error) => {
                assert!(!format!("{error:?}").contains(CANARY), "{path}: {error:?}");
            }
            other => panic!("{path}: {other:?}"),
        }
        // What is left behind stays, so looking now and then is enough to see it, and near enough to find out why.
        if number % 100 == 0 {
            ground.assert_untouched(&path);
        }
    }
    ground.assert_untouched("the last ones");
    // Some of it is harmless, or nothing was tried.
    assert!(done > 300 && outward > 1_000, "{done} done, {outward} lead out");
}

#[tokio::test]
async fn read_file_reads_nothing_outside() {
    nothing_leads_out("builtin:read_file", None, CANARY).await;
}

#[tokio::test]
async fn fs_read_reads_nothing_outside() {
    nothing_leads_out("builtin:fs-read", None, CANARY).await;
}

#[tokio::test]
async fn list_files_lists_nothing_outside() {
    nothing_leads_out("builtin:list_files", None, MARK).await;
}

#[tokio::test]
async fn write_file_writes_nothing_outside() {
    nothing_leads_out("builtin:write_file", Some("written"), CANARY).await;
}

#[tokio::test]
async fn fs_write_writes_nothing_outside() {
    nothing_leads_out("builtin:fs-write", Some("written"), CANARY).await;
}
