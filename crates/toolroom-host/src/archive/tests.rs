//! What is written can be read, and what was made to do harm cannot.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of every kind")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::{collection, sample};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use super::{ArchiveError, ArchiveReader, ArchiveWriter};
use crate::scale::cases;

const SHA256_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn folder() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    (folder, move |name: &str| root.join(name))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn members(reader: &ArchiveReader) -> Vec<(String, u64)> {
    reader.members().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

#[test]
fn what_is_written_can_be_read_again() {
    let (folder, at) = folder();
    std::fs::write(at("store.db"), vec![7; 100_000]).unwrap();
    let mut writer = ArchiveWriter::create(&at("backup.tar")).unwrap();
    let manifest = writer.add_bytes("manifest.json", b"abc").unwrap();
    assert_eq!((manifest.bytes, manifest.sha256.as_str()), (3, SHA256_OF_ABC));
    let store = writer.add_file("data/store.db", &at("store.db")).unwrap();
    writer.add_bytes("empty", b"").unwrap();
    assert!(!at("backup.tar").exists(), "it has its name only once it is finished");
    writer.finish().unwrap();
    assert_eq!(names(folder.path()), ["backup.tar", "store.db"]);
    let mode = at("backup.tar").metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);

    let mut reader = ArchiveReader::open(&at("backup.tar")).unwrap();
    let expected = [("manifest.json", 3), ("data/store.db", 100_000), ("empty", 0)];
    assert_eq!(members(&reader), expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    // In any order, and more than once.
    assert_eq!(reader.extract_member("data/store.db", &at("restored.db")).unwrap(), store);
    assert_eq!(std::fs::read(at("restored.db")).unwrap(), vec![7; 100_000]);
    assert_eq!(at("restored.db").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(reader.read_member("manifest.json", 3).unwrap(), b"abc");
    assert_eq!(reader.read_member("manifest.json", 3).unwrap(), b"abc");
    assert_eq!(reader.read_member("empty", 0).unwrap(), b"");

    let error = reader.read_member("manifest.json", 2).unwrap_err().to_string();
    assert_eq!(error, "the member `manifest.json` has 3 bytes, more than 2");
    assert!(matches!(reader.read_member("other", 2), Err(ArchiveError::NoMember { .. })));
    let again = reader.extract_member("data/store.db", &at("restored.db"));
    assert!(matches!(again, Err(ArchiveError::Exists { .. })));
    assert_eq!(names(folder.path()), ["backup.tar", "restored.db", "store.db"]);
}

#[test]
fn nothing_is_overwritten_and_nothing_half_done_is_left() {
    let (folder, at) = folder();
    std::fs::write(at("backup.tar"), "mine").unwrap();
    assert!(matches!(ArchiveWriter::create(&at("backup.tar")), Err(ArchiveError::Exists { .. })));
    let mut late = ArchiveWriter::create(&at("late.tar")).unwrap();
    late.add_bytes("a", b"a").unwrap();
    std::fs::write(at("late.tar"), "mine").unwrap();
    assert!(matches!(late.finish(), Err(ArchiveError::Exists { .. })));
    drop(ArchiveWriter::create(&at("dropped.tar")).unwrap());
    assert_eq!(names(folder.path()), ["backup.tar", "late.tar"]);
    assert_eq!(std::fs::read_to_string(at("late.tar")).unwrap(), "mine");
}

#[test]
fn only_plain_names_and_files_are_added() {
    let (_folder, at) = folder();
    let mut writer = ArchiveWriter::create(&at("backup.tar")).unwrap();
    let long = "x".repeat(101);
    for name in ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "./a", "a\nb", "a\\b", "..", &long] {
        let added = writer.add_bytes(name, b"");
        assert!(matches!(added, Err(ArchiveError::Name { .. })), "{name}: {added:?}");
    }
    writer.add_bytes(&"x".repeat(100), b"").unwrap();
    writer.add_bytes("größe", b"").unwrap();
    assert!(matches!(writer.add_bytes("größe", b""), Err(ArchiveError::Name { .. })));
    assert!(matches!(writer.add_file("a", &at("missing")), Err(ArchiveError::Missing { .. })));
    assert!(matches!(writer.add_file("b", Path::new("/dev/zero")), Err(ArchiveError::NotRegular { .. })));
    // Its length says 0, and there is more: what the length says is taken.
    assert_eq!(writer.add_file("c", Path::new("/proc/self/status")).unwrap().bytes, 0);
    writer.finish().unwrap();
    assert_eq!(ArchiveReader::open(&at("backup.tar")).unwrap().members().count(), 3);
}

/// An archive from an untrusted source.
fn forged(path: &Path, entries: &[(&str, EntryType, &str)]) {
    let mut builder = Builder::new(std::fs::File::create(path).unwrap());
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_link_name("/etc/passwd").unwrap();
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.finish().unwrap();
}

#[test]
fn what_was_made_to_do_harm_is_refused() {
    let (_folder, at) = folder();
    let path = at("evil.tar");
    let check = |entries: &[(&str, EntryType, &str)], expected: &str| {
        forged(&path, entries);
        let error = ArchiveReader::open(&path).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, expected);
    };
    let file = EntryType::Regular;
    check(&[("/etc/passwd", file, "x")], "`/etc/passwd` cannot be the name of a member: it leads elsewhere");
    check(&[("../x", file, "x")], "`../x` cannot be the name of a member: it leads elsewhere");
    check(
        &[("a", file, "x"), ("a/../b", file, "x")],
        "`a/../b` cannot be the name of a member: it leads elsewhere",
    );
    check(&[("a", file, "x"), ("a", file, "y")], "`a` cannot be the name of a member: it is there twice");
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::GNULongName,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        check(&[("a", file, "x"), ("b", kind, "")], "the member `b` is not a plain file");
    }
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    let many: Vec<(&str, EntryType, &str)> = many.iter().map(|name| (name.as_str(), file, "")).collect();
    check(&many, "the archive has more than 1000 members");
}

