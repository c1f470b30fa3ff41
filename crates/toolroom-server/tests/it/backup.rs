//! `toolroom backup create` and `verify`: everything in one file, and whether it is good.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tar::{EntryType, Header};

use crate::canary::{Canary, files_below};
use crate::home::{Home, Ran, ran};
use crate::secrets::set;

const CONFIG: &str = "[policy]\npreset = \"careful\"\n";

/// A toolroom with a bit of everything, and the secret in it.
pub(crate) fn furnished() -> (Home, Canary) {
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), CONFIG).unwrap();
    let canary = Canary::new("backed up");
    set(&home, "CANARY", &canary.value);
    home.run(&["call", "calculator", "expression=6 * 7"]).ended(0);
    home.run_own(&["call", "repeat", "text=xyz", "times=20000"]).ended(0);
    let note = format!("path={}", home.path().join("notes").display());
    let words = ["call", "publish_note", &note, &format!("text={}", canary.value)];
    home.run_own(&words).ended(4);
    (home, canary)
}

/// Makes a backup in a folder of its own.
#[track_caller]
pub(crate) fn backed_up(home: &Home, more: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("room.tar");
    let words = [&["backup", "create", file.to_str().unwrap()], more].concat();
    home.run(&words).ended(0);
    (folder, file)
}

#[track_caller]
pub(crate) fn verified(home: &Home, file: &Path, code: i32) -> Value {
    home.run(&["backup", "verify", file.to_str().unwrap(), "--json"]).ended(code).json()
}

#[test]
fn a_backup_has_everything_but_the_key_and_says_so() {
    let (home, canary) = furnished();
    let made = home.run(&["backup", "create", home.path().join("b.tar").to_str().unwrap()]).ended(0);
    let file = home.path().join("b.tar");
    assert_eq!(made.out, format!("{}\n", file.display()));
    assert!(made.err.contains("3 calls, 1 stored result, 1 approval, 1 sealed secret"), "{made:?}");
    assert!(made.err.contains("the configuration file"), "{made:?}");
    let key = home.path().join("master.key");
    assert!(made.err.contains(&format!("can only be opened with `{}`", key.display())), "{made:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let names = |file: &Path| -> Vec<String> {
        let mut archive = tar::Archive::new(std::fs::File::open(file).unwrap());
        let entries = archive.entries().unwrap();
        entries.map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect()
    };
    assert_eq!(names(&file), ["toolroom.db", "toolroom.toml", "manifest.json"]);

    let seen = verified(&home, &file, 0);
    assert_eq!((&seen["good"], &seen["problems"]), (&json!(true), &json!([])));
    let mut rows = json!({"calls": 3, "approvals": 1, "secrets": 1, "answers": 0, "artifacts": 1});
    (rows["conversations"], rows["memories"]) = (0.into(), 0.into());
    assert_eq!((&seen["manifest"]["rows"], &seen["manifest"]["key"]["inside"]), (&rows, &json!(false)));
    assert_eq!(seen["sealed"], json!({"all": 2, "opened": 2, "key": "here"}));
    let text = home.run(&["backup", "verify", file.to_str().unwrap()]).ended(0);
    assert!(text.out.contains("2 of 2 open with the key of this machine"), "{text:?}");
    assert!(text.err.contains("The backup is valid"), "{text:?}");

    let with_key = home.path().join("k.tar");
    let made = home.run(&["backup", "create", with_key.to_str().unwrap(), "--with-key"]).ended(0);
    assert!(made.err.contains("anyone with this file can open every secret"), "{made:?}");
    assert_eq!(names(&with_key), ["toolroom.db", "toolroom.toml", "master.key", "manifest.json"]);
    assert_eq!(verified(&home, &with_key, 0)["sealed"], json!({"all": 2, "opened": 2, "key": "inside"}));

    let key_text = std::fs::read(&key).unwrap();
    let plain = std::fs::read(&file).unwrap();
    assert!(!plain.windows(64).any(|window| window == &key_text[..64]), "the key is not inside");
    canary.is_not_below(home.path());
    let left: Vec<PathBuf> = files_below(home.path())
        .into_iter()
        .filter(|file| file.display().to_string().contains(".toolroom-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_backup_never_replaces_a_file_and_has_a_name_of_its_own() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let create = |words: &[&str]| {
        ran(home
            .command(&[&["backup", "create"], words].concat())
            .current_dir(folder.path())
            .output()
            .unwrap())
    };
    let named = create(&[]).ended(0);
    let name = named.out.trim_end();
    assert!(name.starts_with("toolroom-backup-2") && name.ends_with(".tar") && name.len() == 35, "{name}");
    let before = std::fs::read(folder.path().join(name)).unwrap();
    let refused = create(&[name]).ended(2);
    assert!(refused.err.contains("is already there and stays as it is; name another file"), "{refused:?}");
    assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), before);
    let refused = create(&["no/such/folder/b.tar"]).ended(1);
    assert!(refused.err.contains("no/such/folder/b.tar"), "{refused:?}");
    create(&["--with-key", "empty.tar"]).ended(0);
    assert_eq!(verified(&home, &folder.path().join("empty.tar"), 0)["sealed"]["all"], 0);
    assert_eq!(files_below(folder.path()).len(), 2);
    let help = home.run(&["backup"]).ended(0);
    assert!(help.out.contains("restore") && help.out.contains("Examples:"), "{help:?}");
    for action in ["verify", "restore"] {
        home.run(&["backup", action, "missing.tar"]).ended(5);
        home.run(&["backup", action, folder.path().to_str().unwrap()]).ended(2);
    }
}

