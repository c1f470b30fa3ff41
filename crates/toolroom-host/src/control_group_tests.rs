//! Groups in folders that look like those of the kernel.
#![expect(clippy::disallowed_methods, reason = "tests make files")]

use super::*;

#[test]
fn the_folder_is_found_below_the_mount() {
    let mount = |root: &str, kind: &str| {
        format!(
            "24 30 0:22 / /proc rw - proc proc rw\n36 30 0:29 {root} /sys/fs/cgroup rw shared:4 - {kind} x rw\n"
        )
    };
    let check = |groups: &str, mounts: &str, expected: Option<&str>| {
        assert_eq!(folder(groups, mounts).as_deref(), expected.map(Path::new), "{groups} {mounts}");
    };
    let place = Some("/sys/fs/cgroup/user.slice/a b");
    check("0::/user.slice/a b\n", &mount("/", "cgroup2"), place);
    check("4:memory:/x\n0::/\n", &mount("/", "cgroup2"), Some("/sys/fs/cgroup/"));
    check("0::/pod/one\n", &mount("/pod", "cgroup2"), Some("/sys/fs/cgroup/one"));
    check("0::/elsewhere\n", &mount("/pod", "cgroup2"), None);
    check("0::/one\n", &mount("/", "cgroup"), None);
    check("4:memory:/x\n", &mount("/", "cgroup2"), None);
    check("", "", None);
}

#[test]
fn a_group_with_writable_files_is_delegated() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(ControlGroup::at(place.path()), ControlGroup::Absent);
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("cgroup.controllers", "cpu memory pids\n");
    assert_eq!(ControlGroup::at(place.path()), ControlGroup::NotDelegated);
    write("cgroup.procs", "");
    write("cgroup.subtree_control", "");
    assert_eq!(ControlGroup::at(place.path()), ControlGroup::Delegated { memory: true, processes: true });
    write("cgroup.controllers", "cpu memory\n");
    assert_eq!(ControlGroup::at(place.path()), ControlGroup::Delegated { memory: true, processes: false });
}

#[test]
fn words_say_that_it_is_not_needed() {
    let all = [
        ControlGroup::Absent,
        ControlGroup::NotDelegated,
        ControlGroup::Delegated { memory: true, processes: true },
        ControlGroup::Delegated { memory: false, processes: true },
    ];
    for group in all.into_iter().chain([ControlGroup::current()]) {
        let meaning = group.meaning();
        assert!(meaning.contains("watcher") && meaning.contains("needed"), "{meaning}");
    }
}