#[test]
fn a_size_that_does_not_fit_is_refused() {
    let (_folder, at) = folder();
    for size in [4, 1_537, 1 << 40, u64::MAX / 2, u64::MAX - 511, u64::MAX] {
        let mut header = Header::new_gnu();
        header.set_path("a").unwrap();
        header.set_size(size);
        header.set_cksum();
        let mut archive = header.as_bytes().to_vec();
        archive.extend([1; 512]);
        std::fs::write(at("a.tar"), archive).unwrap();
        assert!(matches!(ArchiveReader::open(&at("a.tar")), Err(ArchiveError::Damaged)), "{size}");
    }
}

#[test]
fn an_archive_is_a_regular_file_that_is_there() {
    let (folder, at) = folder();
    assert!(matches!(ArchiveReader::open(&at("missing")), Err(ArchiveError::Missing { .. })));
    assert!(matches!(ArchiveReader::open(folder.path()), Err(ArchiveError::NotRegular { .. })));
    for content in ["", "not an archive", &"x".repeat(5_000)] {
        std::fs::write(at("text"), content).unwrap();
        assert!(matches!(ArchiveReader::open(&at("text")), Err(ArchiveError::Damaged)), "{content}");
    }
    // A file named by mistake must not be quoted in an error.
    std::fs::write(at("text"), "pin 4711 ".repeat(500)).unwrap();
    let error = ArchiveReader::open(&at("text")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("4711"), "{error:?}");
    forged(&at("good.tar"), &[("a", EntryType::Regular, "abc")]);
    symlink("good.tar", at("link.tar")).unwrap();
    assert_eq!(ArchiveReader::open(&at("link.tar")).unwrap().read_member("a", 9).unwrap(), b"abc");
}

#[test]
fn an_archive_that_is_cut_while_it_is_open_is_noticed() {
    let (folder, at) = folder();
    forged(&at("a.tar"), &[("a", EntryType::Regular, "abc")]);
    let mut reader = ArchiveReader::open(&at("a.tar")).unwrap();
    std::fs::File::options().write(true).open(at("a.tar")).unwrap().set_len(513).unwrap();
    assert!(matches!(reader.read_member("a", 9), Err(ArchiveError::Damaged)));
    assert!(matches!(reader.extract_member("a", &at("out")), Err(ArchiveError::Damaged)));
    assert_eq!(names(folder.path()), ["a.tar"]);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn any_content_comes_back(contents in collection::vec(collection::vec(any::<u8>(), 0..2_000), 0..5)) {
        let (_folder, at) = folder();
        let mut writer = ArchiveWriter::create(&at("a.tar")).unwrap();
        for (number, content) in contents.iter().enumerate() {
            writer.add_bytes(&number.to_string(), content).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = ArchiveReader::open(&at("a.tar")).unwrap();
        for (number, content) in contents.iter().enumerate() {
            prop_assert_eq!(&reader.read_member(&number.to_string(), 2_000).unwrap(), content);
        }
    }

    #[test]
    fn no_cut_archive_is_read(sizes in collection::vec(0..2_000_usize, 1..4), cut in any::<sample::Index>()) {
        let (_folder, at) = folder();
        let mut writer = ArchiveWriter::create(&at("a.tar")).unwrap();
        for (number, size) in sizes.iter().enumerate() {
            writer.add_bytes(&number.to_string(), &vec![1; *size]).unwrap();
        }
        writer.finish().unwrap();
        let length = at("a.tar").metadata().unwrap().len();
        let cut = cut.index(usize::try_from(length).unwrap()) as u64;
        std::fs::File::options().write(true).open(at("a.tar")).unwrap().set_len(cut).unwrap();
        prop_assert!(ArchiveReader::open(&at("a.tar")).is_err());
    }

    #[test]
    fn a_changed_header_is_harmless(at_byte in any::<sample::Index>(), value in any::<u8>()) {
        let (folder, at) = folder();
        forged(&at("a.tar"), &[("one", EntryType::Regular, "abc"), ("two", EntryType::Regular, "def")]);
        let mut bytes = std::fs::read(at("a.tar")).unwrap();
        let index = at_byte.index(bytes.len());
        bytes[index] = value;
        std::fs::write(at("a.tar"), &bytes).unwrap();
        if let Ok(mut reader) = ArchiveReader::open(&at("a.tar")) {
            for (name, _) in members(&reader) {
                prop_assert!(reader.extract_member(&name, &at("out")).unwrap().bytes <= 3);
                std::fs::remove_file(at("out")).unwrap();
            }
        }
        prop_assert_eq!(names(folder.path()), ["a.tar"]);
    }
}
