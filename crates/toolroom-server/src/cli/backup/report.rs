//! What is told of a backup.

use std::path::Path;

use serde_json::{Value, json};
use toolroom_host::environment;

use crate::backup::{Examined, KeyUsed, Manifest, Restored, Rows, SealedSeen, Unopened};
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, Output, visible};
use crate::cli::console::time::local_time;

/// What is in a backup, in a sentence.
pub(super) fn contents(manifest: &Manifest) -> String {
    let config = manifest.has_config().then(|| "the configuration file".to_owned());
    let key = manifest.key.inside.then(|| "the master key".to_owned());
    [Some(counted(manifest.rows)), config, key].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What is in a database, in a sentence.
pub(super) fn counted(rows: Rows) -> String {
    let counted = [
        (rows.calls, "call"),
        (rows.artifacts, "whole result"),
        (rows.approvals, "approval"),
        (rows.answers, "standing answer"),
        (rows.secrets, "sealed secret"),
        (rows.conversations, "conversation"),
    ];
    let parts: Vec<String> = counted
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| format!("{number} {noun}{}", if number == 1 { "" } else { "s" }))
        .collect();
    if parts.is_empty() { "no calls yet".to_owned() } else { parts.join(", ") }
}

/// What was found out about a backup.
pub(super) fn tell(file: &Path, examined: &Examined, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(&document(file, examined));
    }
    if let Some(manifest) = &examined.manifest {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            text.push_str(&format!("{DIM}{name:<11}{DIM:#}{}\n", visible(value)));
        };
        line("made", &local_time(manifest.created_at, &environment::time_zone(), "%Y-%m-%d %H:%M:%S %Z"));
        line("by", &format!("toolroom {}, schema {}", manifest.toolroom, manifest.schema));
        line("inside", &contents(manifest));
        line("sealed", &sealed(manifest, examined.sealed));
        output.data(text.trim_end())?;
    }
    for problem in problems(examined) {
        output.error(problem);
    }
    output.talk(match (examined.is_whole(), examined.is_good()) {
        (true, true) => "the backup is good",
        (true, false) => "the configuration file in it cannot be used; everything else is good",
        (false, _) => "the backup is not good; use another one",
    });
    Ok(())
}

/// Everything that is wrong with it.
fn problems(examined: &Examined) -> impl Iterator<Item = &String> {
    examined.problems.iter().chain(&examined.config_problem)
}

fn document(file: &Path, examined: &Examined) -> Value {
    let sealed = examined.sealed.map(|SealedSeen { all, opened, key }| {
        let key = match key {
            KeyUsed::Inside => Some("inside"),
            KeyUsed::Here => Some("here"),
            KeyUsed::None => None,
        };
        json!({"all": all, "opened": opened, "key": key})
    });
    json!({
        "file": file, "good": examined.is_good(), "problems": problems(examined).collect::<Vec<_>>(),
        "manifest": examined.manifest, "sealed": sealed,
    })
}

/// Whether what is sealed can be opened, in a sentence.
fn sealed(manifest: &Manifest, seen: Option<SealedSeen>) -> String {
    let needed = manifest.key.id.as_ref().map(|id| format!(" (key {id})")).unwrap_or_default();
    match seen {
        None => "not looked at".to_owned(),
        Some(SealedSeen { all: 0, .. }) => "nothing".to_owned(),
        Some(SealedSeen { all, opened, key: KeyUsed::Inside }) => {
            format!("{opened} of {all} open with the key inside")
        }
        Some(SealedSeen { all, opened, key: KeyUsed::Here }) => {
            format!("{opened} of {all} open with the key that is here{needed}")
        }
        Some(SealedSeen { all, key: KeyUsed::None, .. }) => {
            format!("{all}, and no key here to open them{needed}")
        }
    }
}

/// What was done, and what is left to do.
pub(super) fn tell_restored(
    restored: &Restored,
    rows: Rows,
    unopened: Option<&Unopened>,
    output: Output,
) -> anyhow::Result<Exit> {
    let Restored { kept, placed, unreadable } = restored;
    if let Some(why) = unreadable {
        output.hint(&format!("the database that was there could not be opened: {why}"));
    }
    if output.is_json() {
        output.document(&json!({"restored": placed, "kept": kept}))?;
        tell_unopened(unopened, output);
        return Ok(Exit::Done);
    }
    output.talk(format_args!("restored {}", counted(rows)));
    // The first one is the database.
    for path in placed.iter().skip(1) {
        output.talk(format_args!("restored `{}`", visible(&path.display().to_string())));
    }
    for path in kept {
        output.talk(format_args!("what was there is now `{}`", visible(&path.display().to_string())));
    }
    tell_unopened(unopened, output);
    Ok(Exit::Done)
}

/// What of a restored database cannot be opened yet, and what would open it.
fn tell_unopened(unopened: Option<&Unopened>, output: Output) {
    let Some(Unopened { count, all, needed, kept, home, held }) = unopened else { return };
    let needed = needed.map(|id| format!(" `{id}`")).unwrap_or_default();
    let kept = kept.as_ref().map(|path| format!(" (it is kept as `{}`)", path.display())).unwrap_or_default();
    let held = match held {
        true => ", in place of the one that is there, and keep that one: what was replaced needs it",
        false => "",
    };
    output.hint(&format!(
        "{count} of {all} sealed texts cannot be opened with the key that is here; put their key{needed}{kept} into \
         {home}{held}"
    ));
}
