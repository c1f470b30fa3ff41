//! Changing the key, and dying at every step of it.

use std::path::Path;

use super::{load, loaded, names, whole_text, write};
use crate::folders::Folders;
use crate::seal::key_file;
use crate::seal::{
    KEY_VARIABLE, KeyHome, KeyId, KeyRing, MasterKey, NEW_KEY_VARIABLE, RotationProblem, SealError, key_of,
};

const OLD: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const NEW: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// What a database would hold: one sealed row.
struct Row(Vec<u8>);

impl Row {
    fn new(ring: &KeyRing) -> Self {
        Self(ring.seal("row", b"plain").unwrap())
    }

    fn opens_with(&self, ring: &KeyRing) -> bool {
        ring.open("row", &self.0).is_ok_and(|plain| *plain == b"plain")
    }

    /// The transaction in the middle.
    fn seal_again(&mut self, ring: &KeyRing) {
        let plain = ring.open("row", &self.0).unwrap();
        self.0 = ring.seal("row", &plain).unwrap();
    }
}

fn begun(folder: &Path) -> (KeyRing, Row) {
    let mut ring = KeyRing::create(folder).unwrap();
    let row = Row::new(&ring);
    ring.begin_rotation().unwrap();
    (ring, row)
}

fn problem(result: Result<(), SealError>) -> RotationProblem {
    match result {
        Err(SealError::Rotation(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_change_of_the_key_goes_through() {
    let folder = tempfile::tempdir().unwrap();
    let (mut ring, mut row) = begun(folder.path());
    let rotation = ring.rotation().unwrap();
    assert_eq!(key_of(&row.0), Some(rotation.from));
    assert_eq!(ring.sealing_key(), rotation.to);
    assert_ne!(rotation.from, rotation.to);
    row.seal_again(&ring);
    ring.finish_rotation().unwrap();
    assert_eq!((ring.rotation(), ring.sealing_key()), (None, rotation.to));
    assert_eq!(names(folder.path()), ["master.key"]);
    assert!(row.opens_with(&ring) && row.opens_with(&loaded(folder.path())));
    assert_eq!(problem(ring.finish_rotation()), RotationProblem::NotBegun);
}

#[test]
fn the_key_that_goes_can_be_kept_under_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders { config: folder.path().to_owned(), data: folder.path().to_owned() };
    let (mut ring, row) = begun(folder.path());
    let from = ring.rotation().unwrap().from;
    assert_eq!(KeyRing::kept(&folders, from), None);
    let kept = folder.path().join(format!("master.key.{from}"));
    // Repeated, as after a process was killed right after it.
    for _ in 0..2 {
        assert_eq!(ring.keep_former().unwrap().as_ref(), Some(&kept));
    }
    ring.finish_rotation().unwrap();
    assert_eq!(names(folder.path()), ["master.key", &format!("master.key.{from}")]);
    assert!(!row.opens_with(&loaded(folder.path())));
    let key = key_file::read(&kept).unwrap().unwrap();
    assert!(row.opens_with(&KeyRing::holding(key, KeyHome::File(kept.clone()))));
    assert_eq!(KeyRing::kept(&folders, KeyId::parse(&from.to_string()).unwrap()), Some(kept));
    for odd in ["", "../../x", "0102030", "010203045"] {
        assert_eq!(KeyId::parse(odd), None, "{odd}");
    }
    assert_eq!(problem(ring.keep_former().map(drop)), RotationProblem::NotBegun);

    // Something else under its name stays, and so do both keys.
    ring.begin_rotation().unwrap();
    let from = ring.rotation().unwrap().from;
    write(&folder.path().join(format!("master.key.{from}")), OLD, 0o600);
    assert!(whole_text(&ring.keep_former().unwrap_err()).contains(&format!("master.key.{from}")));
    assert!(loaded(folder.path()).rotation().is_some());
}

/// Where a process may die. Dropping the ring is all that death does to it.
#[derive(Debug, Clone, Copy)]
enum Death {
    WhileTheNewKeyIsWritten,
    BeforeTheTransaction,
    AfterTheTransaction,
    AfterTheRename,
}

#[test]
fn the_next_process_after_a_crash_finishes_the_rotation() {
    for death in [
        Death::WhileTheNewKeyIsWritten,
        Death::BeforeTheTransaction,
        Death::AfterTheTransaction,
        Death::AfterTheRename,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = KeyRing::create(folder.path()).unwrap();
        let mut row = Row::new(&ring);
        match death {
            Death::WhileTheNewKeyIsWritten => {
                write(&folder.path().join(".toolroom-0123456789abcdef.part"), "0001", 0o600);
            }
            Death::BeforeTheTransaction => ring.begin_rotation().unwrap(),
            Death::AfterTheTransaction => {
                ring.begin_rotation().unwrap();
                row.seal_again(&ring);
            }
            Death::AfterTheRename => {
                ring.begin_rotation().unwrap();
                row.seal_again(&ring);
                ring.finish_rotation().unwrap();
            }
        }
        let begun = ring.rotation();
        drop(ring);

        let mut ring = loaded(folder.path());
        assert_eq!(ring.rotation(), begun, "{death:?}");
        assert!(row.opens_with(&ring), "{death:?}");
        ring.begin_rotation().unwrap();
        assert!(begun.is_none_or(|begun| ring.rotation() == Some(begun)), "it goes on: {death:?}");
        row.seal_again(&ring);
        ring.finish_rotation().unwrap();
        drop(ring);
        let ring = loaded(folder.path());
        assert!(row.opens_with(&ring) && ring.rotation().is_none(), "{death:?}");
        assert_eq!(key_of(&row.0), Some(ring.sealing_key()), "{death:?}");
    }
}

#[test]
fn a_change_found_unfinished_can_be_finished_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (ring, mut row) = begun(folder.path());
    row.seal_again(&ring);
    drop(ring);
    loaded(folder.path()).finish_rotation().unwrap();
    assert!(row.opens_with(&loaded(folder.path())));
}

#[test]
fn one_process_at_a_time_changes_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let (mut ring, mut row) = begun(folder.path());
    let mut other = loaded(folder.path());
    assert_eq!(problem(other.begin_rotation()), RotationProblem::Underway);
    assert_eq!(problem(other.finish_rotation()), RotationProblem::Underway);
    row.seal_again(&ring);
    ring.finish_rotation().unwrap();

    assert_eq!(problem(other.begin_rotation()), RotationProblem::Stale);
    assert!(row.opens_with(&other), "it was loaded when both keys were there");
    loaded(folder.path()).begin_rotation().unwrap();
}

#[test]
fn a_successor_without_the_key_is_no_reason_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("master.key.new"), NEW, 0o600);
    let text = whole_text(&load(folder.path()).unwrap_err());
    assert!(text.contains("put it back from a backup"), "{text}");
    // A copy of the key is not a successor either.
    write(&folder.path().join("master.key"), NEW, 0o600);
    let mut ring = loaded(folder.path());
    assert_eq!(ring.rotation(), None);
    ring.begin_rotation().unwrap();
    assert!(ring.rotation().is_some());
    ring.finish_rotation().unwrap();
    assert_ne!(
        loaded(folder.path()).sealing_key(),
        loaded_from_environment(&[(KEY_VARIABLE, NEW)]).sealing_key()
    );
}

