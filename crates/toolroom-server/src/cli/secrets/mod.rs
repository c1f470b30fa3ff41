//! `toolroom secrets`: stores secrets for tools; values are never printed.

mod value;

use clap::{Args, Subcommand};
use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::nearest::nearest_one;
use toolroom::redact::{MIN_EXACT_CHARS, Secret};
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_host::seal::{KEY_VARIABLE, KeyHome, NEW_KEY_VARIABLE};

use super::console::exit::{Exit, Missing};
use super::console::output::{BOLD, DIM, Output, YELLOW, table, visible};
use super::console::time::local_time;
use crate::app::App;
use crate::vault::{KeyRotation, OpenedSecret, SavedSecret, VaultError};
use value::{SecretInput, check_name, on_the_command_line};

const EXAMPLES: &str = "\
Examples:
  toolroom secrets set GITHUB_TOKEN                  prompt for the value, not shown
  pass github | toolroom secrets set GITHUB_TOKEN    read it from another program
  toolroom secrets rotate                            rotate the master key";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SecretsArgs {
    #[command(subcommand)]
    command: Option<SecretsCommand>,
}

#[derive(Subcommand)]
enum SecretsCommand {
    /// List secrets, without values
    List,
    /// Store a secret; the value is prompted for or read from stdin
    Set {
        /// Secret name: letters, digits, `_`, `-` and `.`
        name: String,
        #[command(flatten)]
        stray: StrayValue,
    },
    /// Remove a secret
    #[command(visible_alias = "rm")]
    Remove {
        /// Secret name
        name: String,
    },
    /// Change the value of a secret, or the master key (the old key is kept for older backups)
    Rotate {
        /// Secret name [default: rotate the master key]
        name: Option<String>,
        #[command(flatten)]
        stray: StrayValue,
    },
}

/// A value given on the command line. Parsed only to refuse it: the error of clap would print it.
#[derive(Args)]
struct StrayValue {
    #[arg(hide = true, allow_hyphen_values = true)]
    value: Vec<std::ffi::OsString>,
}

impl StrayValue {
    fn refuse(self) -> anyhow::Result<()> {
        if self.value.is_empty() { Ok(()) } else { Err(on_the_command_line().into()) }
    }
}

pub(super) async fn run(app: &App, scope: Scope, args: SecretsArgs, output: &Output) -> anyhow::Result<Exit> {
    match args.command {
        None | Some(SecretsCommand::List) => list(app, &scope, *output).await,
        Some(SecretsCommand::Set { name, stray }) => {
            stray.refuse()?;
            check_name(&name)?;
            set(app, &scope, &name, *output).await
        }
        Some(SecretsCommand::Remove { name }) => remove(app, &scope, &name, *output).await,
        Some(SecretsCommand::Rotate { name: Some(name), stray }) => {
            stray.refuse()?;
            known(app, &scope, &name).await?;
            set(app, &scope, &name, *output).await
        }
        Some(SecretsCommand::Rotate { name: None, .. }) => rotate_key(app, *output).await,
    }
}

/// Fails with a suggestion if there is no such secret.
async fn known(app: &App, scope: &Scope, name: &str) -> anyhow::Result<()> {
    let stored = app.store.secrets(&scope.project).await?;
    if stored.iter().any(|secret| secret.name == name) {
        return Ok(());
    }
    let meant = nearest_one(name, stored.iter().map(|secret| secret.name.as_str()));
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "see `toolroom secrets`".to_owned(),
    };
    Err(Missing(format!("no secret `{}`; {hint}", visible(name))).into())
}

#[derive(Serialize)]
struct ListedSecret<'a> {
    name: &'a str,
    created_at: Timestamp,
    changed_at: Timestamp,
    opens: bool,
    /// `None` if it cannot be opened.
    hidden_exactly: Option<bool>,
    /// Why the value is easy to guess.
    #[serde(skip)]
    guessable: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl<'a> ListedSecret<'a> {
    fn new(seen: &'a OpenedSecret) -> Self {
        let OpenedSecret { name, created_at, changed_at, opened } = seen;
        Self {
            name,
            created_at: *created_at,
            changed_at: *changed_at,
            opens: opened.is_ok(),
            hidden_exactly: opened.as_ref().ok().map(|secret| !secret.is_too_short()),
            guessable: opened.as_ref().ok().and_then(Secret::weakness),
            problem: opened.as_ref().err().map(whole_text),
        }
    }
}

/// An error with its causes.
fn whole_text(error: &VaultError) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

async fn list(app: &App, scope: &Scope, output: Output) -> anyhow::Result<Exit> {
    let seen = match app.vault.list(&scope.project).await {
        Ok(seen) => seen,
        // Names are not sealed, so they are listed even if the key file is unreadable.
        Err(error) => return list_names(app, scope, &whole_text(&error), output).await,
    };
    let listed: Vec<ListedSecret<'_>> = seen.iter().map(ListedSecret::new).collect();
    show(&listed, output)?;
    let change = app.vault.ring().ok().flatten().and_then(|ring| ring.rotation());
    if change.is_some() && !output.is_json() {
        output.hint("a rotation of the master key is not finished; finish it with `toolroom secrets rotate`");
    }
    Ok(Exit::Done)
}

async fn list_names(app: &App, scope: &Scope, problem: &str, output: Output) -> anyhow::Result<Exit> {
    let stored = app.store.secrets(&scope.project).await?;
    let unopened = stored.iter().map(|secret| ListedSecret {
        name: &secret.name,
        created_at: secret.created_at,
        changed_at: secret.changed_at,
        opens: false,
        hidden_exactly: None,
        guessable: None,
        problem: Some(problem.to_owned()),
    });
    show(&unopened.collect::<Vec<_>>(), output)?;
    Ok(Exit::Done)
}

