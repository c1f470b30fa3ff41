//! Things that are no files, and files that are no ordinary ones.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use toolroom_host::files::{EntryKind, FileError, Lines, Parents};

use super::Ground;

const SOME: Lines = Lines { first: 1, count: 10, max_bytes: 10_000 };

/// More than enough on a busy machine, and less than anything that waits or reads on and on.
const BOUND: Duration = Duration::from_secs(10);

#[test]
fn pipes_sockets_and_devices_are_named_and_never_opened() {
    let ground = Ground::new();
    mknodat(CWD, ground.inside("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _listener = UnixListener::bind(ground.inside("socket")).unwrap();
    let mut things = vec![("pipe", "a pipe"), ("socket", "a socket")];
    let device = mknodat(
        CWD,
        ground.inside("zero"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o600),
        makedev(1, 5),
    );
    // Only root may; the system itself refuses other users.
    if device.is_ok() {
        things.push(("zero", "a device"));
    }
    let start = Instant::now();
    for space in ground.both() {
        for (path, kind) in &things {
            let expected = format!("`{path}` is {kind}, not a file");
            assert_eq!(space.read(path).unwrap_err().to_string(), expected);
            assert_eq!(space.read_lines(path, SOME).unwrap_err().to_string(), expected);
            assert_eq!(space.write(path, b"x", Parents::MustExist).unwrap_err().to_string(), expected);
            assert!(matches!(space.list(path, 9).unwrap_err(), FileError::NotAFolder { .. }));
        }
        let listing = space.list(".", 99).unwrap();
        let others = listing.entries.iter().filter(|entry| entry.kind == EntryKind::Other);
        assert_eq!(others.count(), things.len());
    }
    assert!(start.elapsed() < BOUND);
}

#[test]
fn devices_and_the_kernel_are_not_reached_by_links_either() {
    let ground = Ground::new();
    let own = format!("/proc/{}/environ", std::process::id());
    let held = File::open(ground.outside().join("canary.txt")).unwrap();
    let descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&held));
    let targets = [
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/self/root",
        "/proc/self/cwd",
        &own,
        &descriptor,
    ];
    for (number, target) in targets.iter().enumerate() {
        ground.link(&format!("link{number}"), target);
    }
    for space in ground.both() {
        for number in 0..targets.len() {
            let path = format!("link{number}");
            for error in [space.read(&path).unwrap_err(), space.list(&path, 9).unwrap_err()] {
                assert!(
                    matches!(error, FileError::Outside { .. } | FileError::Link { .. }),
                    "{path}: {error}"
                );
            }
            let error = space.write(&path, b"x", Parents::Create).unwrap_err();
            assert!(matches!(error, FileError::Link { .. }), "{path}: {error}");
        }
        for target in targets {
            assert!(space.read(target).unwrap_err().to_string().contains("system folder"), "{target}");
        }
    }
}

#[test]
fn a_file_of_4_gib_of_nothing_is_answered_at_once() {
    let ground = Ground::new();
    File::create(ground.inside("sparse")).unwrap().set_len(4 << 30).unwrap();
    let start = Instant::now();
    for space in ground.both() {
        let error = space.read("sparse").unwrap_err();
        assert!(matches!(error, FileError::TooLarge { size: 4_294_967_296, .. }), "{error}");
        let lines = Lines { first: 1_000_000, ..SOME };
        let told = space.read_lines("sparse", lines).unwrap_err().to_string();
        assert_eq!(
            told,
            "`sparse` is a binary file of 4294967296 bytes, not text in UTF-8; it cannot be read as text"
        );
        assert_eq!(space.list(".", 99).unwrap().entries.last().unwrap().size, 4 << 30);
        space.write("sparse", b"small", Parents::MustExist).unwrap();
        File::create(ground.inside("sparse")).unwrap().set_len(4 << 30).unwrap();
    }
    assert!(start.elapsed() < BOUND);
}

#[test]
fn a_folder_of_100_000_entries_is_listed_in_part() {
    let ground = Ground::in_memory();
    let folder = ground.inside("many");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..100_000 {
        std::fs::write(folder.join(format!("{number:06}")), "x").unwrap();
    }
    let start = Instant::now();
    for space in ground.both() {
        let listing = space.list("many", 1_000).unwrap();
        assert_eq!((listing.entries.len(), listing.total, listing.is_cut), (1_000, 100_000, false));
        assert_eq!(
            (listing.entries[0].name.as_str(), listing.entries[999].name.as_str()),
            ("000000", "000999")
        );
        assert_eq!(space.read("many/099999").unwrap(), "x");
    }
    assert!(start.elapsed() < BOUND);
}

#[test]
fn odd_names_are_shown_and_harmless() {
    let ground = Ground::new();
    let odd: [&[u8]; 4] = [b"new\nline", b"caf\xe9.txt", b"\x1b[31mred", b"a\\b"];
    for name in odd {
        std::fs::write(ground.inside("dir").join(OsStr::from_bytes(name)), "x").unwrap();
    }
    for space in ground.both() {
        let listing = space.list("dir", 99).unwrap();
        let entry = |name: &str| listing.entries.iter().find(|entry| entry.name == name).unwrap();
        assert!(entry("new\nline").is_exact && entry("\x1b[31mred").is_exact && entry("a\\b").is_exact);
        assert!(!entry("caf\u{fffd}.txt").is_exact);
        assert_eq!(space.read("dir/a\\b").unwrap(), "x");
        assert!(matches!(space.read("dir/new\nline").unwrap_err(), FileError::Unprintable { .. }));
        assert!(matches!(space.read("dir/x\0y").unwrap_err(), FileError::Unprintable { .. }));
        assert!(matches!(space.read("dir/caf\u{fffd}.txt").unwrap_err(), FileError::NotFound { .. }));
    }
}
