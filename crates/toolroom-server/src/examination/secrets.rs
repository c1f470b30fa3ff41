//! The master key, and what it opens.

use tokio::time::Instant;
use toolroom::redact::Secret;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KeyFileProblem, KeyRing, SealError, key_of};
use toolroom_store::{SealedLocation, SealedValue, Store};

use super::facts::{KeyChange, KeyFacts, KeyTrouble, SealedFacts};
use super::gather::{told, within};
use crate::vault::purpose;

/// The keys there are. Read anew: the file may have changed since a process began to use it.
pub(super) fn key(folders: &Folders) -> (KeyFacts, Option<KeyRing>) {
    match KeyRing::load(folders) {
        Ok(None) => (KeyFacts::Absent, None),
        Ok(Some(ring)) => {
            let change = if ring.rotation().is_some() { KeyChange::Unfinished } else { KeyChange::None };
            (KeyFacts::Held { home: ring.home().to_string(), change }, Some(ring))
        }
        Err(error) => (KeyFacts::Unusable(trouble(&error), told(error)), None),
    }
}

fn trouble(error: &SealError) -> KeyTrouble {
    match error {
        SealError::KeyFile { path, source: KeyFileProblem::Shared { .. } } => {
            KeyTrouble::Readable(path.clone())
        }
        SealError::KeyFile { path, source: KeyFileProblem::Missing { .. } } => {
            KeyTrouble::Missing(path.clone())
        }
        SealError::KeyFile { path, .. } => KeyTrouble::File(path.clone()),
        SealError::Variable { variable, .. } => KeyTrouble::Variable(variable),
        SealError::UnknownVersion { .. }
        | SealError::UnknownKey { .. }
        | SealError::Damaged { .. }
        | SealError::TooLong { .. }
        | SealError::Randomness { .. }
        | SealError::Rotation(_) => KeyTrouble::Other,
    }
}

/// What is sealed in a database, and what of it could be opened.
pub(super) async fn sealed(
    store: &Store,
    ring: Option<&KeyRing>,
    deadline: Instant,
) -> Option<(SealedFacts, Vec<Secret>)> {
    let values = within(deadline, store.sealed_values()).await.ok()?.ok()?;
    let mut facts = SealedFacts::default();
    let mut secrets = Vec::new();
    for value in &values {
        match &value.location {
            SealedLocation::Secret { .. } => facts.secrets += 1,
            SealedLocation::Approval { .. } => facts.requests += 1,
        }
        if let Some(ring) = ring {
            secrets.extend(open(value, ring, &mut facts));
        }
    }
    Some((facts, secrets))
}

/// Opens a secret; of a waiting request only the key is looked at.
fn open(value: &SealedValue, ring: &KeyRing, facts: &mut SealedFacts) -> Option<Secret> {
    let held = [Some(ring.sealing_key()), ring.rotation().map(|change| change.from)];
    let needed = key_of(&value.bytes);
    if needed.is_some() && !held.contains(&needed) {
        facts.other_key += 1;
        return None;
    }
    let SealedLocation::Secret { project, name } = &value.location else { return None };
    let plain = ring.open(&purpose(project, name), &value.bytes).ok();
    let Some(text) = plain.as_ref().and_then(|plain| str::from_utf8(plain).ok()) else {
        facts.damaged.push(name.clone());
        return None;
    };
    let secret = Secret::new(name, text);
    if secret.is_too_short() {
        facts.too_short.push(name.clone());
    }
    Some(secret)
}
