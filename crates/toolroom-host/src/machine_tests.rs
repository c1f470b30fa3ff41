//! Facts that hold on every machine the tests run on, and tables for those that differ.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at /proc")]

use std::os::unix::fs::symlink;

use super::*;
use crate::process_identity::ProcessIdentity;

#[test]
fn a_machine_is_looked_at_without_changing_it() {
    let privileges = || {
        let status = proc_text("/proc/thread-self/status").unwrap();
        status
            .lines()
            .filter(|line| line.starts_with("NoNewPrivs") || line.starts_with("Seccomp"))
            .collect::<String>()
    };
    let before = privileges();
    let machine = Machine::look();
    assert_eq!(machine, Machine::look());
    assert_eq!(privileges(), before);
    assert_eq!(machine.kernel, proc_text("/proc/sys/kernel/osrelease").unwrap().trim());
    assert!(machine.year >= 2024, "{}", machine.year);
}

#[test]
fn landlock_is_told_as_the_kernel_tells_it() {
    let modules = proc_text("/sys/kernel/security/lsm");
    let has_landlock = modules.map(|modules| modules.split(',').any(|module| module.trim() == "landlock"));
    // A filter of system calls around the tests may hide what the kernel has.
    assert!(has_landlock.is_none_or(|has| has || landlock_abi() == 0));
    assert!(landlock_abi() < 100);
}

#[test]
fn settings_forbid_user_namespaces() {
    let check = |settings: &[(&str, &str)], expected: UserNamespaces| {
        let setting = |file: &'static str| {
            settings.iter().find(|(name, _)| *name == file).map(|(_, value)| format!("{value}\n"))
        };
        assert_eq!(user_namespaces(true, setting), expected, "{settings:?}");
        assert_eq!(user_namespaces(false, setting), UserNamespaces::Absent);
    };
    check(&[], UserNamespaces::Possible);
    check(&[(MAX_NAMESPACES, "7000"), (CLONE, "1"), (APPARMOR, "0")], UserNamespaces::Possible);
    check(&[(MAX_NAMESPACES, "0")], UserNamespaces::Forbidden { by: MAX_NAMESPACES });
    check(&[(MAX_NAMESPACES, "7000"), (CLONE, "0")], UserNamespaces::Forbidden { by: CLONE });
    check(&[(CLONE, "1"), (APPARMOR, "1")], UserNamespaces::Forbidden { by: APPARMOR });
}

#[test]
fn programs_are_found_where_a_shell_finds_them() {
    let shell = on_path("sh").unwrap();
    assert!(shell.is_absolute() && shell.ends_with("sh"));
    assert_eq!(on_path("no such program"), None);
    assert_eq!(on_path(""), None, "a folder is no program");
}

#[test]
fn room_is_that_of_the_nearest_folder() {
    let folder = tempfile::tempdir().unwrap();
    let here = space(folder.path()).unwrap();
    assert!(here.total_bytes > 0 && here.free_bytes <= here.total_bytes);
    assert_eq!(space(&folder.path().join("not/yet")).unwrap().total_bytes, here.total_bytes);
}

#[test]
fn a_tree_is_measured_without_following_links() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("a/b")).unwrap();
    std::fs::write(at("a/b/ten"), "0123456789").unwrap();
    std::fs::write(at("five"), "01234").unwrap();
    symlink(folder.path(), at("a/around")).unwrap();
    symlink("/usr", at("away")).unwrap();
    let whole = TreeSize { bytes: 15, entries: 6, extent: Extent::Whole };
    assert_eq!(tree_size(folder.path(), 1_000).unwrap(), whole);
    assert_eq!(tree_size(folder.path(), 6).unwrap(), whole);
    let part = tree_size(folder.path(), 5).unwrap();
    assert_eq!((part.entries, part.extent), (5, Extent::Part));
    assert!(tree_size(&at("missing"), 1_000).is_err());
}

#[test]
fn without_core_dumps_everything_else_goes_on() {
    disable_core_dumps().unwrap();
    assert!(Machine::look().core_dumps_off);
    disable_core_dumps().unwrap();
    let us = ProcessIdentity::current().unwrap();
    assert_eq!(ProcessIdentity::is_alive(&us.process), Some(true));
    assert!(!proc_text("/proc/self/status").unwrap().is_empty());
    assert!(std::env::current_exe().is_ok());
}

#[test]
fn a_file_is_told_from_the_one_that_took_its_place() {
    let home = tempfile::tempdir().unwrap();
    let (path, other) = (home.path().join("a"), home.path().join("b"));
    assert_eq!(FileId::from_path(&path).unwrap(), None);
    std::fs::write(&path, "one").unwrap();
    std::fs::write(&other, "two").unwrap();
    let first = FileId::from_path(&path).unwrap();
    std::fs::write(&path, "longer than before").unwrap();
    assert_eq!(FileId::from_path(&path).unwrap(), first, "other content is no other file");
    std::fs::rename(&other, &path).unwrap();
    let second = FileId::from_path(&path).unwrap();
    assert!(second.is_some() && second != first);
    assert!(FileId::from_path(&path.join("below")).is_err());
}

#[test]
fn a_place_may_be_written_to_or_says_why_not() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [home.path().to_owned(), file.clone(), home.path().join("not/there/yet")] {
        may_write(&place).unwrap();
    }
    assert_eq!(may_write(&file.join("below")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    // Root may write anywhere, but not on a pseudo file system.
    assert!(may_write(Path::new("/proc/version")).is_err() || rustix::process::geteuid().is_root());
}
