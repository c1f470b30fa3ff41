use std::path::PathBuf;

use toolroom_host::files::{FileError, Parents, PathRefusal, Protected, Workspace};

use super::Ground;

fn home() -> (Ground, PathBuf, Workspace) {
    let ground = Ground::new();
    let data = ground.inside("share/toolroom");
    ground.write("share/toolroom/toolroom.db", "database");
    ground.write("share/toolroom/master.key", "key");
    ground.write("share/toolroom/workspace/notes.txt", "notes");
    ground.write("config/toolroom.toml", "x = 1");
    let protected = Protected {
        folders: vec![data.clone(), ground.inside("config")],
        files: vec![data.join("toolroom.db"), data.join("master.key")],
    };
    let space = ground.workspace().with_protected(protected);
    (ground, data, space)
}

#[track_caller]
fn is_ours<T: std::fmt::Debug>(result: Result<T, FileError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, FileError::Refused { refusal: PathRefusal::Ours, .. }), "{error}");
}

#[test]
fn our_own_files_are_closed_though_a_root_covers_them() {
    let (ground, data, space) = home();
    ground.link("db", "share/toolroom/toolroom.db");
    ground.link("folder", "share/toolroom");
    std::fs::hard_link(data.join("toolroom.db"), ground.inside("second.txt")).unwrap();
    let absolute = data.join("toolroom.db");
    for path in
        ["share/toolroom/toolroom.db", "db", "folder/toolroom.db", "second.txt", absolute.to_str().unwrap()]
    {
        is_ours(space.read(path));
    }
    for path in
        ["share/toolroom/toolroom.db", "second.txt", "share/toolroom/toolroom.db-wal", "config/toolroom.toml"]
    {
        is_ours(space.write(path, b"x", Parents::Create));
    }
    is_ours(space.write("share/toolroom/new/folder/x", b"x", Parents::Create));
    is_ours(space.list("share/toolroom", 9));
    assert!(space.read("share/toolroom/master.key").is_err() && space.list("share", 9).is_ok());
    assert_eq!(ground.text("share/toolroom/toolroom.db"), "database");
    assert!(!data.join("new").exists());
}

#[test]
fn a_workspace_inside_our_folder_is_open_and_the_folder_itself_is_not() {
    let (ground, data, space) = home();
    drop(space);
    let files = vec![data.join("toolroom.db")];
    let protected = Protected { folders: vec![data.clone()], files };
    let inner = data.join("workspace");
    for space in [Workspace::new(inner.clone()), Workspace::in_data_folder(inner)] {
        let space = space.with_protected(protected.clone());
        assert_eq!(space.read("notes.txt").unwrap(), "notes");
        assert!(matches!(space.read("../toolroom.db").unwrap_err(), FileError::Outside { .. }));
    }
    let link = ground.above().join("data-link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    for root in [data.clone(), link] {
        let told = Workspace::new(root).with_protected(protected.clone()).read("x").unwrap_err().to_string();
        assert!(told.contains("keeps its own files there"), "{told}");
    }
}

#[test]
fn a_folder_of_ours_is_known_though_a_link_names_it() {
    let (ground, data, space) = home();
    let link = ground.above().join("data-link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    let protected = Protected { folders: vec![link], files: Vec::new() };
    is_ours(space.with_protected(protected).read("share/toolroom/toolroom.db"));
}

#[test]
fn a_folder_of_ours_is_closed_before_it_is_made() {
    let ground = Ground::new();
    ground.link("linked", "dir");
    for named in ["dir/config/toolroom", "linked/config/toolroom"] {
        let protected = Protected { folders: vec![ground.inside(named)], files: Vec::new() };
        let space = ground.workspace().with_protected(protected);
        is_ours(space.write("dir/config/toolroom/toolroom.toml", b"x", Parents::Create));
        is_ours(space.write("dir/config/toolroom", b"x", Parents::Create));
        assert!(!ground.inside("dir/config").exists());
        assert!(space.write("dir/configured.txt", b"x", Parents::Create).is_ok());
    }
}
