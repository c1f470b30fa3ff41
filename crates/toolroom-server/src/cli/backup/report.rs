//! Prints what is in a backup, and what was restored.

use std::path::Path;

use serde_json::{Value, json};
use toolroom_host::environment;

use crate::backup::{KeyUsed, Manifest, MissingKey, RestoreReport, Rows, SealedCounts, VerifiedBackup};
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, Output, visible};
use crate::cli::console::time::local_time;

/// Counts of what is in a backup.
pub(super) fn contents(manifest: &Manifest) -> String {
    let config = manifest.has_config().then(|| "the configuration file".to_owned());
    let key = manifest.key.inside.then(|| "the master key".to_owned());
    [Some(counted(manifest.rows)), config, key].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Counts of what is in a database.
pub(super) fn counted(rows: Rows) -> String {
    let counted = [
        (rows.calls, "call"),
        (rows.artifacts, "stored result"),
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

/// Prints the result of examining a backup.
pub(super) fn print_examined(file: &Path, verified: &VerifiedBackup, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(&document(file, verified));
    }
    if let Some(manifest) = &verified.manifest {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            text.push_str(&format!("{DIM}{name:<11}{DIM:#}{}\n", visible(value)));
        };
        line("created", &local_time(manifest.created_at, &environment::time_zone(), "%Y-%m-%d %H:%M:%S %Z"));
        line("created by", &format!("toolroom {}, schema {}", manifest.toolroom, manifest.schema));
        line("contents", &contents(manifest));
        line("secrets", &sealed(manifest, verified.sealed));
        output.data(text.trim_end())?;
    }
    for problem in problems(verified) {
        output.error(problem);
    }
    output.talk(match (verified.is_whole(), verified.is_good()) {
        (true, true) => "The backup is valid",
        (true, false) => "The configuration file in it is invalid; everything else is valid",
        (false, _) => "The backup is damaged; use another one",
    });
    Ok(())
}

fn problems(verified: &VerifiedBackup) -> impl Iterator<Item = &String> {
    verified.problems.iter().chain(&verified.config_problem)
}

fn document(file: &Path, verified: &VerifiedBackup) -> Value {
    let sealed = verified.sealed.map(|SealedCounts { all, opened, key }| {
        let key = match key {
            KeyUsed::Inside => Some("inside"),
            KeyUsed::Here => Some("here"),
            KeyUsed::None => None,
        };
        json!({"all": all, "opened": opened, "key": key})
    });
    json!({
        "file": file, "good": verified.is_good(), "problems": problems(verified).collect::<Vec<_>>(),
        "manifest": verified.manifest, "sealed": sealed,
    })
}

/// How many sealed values can be opened, and with which key.
fn sealed(manifest: &Manifest, seen: Option<SealedCounts>) -> String {
    let needed = manifest.key.id.as_ref().map(|id| format!(" (key {id})")).unwrap_or_default();
    match seen {
        None => "not checked".to_owned(),
        Some(SealedCounts { all: 0, .. }) => "none".to_owned(),
        Some(SealedCounts { all, opened, key: KeyUsed::Inside }) => {
            format!("{opened} of {all} open with the included key")
        }
        Some(SealedCounts { all, opened, key: KeyUsed::Here }) => {
            format!("{opened} of {all} open with the key of this machine{needed}")
        }
        Some(SealedCounts { all, key: KeyUsed::None, .. }) => {
            format!("{all}; no key here to open them{needed}")
        }
    }
}

/// Prints what was restored, and hints about what is left to do.
pub(super) fn print_restored(
    restored: &RestoreReport,
    rows: Rows,
    unopened: Option<&MissingKey>,
    output: Output,
) -> anyhow::Result<Exit> {
    let RestoreReport { kept, placed, unreadable } = restored;
    if let Some(why) = unreadable {
        output.hint(&format!("the previous database could not be opened: {why}"));
    }
    if output.is_json() {
        output.document(&json!({"restored": placed, "kept": kept}))?;
        hint_unopened(unopened, output);
        return Ok(Exit::Done);
    }
    output.talk(format_args!("Restored {}", counted(rows)));
    // The first one is the database.
    for path in placed.iter().skip(1) {
        output.talk(format_args!("Restored `{}`", visible(&path.display().to_string())));
    }
    for path in kept {
        output.talk(format_args!("The previous file is now `{}`", visible(&path.display().to_string())));
    }
    hint_unopened(unopened, output);
    Ok(Exit::Done)
}

/// Hints which key opens the restored secrets, if the current one does not.
fn hint_unopened(unopened: Option<&MissingKey>, output: Output) {
    let Some(MissingKey { count, all, needed, kept, home, held }) = unopened else { return };
    let needed = needed.map(|id| format!(" `{id}`")).unwrap_or_default();
    let kept = kept.as_ref().map(|path| format!(" (stored as `{}`)", path.display())).unwrap_or_default();
    let held = match held {
        true => ", instead of the current one, which the replaced data still needs",
        false => "",
    };
    output.hint(&format!(
        "{count} of {all} secrets cannot be opened with the current key; put their key{needed}{kept} into \
         {home}{held}"
    ));
}