#[test]
fn nothing_is_told_of_a_file_that_is_no_backup() {
    let home = Home::new();
    let file = home.path().join("passwords");
    std::fs::write(&file, "root:hunter2hunter2\n".repeat(100)).unwrap();
    for words in [&["verify"][..], &["verify", "--json"], &["restore", "--yes"]] {
        let words = [&["backup", words[0], file.to_str().unwrap()], &words[1..]].concat();
        let ran = home.run(&words).ended(1);
        assert!(format!("{ran:?}").contains("it is no archive, or one that is damaged"), "{ran:?}");
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
    }
}

#[test]
fn a_backup_is_whole_while_others_write() {
    let (home, _) = furnished();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Not for ever, should the other one fail.
            for _ in (0..1_000).take_while(|_| !over.load(Ordering::SeqCst)) {
                home.run(&["call", "calculator", "expression=1 + 1"]).ended(0);
            }
        });
        let files: Vec<_> = (0..5).map(|_| backed_up(&home, &["--with-key"])).collect();
        over.store(true, Ordering::SeqCst);
        let mut calls = 3;
        for (_folder, file) in &files {
            let now = verified(&home, file, 0)["manifest"]["rows"]["calls"].as_i64().unwrap();
            assert!(now >= calls, "{now} after {calls}");
            calls = now;
        }
        assert!(calls > 3, "others did write");
    });
}

#[test]
fn a_backup_with_its_key_is_not_made_between_two_keys() {
    let (home, _) = furnished();
    std::fs::write(home.path().join("master.key.new"), "ab".repeat(32)).unwrap();
    std::fs::set_permissions(home.path().join("master.key.new"), PermissionsExt::from_mode(0o600)).unwrap();
    let file = home.path().join("b.tar");
    let refused = home.run(&["backup", "create", file.to_str().unwrap(), "--with-key"]).ended(1);
    assert!(refused.err.contains("toolroom secrets rotate"), "{refused:?}");
    assert!(!file.exists());
    home.run(&["secrets", "rotate"]).ended(0);
    home.run(&["backup", "create", file.to_str().unwrap(), "--with-key"]).ended(0);
    assert_eq!(verified(&home, &file, 0)["sealed"], json!({"all": 2, "opened": 2, "key": "inside"}));
}

/// A member, as bytes of an archive.
fn member(name: &[u8], kind: EntryType, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    header.set_cksum();
    let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
    [header.as_bytes(), content, &padding].concat()
}

/// Backups changed by an attacker or a bad disk.
fn tampered(good: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let body = &good[..good.len() - 1_024];
    let end = [0; 1_024];
    let with = |more: Vec<u8>| [body, &more, &end].concat();
    let file = EntryType::Regular;
    vec![
        ("an extra member", with(member(b"extra.txt", file, b"hello"))),
        ("a name that leads elsewhere", with(member(b"../evil", file, b"hello"))),
        ("an absolute name", with(member(b"/tmp/evil", file, b"hello"))),
        ("a link", with(member(b"toolroom.link", EntryType::Symlink, b""))),
        ("a member that is there twice", with(member(b"toolroom.db", file, b"hello"))),
        ("cut in the middle", good[..good.len() / 2].to_vec()),
        ("cut at the end", good[..good.len() - 600].to_vec()),
        ("without its end", body.to_vec()),
        ("empty", Vec::new()),
        ("something else", b"this is no archive at all".repeat(100)),
    ]
}