fn show(listed: &[ListedSecret<'_>], output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(&listed);
    }
    if listed.is_empty() {
        output.talk("No secrets yet; store one with `toolroom secrets set NAME`");
        return Ok(());
    }
    let zone = environment::time_zone();
    let line = |secret: &ListedSecret<'_>| {
        let at = |at| local_time(at, &zone, "%Y-%m-%d %H:%M");
        let state = match (secret.hidden_exactly, secret.guessable) {
            (Some(true), None) => "hidden".to_owned(),
            (Some(true), Some(why)) => format!("hidden, {YELLOW}easy to guess: {why}{YELLOW:#}"),
            (Some(false), _) => format!("{YELLOW}too short to be hidden{YELLOW:#}"),
            (None, _) => format!("{YELLOW}cannot be opened{YELLOW:#}"),
        };
        vec![
            format!("{BOLD}{}{BOLD:#}", visible(secret.name)),
            state,
            format!("{DIM}set {}{DIM:#}", at(secret.created_at)),
            format!("{DIM}changed {}{DIM:#}", at(secret.changed_at)),
        ]
    };
    output.data(&table(&listed.iter().map(line).collect::<Vec<_>>()))?;
    // The same problem is printed once, not per secret.
    let mut printed = Vec::new();
    for problem in listed.iter().filter_map(|secret| secret.problem.as_ref()) {
        if !printed.contains(&problem) {
            output.error(problem);
            printed.push(problem);
        }
    }
    Ok(())
}

async fn set(app: &App, scope: &Scope, name: &str, output: Output) -> anyhow::Result<Exit> {
    let value = match value::read(name, output).await? {
        SecretInput::Value(value) => value,
        SecretInput::Interrupted => return Ok(Exit::Interrupted),
    };
    let SavedSecret { replaced, new_key } = app.vault.set_secret(&scope.project, name, &value).await?;
    let secret = Secret::new(name, value.as_str());
    let hidden = !secret.is_too_short();
    if output.is_json() {
        let document = serde_json::json!({
            "name": name, "replaced": replaced, "hidden_exactly": hidden, "new_key": new_key,
        });
        output.document(&document)?;
    } else {
        match replaced {
            true => output.talk(format_args!("Changed `{name}`")),
            false => output.talk(format_args!("Stored `{name}`")),
        }
    }
    if let Some(warning) = warning(&secret) {
        output.hint(&warning);
    }
    if let Some(path) = new_key {
        output.hint(&format!(
            "created a master key: `{}`. It opens every secret; without it the secrets in backups are lost, so keep a copy \
             of that file in another place",
            path.display()
        ));
    }
    Ok(Exit::Done)
}

/// A warning about values that cannot be fully redacted.
fn warning(secret: &Secret) -> Option<String> {
    let few = secret.weakness();
    if secret.is_too_short() {
        let guess = few.map(|why| format!(", and it is easy to guess ({why})")).unwrap_or_default();
        return Some(format!(
            "values of fewer than {MIN_EXACT_CHARS} characters are not redacted, because they occur in ordinary text; \
             results, messages and the log will show this one{guess}; use a longer one"
        ));
    }
    few.map(|why| {
        format!(
            "`{}` is redacted, but its value is easy to guess ({why}): a model or caller can try values until one is \
             redacted, and a hash or a part of it reveals the rest; use a long random value if you can",
            secret.name()
        )
    })
}

async fn remove(app: &App, scope: &Scope, name: &str, output: Output) -> anyhow::Result<Exit> {
    if !app.store.remove_secret(&scope.project, name).await? {
        known(app, scope, name).await?;
    }
    match output.is_json() {
        true => output.document(&serde_json::json!({"name": name, "removed": true}))?,
        false => output.talk(format_args!("Removed `{}`", visible(name))),
    }
    Ok(Exit::Done)
}

/// The file or variable that holds the master key.
fn key_location(home: &KeyHome) -> String {
    match home {
        KeyHome::File(path) => path.display().to_string(),
        KeyHome::Environment => KEY_VARIABLE.to_owned(),
    }
}

async fn rotate_key(app: &App, output: Output) -> anyhow::Result<Exit> {
    let change = app.vault.rotate_key().await?;
    if output.is_json() {
        let document = match &change {
            Some(change) => serde_json::json!({
                "changed": true, "from": change.from.to_string(), "to": change.to.to_string(),
                "key": key_location(&change.home), "kept": change.kept, "sealed_anew": change.resealed,
            }),
            None => serde_json::json!({"changed": false}),
        };
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let Some(KeyRotation { from, to, home, kept, resealed, was_begun }) = change else {
        output.talk("No master key yet; the first secret creates one");
        return Ok(Exit::Done);
    };
    let done = if was_begun { "Finished the rotation of the master key" } else { "Rotated the master key" };
    output.talk(format_args!("{done}: {from} → {to}; resealed values: {resealed}"));
    match home {
        KeyHome::File(path) => {
            output.talk(format_args!(
                "Keep a copy of `{}` in another place",
                visible(&path.display().to_string())
            ));
        }
        KeyHome::Environment => output.talk(format_args!(
            "Set `{KEY_VARIABLE}` to the value of `{NEW_KEY_VARIABLE}`, and unset `{NEW_KEY_VARIABLE}`"
        )),
    }
    match kept {
        Some(kept) => output.talk(format_args!(
            "Older backups need the old key, stored as `{}`; delete it when they are no longer needed",
            visible(&kept.display().to_string())
        )),
        None => output.talk("Older backups need the old key; keep its value as long as they are needed"),
    }
    Ok(Exit::Done)
}
