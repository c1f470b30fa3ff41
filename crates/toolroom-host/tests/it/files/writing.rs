use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use toolroom_host::files::{FileError, Parents, WriteOutcome};

use super::{Ground, names_in};

#[test]
fn a_file_is_made_or_replaced_whole() {
    let ground = Ground::new();
    for space in ground.both() {
        let write = |path: &str, text: &str| space.write(path, text.as_bytes(), Parents::MustExist).unwrap();
        assert_eq!(write("new.txt", "one"), WriteOutcome::New);
        assert_eq!(write("./dir/../new.txt", ""), WriteOutcome::Replaced);
        assert_eq!(ground.text("new.txt"), "");
        assert_eq!(write(ground.inside("dir/sub/a b.txt").to_str().unwrap(), "añ🙂\r\n"), WriteOutcome::New);
        assert_eq!(ground.text("dir/sub/a b.txt"), "añ🙂\r\n");
        std::fs::remove_file(ground.inside("new.txt")).unwrap();
        std::fs::remove_file(ground.inside("dir/sub/a b.txt")).unwrap();
        assert_eq!(names_in(&ground.inside("")).len(), 2, "nothing half done is left");
    }
}

#[test]
fn folders_are_made_only_when_asked_for() {
    let ground = Ground::new();
    ground.link("in", "dir");
    let [following, walking] = ground.both();
    for space in [&following, &walking] {
        let error = space.write("a/b/c.txt", b"x", Parents::MustExist).unwrap_err();
        assert!(matches!(error, FileError::NoFolder { .. }), "{error}");
        assert!(!ground.inside("a").exists());
        space.write("a/b/c.txt", b"x", Parents::Create).unwrap();
        assert_eq!(ground.text("a/b/c.txt"), "x");
        std::fs::remove_dir_all(ground.inside("a")).unwrap();
        for path in ["a/../b/c.txt", "a/b/../../../../x.txt", "file.txt/a/b.txt", ".ssh/a/b.txt", "a/b/.env"]
        {
            space.write(path, b"x", Parents::Create).unwrap_err();
            assert!(!ground.inside("a").exists() && !ground.inside(".ssh").exists(), "{path}");
        }
    }
    following.write("in/deep/c.txt", b"x", Parents::Create).unwrap();
    assert_eq!(ground.text("dir/deep/c.txt"), "x");
    walking.write("in/deeper/c.txt", b"x", Parents::Create).unwrap_err();
}

#[test]
fn who_may_read_a_file_stays_the_same() {
    let ground = Ground::new();
    let mode = |name: &str| ground.inside(name).metadata().unwrap().mode() & 0o7777;
    let space = ground.workspace();
    for (before, after) in [(0o600, 0o600), (0o755, 0o755), (0o666, 0o666), (0o4755, 0o755), (0o2640, 0o640)]
    {
        std::fs::set_permissions(ground.inside("file.txt"), Permissions::from_mode(before)).unwrap();
        space.write("file.txt", b"x", Parents::MustExist).unwrap();
        assert_eq!(mode("file.txt"), after, "{before:o}");
    }
    // New files get what any program's get here.
    std::fs::write(ground.inside("theirs"), "x").unwrap();
    space.write("ours", b"x", Parents::MustExist).unwrap();
    assert_eq!(mode("ours"), mode("theirs"));
}

#[test]
fn another_name_of_a_file_keeps_the_old_content() {
    let ground = Ground::new();
    std::fs::hard_link(ground.inside("file.txt"), ground.inside("second.txt")).unwrap();
    ground.workspace().write("file.txt", b"new", Parents::MustExist).unwrap();
    assert_eq!((ground.text("file.txt"), ground.text("second.txt")), ("new".into(), "inside\n".into()));
}

#[test]
fn what_must_not_be_replaced_is_not() {
    let ground = Ground::new();
    let key = format!("-----BEGIN {} KEY-----\nMIIE\n", "RSA PRIVATE");
    ground.write("deploy_key", &key);
    ground.write("id_rsa", "x");
    ground.link("link.txt", "file.txt");
    ground.link("nowhere.txt", "missing.txt");
    ground.link("out.txt", "../outside/canary.txt");
    for space in ground.both() {
        for (path, text) in [
            ("link.txt", "symbolic link"),
            ("nowhere.txt", "symbolic link"),
            ("out.txt", "symbolic link"),
            ("dir", "a folder"),
            ("dir/", "a folder"),
            (".", "a folder"),
            ("new/", "a folder"),
            ("deploy_key", "private key"),
            ("id_rsa", "credentials"),
            (".env", "credentials"),
            ("dir/.env.local", "credentials"),
            ("../x.txt", "outside the workspace"),
            ("/etc/x", "system folder"),
            ("file.txt/x", "not a folder"),
        ] {
            let told = space.write(path, b"x", Parents::MustExist).unwrap_err().to_string();
            assert!(told.contains(text), "{path}: {told}");
        }
    }
    assert_eq!((ground.text("deploy_key"), ground.text("file.txt")), (key, "inside\n".into()));
    assert!(!ground.inside("missing.txt").exists() && !ground.inside(".env").exists());
    ground.assert_untouched("writing");
}

#[test]
fn many_writers_of_one_file_leave_one_of_their_texts() {
    let ground = Ground::new();
    let space = ground.workspace();
    let texts: Vec<String> = (0..8).map(|number| number.to_string().repeat(50_000)).collect();
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| space.write("shared.txt", text.as_bytes(), Parents::MustExist).unwrap());
        }
    });
    assert!(texts.contains(&ground.text("shared.txt")));
    assert_eq!(names_in(&ground.inside("")).len(), 3);
}
