//! The check `secrets`: the master key, and whether it opens what is sealed.

use std::path::PathBuf;

use tokio::time::Instant;
use toolroom::redact::Secret;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KeyFileProblem, KeyRing, SealError, key_of};
use toolroom_store::{SealedLocation, SealedValue, Store};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{LISTED, RESTORE, counted, listed, quoted, unexamined};
use crate::doctor::gather::{one_line, within};
use crate::vault::purpose;

/// The master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyFacts {
    Absent,
    Held {
        /// Its file, variable or keyring, for display.
        home: String,
        change: KeyChange,
    },
    /// Unusable, with the cause.
    Unusable(KeyTrouble, String),
    /// The data folder is unknown.
    Nowhere,
}

/// Whether a key rotation was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyChange {
    None,
    Unfinished,
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyTrouble {
    /// Other users may read its file.
    Readable(PathBuf),
    /// The file of the new key exists, that of the old one does not.
    Missing(PathBuf),
    /// Its file holds no key, or cannot be read.
    File(PathBuf),
    /// Its variable holds no key.
    Variable(&'static str),
    Other,
}

/// Counts of sealed values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SealedFacts {
    pub(crate) secrets: usize,
    /// Sealed requests of parked calls.
    pub(crate) requests: usize,
    /// Values sealed with a missing key. Not counted if there is no key at all.
    pub(crate) other_key: usize,
    /// Names of secrets that do not open although the key matches.
    pub(crate) damaged: Vec<String>,
    /// Names of secrets too short to be redacted.
    pub(crate) too_short: Vec<String>,
}

/// Loads the keys again: the file may have changed since this process loaded it.
pub(crate) fn load_keys(folders: &Folders) -> (KeyFacts, Option<KeyRing>) {
    match KeyRing::load(folders) {
        Ok(None) => (KeyFacts::Absent, None),
        Ok(Some(ring)) => {
            let change = if ring.rotation().is_some() { KeyChange::Unfinished } else { KeyChange::None };
            (KeyFacts::Held { home: ring.home().to_string(), change }, Some(ring))
        }
        Err(error) => (KeyFacts::Unusable(trouble(&error), one_line(error)), None),
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

/// Counts the sealed values of a database, and returns the secrets that could be opened.
pub(crate) async fn open_sealed(
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
            secrets.extend(open_one(value, ring, &mut facts));
        }
    }
    Some((facts, secrets))
}

/// Opens a secret. For a sealed request it only checks the key.
fn open_one(value: &SealedValue, ring: &KeyRing, facts: &mut SealedFacts) -> Option<Secret> {
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

pub(crate) fn check(key: &KeyFacts, sealed: Option<&SealedFacts>) -> Check {
    let counts = sealed.map(|sealed| (sealed.secrets, sealed.requests));
    let kept = match counts {
        Some((secrets, 0)) => counted(secrets, "secret"),
        Some((secrets, requests)) => {
            format!("{}, {} of pending calls", counted(secrets, "secret"), counted(requests, "request"))
        }
        None => "not examined, see `store`".to_owned(),
    };
    let mut found = Vec::new();
    let mut details = kept.clone();
    match key {
        KeyFacts::Nowhere => return unexamined("secrets.unexamined", "config"),
        KeyFacts::Unusable(trouble, cause) => found.push(key_trouble(trouble, cause)),
        KeyFacts::Absent if counts.is_some_and(|(secrets, requests)| secrets + requests > 0) => {
            let details = format!("there is no master key, so nothing can be decrypted: {kept}");
            found.push(Finding::error("secrets.key_lost", details, RESTORE));
        }
        KeyFacts::Absent => details.push_str("; a key is created with the first secret"),
        KeyFacts::Held { home, change } => {
            details.push_str(&format!("; the key is in {home}"));
            if *change == KeyChange::Unfinished {
                let details = "a key rotation was interrupted; both keys exist";
                found.push(Finding::warning("secrets.change_unfinished", details, "toolroom secrets rotate"));
            }
        }
    }
    let Some(sealed) = sealed else {
        found.push(Finding::warning("secrets.unexamined", details, "toolroom doctor"));
        return Check::new("", found);
    };
    if sealed.other_key > 0 {
        let count = sealed.other_key;
        let details = format!("encrypted with a missing key: {count} of {kept}");
        found.push(Finding::error("secrets.other_key", details, RESTORE));
    }
    for name in sealed.damaged.iter().take(LISTED) {
        let details = format!("`{name}` is damaged and cannot be decrypted");
        found.push(Finding::error("secrets.damaged", details, format!("toolroom secrets set {name}")));
    }
    if let Some(first) = sealed.too_short.first() {
        let details = format!("too short to be redacted: {}", listed(&sealed.too_short));
        found.push(Finding::warning("secrets.too_short", details, format!("toolroom secrets set {first}")));
    }
    Check::new(details, found)
}

fn key_trouble(trouble: &KeyTrouble, cause: &str) -> Finding {
    match trouble {
        KeyTrouble::Readable(path) => {
            Finding::error("secrets.key_readable", cause, format!("chmod 600 {}", quoted(path)))
        }
        KeyTrouble::Missing(_) => Finding::error("secrets.key_lost", cause, RESTORE),
        KeyTrouble::File(path) => {
            Finding::error("secrets.key_unusable", cause, format!("ls -l {}", quoted(path)))
        }
        KeyTrouble::Variable(name) => Finding::error("secrets.key_unusable", cause, format!("unset {name}")),
        KeyTrouble::Other => Finding::error("secrets.key_unusable", cause, "toolroom doctor"),
    }
}
