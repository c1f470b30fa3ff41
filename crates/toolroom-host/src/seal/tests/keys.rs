//! Where keys come from, and what is no key.

use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{load, loaded, names, whole_text, write};
use crate::scale::{cases, scaled};
use crate::seal::{KEY_VARIABLE, KeyHome, KeyRing, MasterKey, MasterKeyError};

const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const BASE64: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

#[test]
fn every_notation_of_a_key_is_the_same_key() {
    let key = MasterKey::parse(HEX).unwrap();
    assert_eq!(key.id().to_string(), "0442915a");
    for text in [&HEX.to_uppercase(), BASE64, BASE64.trim_end_matches('='), &format!(" \t{HEX}\r\n\n")] {
        assert_eq!(MasterKey::parse(text).unwrap(), key, "{text}");
    }
    let standard = MasterKey::parse("+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8").unwrap();
    assert_eq!(MasterKey::parse("-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8=").unwrap(), standard);
}

#[test]
fn what_is_no_key_is_refused_without_being_shown() {
    let check = |text: &str, expected: MasterKeyError| {
        let error = MasterKey::parse(text).unwrap_err();
        assert_eq!(error, expected, "{text}");
        assert!(text.len() < 3 || !error.to_string().contains(text));
    };
    check("", MasterKeyError::Length { chars: 0 });
    check("   ", MasterKeyError::Length { chars: 0 });
    check("hunter2", MasterKeyError::Length { chars: 7 });
    check(HEX.trim_end_matches("f"), MasterKeyError::Length { chars: 63 });
    check(&format!("{HEX}0"), MasterKeyError::Length { chars: 65 });
    check(&HEX.replacen('3', "x", 1), MasterKeyError::Character { position: 8 });
    check(&"é".repeat(32), MasterKeyError::Character { position: 1 });
    check(&BASE64.replacen("AwQ", "A Q", 1), MasterKeyError::Character { position: 6 });
    check(&format!("{BASE64}="), MasterKeyError::Length { chars: 45 });
    check(&BASE64.replace("8=", "9="), MasterKeyError::Incomplete);
    check("+/-_CAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdH8", MasterKeyError::Incomplete);
}

#[test]
fn a_key_is_never_shown() {
    let key = MasterKey::parse(HEX).unwrap();
    assert_eq!(format!("{key:?}"), "MasterKey(0442915a)");
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("master.key"), HEX, 0o600);
    let ring = format!("{:?}", loaded(folder.path()));
    assert!(ring.contains("0442915a") && !ring.contains("0a0b0c"), "{ring}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
fn a_key_is_made_when_it_is_first_needed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("not/yet");
    assert!(load(&data).unwrap().is_none());
    assert!(!data.exists(), "looking makes nothing");

    let made = KeyRing::create(&data).unwrap();
    assert_eq!(names(&data), ["master.key"]);
    let file = data.join("master.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(made.home(), &KeyHome::File(file));
    let sealed = made.seal("purpose", b"plain").unwrap();
    assert_eq!(*loaded(&data).open("purpose", &sealed).unwrap(), b"plain");
}

#[test]
fn makers_at_the_same_moment_end_with_one_key() {
    const MAKERS: usize = 8;
    for _ in 0..scaled(20) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let start = Barrier::new(MAKERS);
        let make = || {
            start.wait();
            KeyRing::create(&data).unwrap().sealing_key()
        };
        let made = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..MAKERS).map(|_| scope.spawn(make)).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect::<Vec<_>>()
        });
        let key = loaded(&data).sealing_key();
        assert!(made.iter().all(|id| *id == key), "{made:?}");
        assert_eq!(names(&data), ["master.key"], "nothing is left lying about");
    }
}

#[test]
fn a_key_that_others_may_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    for mode in [0o644, 0o640, 0o604, 0o620, 0o601, 0o777] {
        write(&path, HEX, mode);
        let text = whole_text(&load(folder.path()).unwrap_err());
        let path = path.display();
        let expected = format!(
            "`{path}` cannot be used: others may read it (mode {mode:03o}); type: chmod 600 '{path}'"
        );
        assert_eq!(text, expected);
    }
    write(&path, HEX, 0o400);
    assert!(load(folder.path()).unwrap().is_some());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests make files of every kind")]
fn only_a_file_of_its_own_holds_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let refused = |what: &str| {
        let error = whole_text(&load(folder.path()).unwrap_err());
        assert!(error.contains("symbolic link or not a regular file"), "{what}: {error}");
        assert!(KeyRing::create(folder.path()).is_err(), "{what}");
    };
    write(&folder.path().join("elsewhere"), HEX, 0o600);
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
    refused("link");
    std::fs::remove_file(&path).unwrap();

    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    refused("pipe");
    std::fs::remove_file(&path).unwrap();

    std::fs::create_dir(&path).unwrap();
    refused("folder");
    std::fs::remove_dir(&path).unwrap();

    write(&path, &" ".repeat(257), 0o600);
    assert!(whole_text(&load(folder.path()).unwrap_err()).contains("it is longer than any key"));
    write(&path, "", 0o600);
    assert!(whole_text(&load(folder.path()).unwrap_err()).ends_with("this has 0 characters"));
    std::fs::write(&path, [0xff; 64]).unwrap();
    assert!(whole_text(&load(folder.path()).unwrap_err()).ends_with("this is not text"));
}

#[test]
fn a_key_in_the_environment_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    KeyRing::create(folder.path()).unwrap();
    let with = |value: &str| {
        let value = value.to_owned();
        KeyRing::find(folder.path(), move |name| (name == KEY_VARIABLE).then(|| value.clone().into()))
    };
    let ring = with(BASE64).unwrap().unwrap();
    assert_eq!((ring.home(), ring.sealing_key().to_string()), (&KeyHome::Environment, "0442915a".to_owned()));

    let error = whole_text(&with("hunter2").unwrap_err());
    assert!(error.contains(KEY_VARIABLE) && !error.contains("hunter2"), "{error}");
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_text_is_a_key_or_an_error(text in "[ -~é\n]{0,70}") {
        if let Err(error) = MasterKey::parse(&text) {
            let text = text.trim();
            prop_assert!(text.len() < 8 || !error.to_string().contains(text));
        }
    }

    #[test]
    fn what_is_written_is_read_again(bytes in any::<[u8; 32]>()) {
        let key = MasterKey::parse(&hex::encode(bytes)).unwrap();
        prop_assert_eq!(key.bytes(), &bytes);
        prop_assert_eq!(MasterKey::parse(&key.to_text()).unwrap(), key);
    }
}
