use std::path::Path;

use toolroom_host::files::{Access, FileError, Parents, RootProblem, RootState, Workspace};

use super::{CANARY, Ground};

#[test]
fn a_root_is_a_folder_of_people_that_is_there() {
    let ground = Ground::new();
    std::os::unix::fs::symlink("/etc", ground.above().join("settings")).unwrap();
    let home = ground.above().join("home");
    std::fs::create_dir_all(home.join(".aws")).unwrap();
    let (settings, file) = (ground.above().join("settings"), ground.inside("file.txt"));
    for (root, why) in [
        (Path::new("/"), "system folder `/`"),
        (Path::new("/etc"), "system folder `/etc`"),
        (Path::new("/usr/share"), "system folder `/usr`"),
        (Path::new("/proc/self"), "system folder `/proc`"),
        (settings.as_path(), "system folder `/etc`"),
        (home.join(".aws").as_path(), "credentials"),
        (Path::new("here"), "not absolute"),
        (file.as_path(), "not a folder"),
        (ground.inside("none").as_path(), "does not exist"),
    ] {
        let space = Workspace::new(root.to_owned()).with_home(Some(home.clone()));
        let results = [
            space.read("file.txt").map(drop),
            space.list(".", 9).map(drop),
            space.write("new.txt", b"x", Parents::Create).map(drop),
        ];
        for result in results {
            let told = result.unwrap_err().to_string();
            assert!(told.contains(why) && told.contains("cannot be opened for files"), "{told}");
        }
    }
    assert!(!ground.inside("none").exists());
}

#[test]
fn a_workspace_of_our_own_is_made_when_it_is_needed() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new();
    let place = ground.inside("data/workspace");
    let space = Workspace::in_data_folder(place.clone());
    assert!(!place.exists());
    assert_eq!(space.list(".", 9).unwrap().entries, []);
    assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    std::fs::remove_dir(&place).unwrap();
    space.write("a/b.txt", b"x", Parents::Create).unwrap();
    assert_eq!(space.read("a/b.txt").unwrap(), "x");
    // A link cannot replace it.
    std::fs::remove_dir_all(&place).unwrap();
    std::os::unix::fs::symlink("/etc", &place).unwrap();
    assert!(matches!(space.list(".", 9).unwrap_err(), FileError::Root { .. }));
}

#[test]
fn further_roots_are_open_as_far_as_they_were_opened() {
    let ground = Ground::new();
    let outside = ground.outside().to_str().unwrap().to_owned();
    let path = |name: &str| format!("{outside}/{name}");
    for space in ground.both() {
        assert!(matches!(space.read(&path("canary.txt")).unwrap_err(), FileError::Outside { .. }));
        let reading = space.clone().with_root(ground.outside(), Access::ReadOnly);
        assert_eq!(reading.read(&path("canary.txt")).unwrap(), CANARY);
        assert_eq!(reading.list(&outside, 9).unwrap().total, 2);
        for name in ["canary.txt", "new.txt", "deep/new.txt"] {
            let error = reading.write(&path(name), b"x", Parents::Create).unwrap_err();
            assert!(matches!(error, FileError::ReadOnly { .. }), "{error}");
        }
        assert!(matches!(reading.read(&path("../ws/file.txt")).unwrap_err(), FileError::Outside { .. }));
        ground.assert_untouched("reading only");
    }
    let writing = ground.workspace().with_root(ground.outside(), Access::Writable);
    writing.write(&path("canary.txt"), b"changed", Parents::MustExist).unwrap();
    assert_eq!(writing.read(&path("canary.txt")).unwrap(), "changed");
}

#[test]
fn the_innermost_root_decides_for_any_path() {
    let ground = Ground::new();
    ground.link("way", "dir/sub");
    let space = ground.workspace().with_root(ground.inside("dir"), Access::ReadOnly);
    let absolute = ground.inside("dir/new.txt");
    for path in
        ["dir/new.txt", "dir/deep/new.txt", "way/new.txt", "./dir/../dir/new.txt", absolute.to_str().unwrap()]
    {
        let error = space.write(path, b"x", Parents::Create).unwrap_err();
        assert!(matches!(error, FileError::ReadOnly { .. }), "{path}: {error}");
    }
    assert!(!ground.inside("dir/deep").exists());
    space.write("new.txt", b"x", Parents::MustExist).unwrap();
    let inner = space.with_root(ground.inside("dir/sub"), Access::Writable);
    inner.write("dir/sub/new.txt", b"x", Parents::MustExist).unwrap();
    inner.write("dir/new.txt", b"x", Parents::MustExist).unwrap_err();
    let both = ground.workspace().with_root(ground.inside("dir"), Access::ReadOnly);
    let both = both.with_root(ground.inside("dir"), Access::Writable);
    both.write("dir/new.txt", b"x", Parents::MustExist).unwrap_err();
}

#[test]
fn what_may_only_be_read_is_not_made_either() {
    let ground = Ground::new();
    let space = ground.workspace().with_root(ground.inside("vendor"), Access::ReadOnly);
    for parents in [Parents::Create, Parents::MustExist] {
        space.write("vendor/new.txt", b"x", parents).unwrap_err();
    }
    assert!(!ground.inside("vendor").exists());
    space.write("vendored.txt", b"x", Parents::Create).unwrap();
}

#[test]
fn a_root_may_be_called_by_its_real_name() {
    let ground = Ground::new();
    let by_link = ground.above().join("ws-link");
    std::os::unix::fs::symlink(ground.inside(""), &by_link).unwrap();
    let space = Workspace::new(by_link.clone());
    for path in [by_link.join("file.txt"), ground.inside("file.txt")] {
        assert_eq!(space.read(path.to_str().unwrap()).unwrap(), "inside\n");
    }
}

#[test]
fn a_survey_says_what_is_open_and_makes_nothing() {
    let ground = Ground::new();
    let own = ground.inside("data/workspace");
    let space = Workspace::in_data_folder(own.clone())
        .with_root(ground.outside(), Access::ReadOnly)
        .with_root(ground.inside("dir"), Access::Writable)
        .with_root(ground.inside("none"), Access::ReadOnly)
        .with_root(ground.inside("file.txt"), Access::Writable)
        .with_root("/etc".into(), Access::ReadOnly);
    let seen = space.survey();
    let states: Vec<&RootState> = seen.iter().map(|root| &root.state).collect();
    assert!(
        matches!(
            states[..],
            [
                RootState::NotMade,
                RootState::Open,
                RootState::Open,
                RootState::Closed(RootProblem::Missing),
                RootState::Closed(RootProblem::NotAFolder),
                RootState::Closed(RootProblem::Refused(_)),
            ]
        ),
        "{seen:?}"
    );
    assert!(!own.exists() && seen[0].path == own && seen[1].access == Access::ReadOnly);
    space.list(".", 1).unwrap();
    assert!(matches!(space.survey()[0].state, RootState::Open));
}
