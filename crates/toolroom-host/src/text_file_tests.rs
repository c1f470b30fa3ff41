//! Reading, writing and finding text files.
#![expect(clippy::disallowed_methods, reason = "tests make files of every kind")]

use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{CWD, FileType, mknodat};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_text_is_read_up_to_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolroom.toml");
    assert!(read_bounded(&path, 10).unwrap().is_none());
    std::fs::write(&path, "größe = 1").unwrap();
    assert_eq!(read_bounded(&path, 11).unwrap().unwrap(), "größe = 1");
    let error = read_bounded(&path, 10).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` is longer than 10 bytes; make it shorter", path.display()));
    std::fs::write(&path, "").unwrap();
    assert_eq!(read_bounded(&path, 0).unwrap().unwrap(), "");
    // A length that is a lie.
    assert!(matches!(read_bounded(Path::new("/proc/self/maps"), 100), Err(TextFileError::TooLong { .. })));
    assert!(read_bounded(Path::new("/proc/self/maps"), 10_000_000).unwrap().unwrap().len() > 100);
}

#[test]
fn a_link_that_leads_nowhere_is_not_an_absent_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolroom.toml");
    symlink("missing", &path).unwrap();
    assert!(
        matches!(read_bounded(&path, 10), Err(TextFileError::Io { .. })),
        "its rules would be gone unseen"
    );
}

#[test]
fn what_is_no_text_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("latin1"), b"gr\xf6\xdfe").unwrap();
    let error = read_bounded(&at("latin1"), 100).unwrap_err().to_string();
    assert!(error.ends_with("is not UTF-8 from byte 3 on; save it as UTF-8"), "{error}");

    mknodat(CWD, at("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    mknodat(CWD, at("socket"), FileType::Socket, 0o600.into(), 0).unwrap();
    symlink(at("pipe"), at("link to pipe")).unwrap();
    for path in [folder.path().to_owned(), at("pipe"), at("socket"), at("link to pipe"), "/dev/null".into()] {
        let read = read_bounded(&path, 100);
        assert!(matches!(read, Err(TextFileError::NotRegular { .. })), "{}: {read:?}", path.display());
    }
    symlink(at("loop"), at("loop")).unwrap();
    assert!(matches!(read_bounded(&at("loop"), 100), Err(TextFileError::Io { .. })));
    assert!(matches!(read_bounded(&at("latin1/below"), 100), Err(TextFileError::Io { .. })));
}

#[test]
fn links_are_followed_when_reading_and_kept_when_writing() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::fs::write(&target, "one").unwrap();
    symlink("target", &link).unwrap();
    assert_eq!(read_bounded(&link, 10).unwrap().unwrap(), "one");
    replace(&link, "two").unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "two");
    std::fs::remove_file(&target).unwrap();
    assert!(read_bounded(&link, 10).is_err(), "what it should lead to is missing");
    assert!(replace(&link, "three").is_err());
    assert_eq!(names(folder.path()), ["link"]);
}

#[test]
fn a_file_of_untrusted_origin_must_not_be_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::fs::write(&target, "one").unwrap();
    symlink("target", &link).unwrap();
    assert!(matches!(read_bounded_unlinked(&link, 10), Err(TextFileError::NotRegular { .. })));
    assert_eq!(read_bounded_unlinked(&target, 10).unwrap().unwrap(), "one");
    assert!(read_bounded_unlinked(&folder.path().join("none"), 10).unwrap().is_none());
}

#[test]
fn two_paths_to_the_same_file_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    assert!(!is_there(&target) && !is_empty(&target) && !is_same(&target, &target));
    std::fs::write(&target, "").unwrap();
    assert!(is_empty(&target) && !is_empty(folder.path()));
    std::fs::write(&target, "one").unwrap();
    assert!(!is_empty(&target));
    symlink(folder.path(), &link).unwrap();
    assert!(is_there(&link) && is_same(&link.join("target"), &target));
    assert!(!is_same(&link, &target) && !is_same(&target, &folder.path().join("none")));
}

#[test]
fn a_new_file_is_private_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolroom.toml");
    write_new_private(&path, "one").unwrap();
    assert_eq!((mode(&path), std::fs::read_to_string(&path).unwrap()), (0o600, "one".to_owned()));
    let error = write_new_private(&path, "two").unwrap_err();
    assert!(error.to_string().starts_with(&format!("`{}` is already there", path.display())), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
    assert!(matches!(write_new_private(&path.join("below"), ""), Err(TextFileError::Io { .. })));
    assert_eq!(names(folder.path()), ["toolroom.toml"]);
}

#[test]
fn a_replaced_file_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolroom.toml");
    replace(&path, "one").unwrap();
    assert_eq!(mode(&path), 0o600);
    for kept in [0o644, 0o400, 0o666] {
        std::fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        replace(&path, "two").unwrap();
        assert_eq!((mode(&path), std::fs::read_to_string(&path).unwrap()), (kept, "two".to_owned()));
    }
    assert!(matches!(replace(folder.path(), "x"), Err(TextFileError::NotRegular { .. })));
    assert_eq!(names(folder.path()), ["toolroom.toml"]);
}

#[test]
fn the_nearest_file_above_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let deep = root.join("a/b/c");
    std::fs::create_dir_all(&deep).unwrap();
    let find = || nearest_upwards(&deep, "toolroom.test.toml").file;
    assert_eq!(find(), None);
    std::fs::write(root.join("toolroom.test.toml"), "").unwrap();
    assert_eq!(find(), Some(root.join("toolroom.test.toml")));
    std::fs::create_dir(root.join("a/b/toolroom.test.toml")).unwrap();
    assert_eq!(find(), Some(root.join("toolroom.test.toml")), "a folder is no file");
    std::fs::write(deep.join("toolroom.test.toml"), "").unwrap();
    assert_eq!(find(), Some(deep.join("toolroom.test.toml")));
    assert_eq!(nearest_upwards(&root.join("missing"), "toolroom.test.toml"), UpwardSearch::default());
}

#[test]
fn what_is_no_file_of_ours_is_passed_over_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |below: &str| root.join(below).join("toolroom.test.toml");
    std::fs::create_dir_all(root.join("a/b/c/d")).unwrap();
    std::fs::write(at(""), "").unwrap();
    std::fs::create_dir(at("a")).unwrap();
    symlink("missing", at("a/b")).unwrap();
    mknodat(CWD, at("a/b/c"), FileType::Fifo, 0o600.into(), 0).unwrap();
    let found = nearest_upwards(&root.join("a/b/c/d"), "toolroom.test.toml");
    assert_eq!(found.file, Some(at("")));
    let passed = |below: &str, why| SkippedFile { path: at(below), why };
    let (nowhere, special) = (SkipReason::LeadsNowhere, SkipReason::NotRegular);
    assert_eq!(found.passed_over, [passed("a/b/c", special), passed("a/b", nowhere), passed("a", special)]);
}

#[test]
fn a_file_of_another_user_is_skipped_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolroom.test.toml");
    let us = rustix::process::geteuid().as_raw();
    let find = |owners: &[u32]| nearest_trusted(folder.path(), "toolroom.test.toml", owners);
    assert_eq!(find(&[us + 1]), UpwardSearch::default());
    std::fs::write(&path, "").unwrap();
    assert_eq!(find(&[us]).file, Some(path.clone()));
    let passed_over = vec![SkippedFile { path, why: SkipReason::Stranger(us) }];
    assert_eq!(find(&[us + 1]), UpwardSearch { file: None, passed_over });
}
