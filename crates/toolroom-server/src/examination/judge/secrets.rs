//! What the master key means, and what is sealed with it.

use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{KeyChange, KeyFacts, KeyTrouble, SealedFacts};
use super::unexamined;
use super::wording::{LISTED, RESTORE, counted, listed, quoted};

pub(super) fn secrets(key: &KeyFacts, sealed: Option<&SealedFacts>) -> Check {
    let counts = sealed.map(|sealed| (sealed.secrets, sealed.requests));
    let kept = match counts {
        Some((secrets, 0)) => counted(secrets, "secret"),
        Some((secrets, requests)) => {
            format!("{}, {} of waiting calls", counted(secrets, "secret"), counted(requests, "request"))
        }
        None => "not examined, see `store`".to_owned(),
    };
    let mut found = Vec::new();
    let mut details = kept.clone();
    match key {
        KeyFacts::Nowhere => return unexamined("secrets.unexamined", "config"),
        KeyFacts::Unusable(trouble, cause) => found.push(key_trouble(trouble, cause)),
        KeyFacts::Absent if counts.is_some_and(|(secrets, requests)| secrets + requests > 0) => {
            let details = format!("there is no master key, and without it nothing opens: {kept}");
            found.push(Finding::error("secrets.key_lost", details, RESTORE));
        }
        KeyFacts::Absent => details.push_str("; a key is made when one is first kept"),
        KeyFacts::Held { home, change } => {
            details.push_str(&format!("; the key is in {home}"));
            if *change == KeyChange::Unfinished {
                let details = "a change of the key was begun and not finished; both keys are there";
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
        let details = format!("sealed with a key that is not here: {count} of {kept}");
        found.push(Finding::error("secrets.other_key", details, RESTORE));
    }
    for name in sealed.damaged.iter().take(LISTED) {
        let details = format!("`{name}` is damaged and does not open");
        found.push(Finding::error("secrets.damaged", details, format!("toolroom secrets set {name}")));
    }
    if let Some(first) = sealed.too_short.first() {
        let details = format!("too short to be hidden wherever it appears: {}", listed(&sealed.too_short));
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