#[test]
fn what_was_tampered_with_is_refused_and_changes_nothing() {
    let (home, _) = furnished();
    let (folder, file) = backed_up(&home, &["--with-key"]);
    let good = std::fs::read(&file).unwrap();
    let bad = folder.path().join("bad.tar");
    let before = state(&home);
    for (what, bytes) in tampered(&good) {
        std::fs::write(&bad, bytes).unwrap();
        let seen = verified(&home, &bad, 1);
        assert!(!seen["problems"].as_array().unwrap().is_empty(), "{what}: {seen}");
        let refused = home.run(&["backup", "restore", bad.to_str().unwrap(), "--yes"]).ended(1);
        assert!(refused.err.contains("damaged"), "{what}: {refused:?}");
        assert_eq!(state(&home), before, "{what}");
    }
    assert_eq!(files_below(folder.path()).len(), 2, "nothing was taken out elsewhere");
}

/// Every file of a home and what is in it, but not what SQLite keeps beside.
fn state(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files_below(home.path()).into_iter().filter(|file| {
        let name = file.display().to_string();
        !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

#[test]
fn a_changed_byte_is_noticed_wherever_it_matters() {
    let (home, _) = furnished();
    let (folder, file) = backed_up(&home, &["--with-key"]);
    let good = std::fs::read(&file).unwrap();
    let whole = verified(&home, &file, 0);
    let bad = folder.path().join("bad.tar");
    let places: Vec<usize> = {
        let mut places: Vec<usize> = (0..20).map(|n| good.len() * n / 20 + n).collect();
        // All over the members that are small: key, configuration, manifest.
        let small = good.len() - 4_096;
        places.extend((0..20).map(|n| small + n * 160));
        places
    };
    let mut noticed = 0;
    for place in &places {
        let mut bytes = good.clone();
        bytes[*place] ^= 0x41;
        std::fs::write(&bad, bytes).unwrap();
        let Ran { code, out, .. } = home.run(&["backup", "verify", bad.to_str().unwrap(), "--json"]);
        let seen: Value = serde_json::from_str(&out).unwrap();
        match code {
            1 => noticed += 1,
            // Between the members, and in what is only told, there is nothing to be noticed.
            0 => assert_eq!(
                (&seen["sealed"], &seen["manifest"]["rows"], &seen["manifest"]["members"]),
                (&whole["sealed"], &whole["manifest"]["rows"], &whole["manifest"]["members"]),
                "byte {place}"
            ),
            other => panic!("byte {place} ends with {other}: {out}"),
        }
    }
    assert!(noticed > places.len() / 2, "only {noticed} of {}", places.len());
}

#[test]
fn a_configuration_that_cannot_be_used_is_told_and_not_brought_back() {
    let (home, _canary) = furnished();
    std::fs::write(home.path().join("toolroom.toml"), "[policy]\npreset = \"carefree\"\n").unwrap();
    let (_folder, file) = backed_up(&home, &["--with-key"]);
    let path = file.to_str().unwrap();
    let report = verified(&home, &file, 1);
    assert_eq!(report["good"], json!(false));
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{report}");
    assert!(problems[0].as_str().unwrap().contains("toolroom.toml:2: `policy.preset`"), "{report}");
    let told = home.run(&["backup", "verify", path]).ended(1);
    assert!(told.err.contains("everything else is valid"), "{told:?}");

    let there = Home::new();
    let refused = there.run(&["backup", "restore", path, "--yes"]).ended(2);
    assert!(refused.err.contains("`policy.preset`") && refused.err.contains("toolroom init"), "{refused:?}");
    assert!(!there.path().join("toolroom.db").exists(), "nothing was changed");
    std::fs::write(there.path().join("toolroom.toml"), "").unwrap();
    there.run(&["backup", "restore", path, "--yes"]).ended(0);
    assert_eq!(there.journal().len(), 3);
    there.run(&["backup", "restore", path, "--yes", "--config"]).ended(2);
}

#[test]
fn what_is_wrong_with_a_member_is_told_by_its_name() {
    let (home, _canary) = furnished();
    let (_folder, file) = backed_up(&home, &[]);
    let mut bytes = std::fs::read(&file).unwrap();
    let magic = b"SQLite format 3\0";
    let at = bytes.windows(magic.len()).position(|part| part == magic).unwrap();
    bytes[at..at + magic.len()].fill(b'x');
    std::fs::write(&file, &bytes).unwrap();
    let report = verified(&home, &file, 1);
    let problems = report["problems"].to_string();
    assert!(problems.contains("`toolroom.db` is not a Toolroom database"), "{problems}");
    assert!(!problems.contains(".work"), "{problems}");
}
