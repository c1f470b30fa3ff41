use toolroom_host::files::{Entry, EntryKind, FileError};

use super::Ground;

#[test]
fn a_folder_is_listed_by_name_with_kinds_and_sizes() {
    let ground = Ground::new();
    ground.write("dir/.hidden", "1");
    ground.write("dir/B", "12");
    ground.write("dir/.toolroom-0123456789abcdef.part", "left by a crash");
    ground.link("dir/to_file", "../file.txt");
    ground.link("dir/to_folder", "sub");
    ground.link("dir/to_nowhere", "missing");
    ground.link("dir/to_outside", "../../outside");
    let expected = |follows: bool| {
        let (file, folder) =
            if follows { (EntryKind::File, EntryKind::Folder) } else { (EntryKind::Other, EntryKind::Other) };
        [
            (".hidden", EntryKind::File, 1),
            ("B", EntryKind::File, 2),
            ("file.txt", EntryKind::File, 11),
            ("sub", EntryKind::Folder, 0),
            ("to_file", file, if follows { 7 } else { 0 }),
            ("to_folder", folder, 0),
            ("to_nowhere", EntryKind::Other, 0),
            ("to_outside", EntryKind::Other, 0),
        ]
        .map(|(name, kind, size)| Entry { name: name.into(), is_exact: true, kind, size })
    };
    let [following, walking] = ground.both();
    for (space, follows) in [(following, true), (walking, false)] {
        let listing = space.list("dir", 99).unwrap();
        assert_eq!((listing.entries.as_slice(), listing.total), (expected(follows).as_slice(), 8));
        let part = space.list("dir", 3).unwrap();
        assert_eq!((part.entries.as_slice(), part.total), (&expected(follows)[..3], 8));
        assert_eq!(space.list("./dir/", 0).unwrap().total, 8);
        assert_eq!(space.list(".", 9).unwrap().total, 2);
    }
}

#[test]
fn only_folders_inside_are_listed() {
    let ground = Ground::new();
    ground.write(".ssh/config", "x");
    for space in ground.both() {
        for (path, text) in [
            ("..", "outside the workspace"),
            ("dir/../..", "outside the workspace"),
            ("file.txt", "is not a folder"),
            ("missing", "does not exist"),
            ("/", "outside the workspace"),
            ("/etc", "system folder `/etc`"),
            (".ssh", "credentials"),
        ] {
            let told = space.list(path, 9).unwrap_err().to_string();
            assert!(told.contains(text), "{path}: {told}");
        }
        assert!(matches!(space.list("", 9).unwrap_err(), FileError::Empty));
    }
}
