//! What opens, and what does not.

use std::path::Path;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_assume, proptest};
use proptest::{collection, sample};

use crate::scale::cases;
use crate::seal::{KEY_VARIABLE, KeyRing, MasterKey, SealError, key_of};

/// A key of its own, without a file: thousands of them are needed.
fn ring() -> KeyRing {
    let key = MasterKey::generate().unwrap().to_text();
    let variable = |name: &str| (name == KEY_VARIABLE).then(|| key.as_str().into());
    KeyRing::find(Path::new("/nowhere"), variable).unwrap().unwrap()
}

#[test]
fn a_sealed_text_opens_for_its_purpose_only() {
    let ring = ring();
    let mine = ring.seal("secret/local/MINE", b"hunter2").unwrap();
    let yours = ring.seal("secret/local/YOURS", b"letmein").unwrap();
    assert_eq!(*ring.open("secret/local/MINE", &mine).unwrap(), b"hunter2");
    for (purpose, sealed) in [("secret/local/YOURS", &mine), ("secret/local/MINE", &yours), ("", &mine)] {
        let error = ring.open(purpose, sealed).unwrap_err();
        assert!(matches!(error, SealError::Damaged { .. }), "{error}");
    }
}

#[test]
fn a_sealed_text_names_its_format_and_its_key() {
    let ring = ring();
    let sealed = ring.seal("p", b"").unwrap();
    assert_eq!(sealed.len(), 1 + 4 + 24 + 16);
    assert_eq!(key_of(&sealed), Some(ring.sealing_key()));
    for none in [&b""[..], b"\x01abc", b"\x02abcdefg"] {
        assert_eq!(key_of(none), None);
    }
    let mut newer = sealed.clone();
    newer[0] = 2;
    assert!(matches!(ring.open("p", &newer), Err(SealError::UnknownVersion { version: 2 })));
}

#[test]
fn the_key_that_is_needed_is_named() {
    let (ours, theirs) = (ring(), ring());
    let sealed = theirs.seal("p", b"plain").unwrap();
    let text = ours.open("p", &sealed).unwrap_err().to_string();
    let (needed, held, home) = (theirs.sealing_key(), ours.sealing_key(), ours.home());
    assert_eq!(
        text,
        format!("sealed with the key `{needed}`; {home} holds `{held}`. Put the key `{needed}` there")
    );
}

#[test]
fn sealing_twice_gives_two_texts() {
    let ring = ring();
    assert_ne!(ring.seal("p", b"plain").unwrap(), ring.seal("p", b"plain").unwrap());
}

fn plain() -> impl Strategy<Value = Vec<u8>> {
    collection::vec(any::<u8>(), 0..200)
}

/// Two purposes that differ.
fn purposes() -> impl Strategy<Value = (String, String)> {
    ("[a-z/]{0,12}", "[a-z/]{0,12}").prop_filter("different", |(one, other)| one != other)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_sealed_opens_again_and_nowhere_else(plain in plain(), (purpose, other) in purposes()) {
        let ring = ring();
        let sealed = ring.seal(&purpose, &plain).unwrap();
        prop_assert_eq!(&*ring.open(&purpose, &sealed).unwrap(), &plain);
        prop_assert!(ring.open(&other, &sealed).is_err());
        prop_assert!(self::ring().open(&purpose, &sealed).is_err());
    }

    #[test]
    fn no_changed_bit_goes_unnoticed(plain in plain(), at in any::<sample::Index>(), bit in 0..8_u8) {
        let ring = ring();
        let mut sealed = ring.seal("p", &plain).unwrap();
        let at = at.index(sealed.len());
        sealed[at] ^= 1 << bit;
        prop_assert!(ring.open("p", &sealed).is_err());
    }

    #[test]
    fn no_missing_end_goes_unnoticed(plain in plain(), at in any::<sample::Index>(), more in Just(b"more")) {
        let ring = ring();
        let mut sealed = ring.seal("p", &plain).unwrap();
        prop_assert!(ring.open("p", &sealed[..at.index(sealed.len())]).is_err());
        sealed.extend(more);
        prop_assert!(ring.open("p", &sealed).is_err());
    }

    #[test]
    fn any_bytes_are_an_error(bytes in collection::vec(any::<u8>(), 0..100)) {
        let ring = ring();
        prop_assume!(key_of(&bytes) != Some(ring.sealing_key()));
        prop_assert!(ring.open("p", &bytes).is_err());
    }
}