#[test]
fn a_key_from_elsewhere_is_brought_in_like_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let folders = Folders { config: data.clone(), data: data.clone() };
    let (old, new) = (MasterKey::parse(OLD).unwrap(), MasterKey::parse(NEW).unwrap());
    assert!(KeyRing::bring_in(&folders, &old).unwrap().is_none(), "there was none");
    assert_eq!(loaded(&data).sealing_key(), old.id());
    let row = Row::new(&loaded(&data));
    assert!(KeyRing::bring_in(&folders, &old).unwrap().is_none(), "it is here already");

    let brought = KeyRing::bring_in(&folders, &new).unwrap().unwrap();
    assert_eq!(brought.rotation().map(|change| (change.from, change.to)), Some((old.id(), new.id())));
    drop(brought);
    assert!(row.opens_with(&loaded(&data)), "a process that dies here leaves both keys");
    assert!(KeyRing::bring_in(&folders, &old).unwrap().is_none(), "the old one is still here");
    let third = KeyRing::bring_in(&folders, &MasterKey::generate().unwrap()).unwrap_err();
    assert!(matches!(third, SealError::Rotation(RotationProblem::Unfinished)), "{third:?}");

    let mut again = KeyRing::bring_in(&folders, &new).unwrap().unwrap();
    again.finish_rotation().unwrap();
    assert_eq!(names(&data), ["master.key"]);
    assert_eq!(loaded(&data).sealing_key(), new.id());
    assert!(Row::new(&loaded(&data)).opens_with(&KeyRing::holding(new, KeyHome::Environment)));
}

fn loaded_from_environment(variables: &'static [(&str, &str)]) -> KeyRing {
    let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
    KeyRing::find(Path::new("/nowhere"), variable).unwrap().unwrap()
}

#[test]
fn with_the_key_in_the_environment_nothing_is_written() {
    let mut ring = loaded_from_environment(&[(KEY_VARIABLE, OLD)]);
    let mut row = Row::new(&ring);
    assert_eq!(problem(ring.begin_rotation()), RotationProblem::NoNewKey);
    let mut same = loaded_from_environment(&[(KEY_VARIABLE, OLD), (NEW_KEY_VARIABLE, OLD)]);
    assert_eq!(problem(same.begin_rotation()), RotationProblem::NoNewKey);

    let both = || loaded_from_environment(&[(KEY_VARIABLE, OLD), (NEW_KEY_VARIABLE, NEW)]);
    let mut ring = both();
    assert_eq!(ring.home(), &KeyHome::Environment);
    ring.begin_rotation().unwrap();
    row.seal_again(&ring);
    assert!(row.opens_with(&both()), "a crash leaves both");
    ring.finish_rotation().unwrap();
    assert!(row.opens_with(&ring) && row.opens_with(&loaded_from_environment(&[(KEY_VARIABLE, NEW)])));
    assert!(!row.opens_with(&loaded_from_environment(&[(KEY_VARIABLE, OLD)])));
}
