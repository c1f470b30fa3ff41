//! `toolroom secrets`: what is kept for tools and hidden from everybody.

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
use crate::vault::{Kept, KeyChange, SeenSecret, VaultError};
use value::{Given, check_name, on_the_command_line};

const EXAMPLES: &str = "\
Examples:
  toolroom secrets set GITHUB_TOKEN                  asks for the value and does not show it
  pass github | toolroom secrets set GITHUB_TOKEN    takes it from another program
  toolroom secrets rotate                            seals everything with a new master key";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SecretsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List secrets, never their values
    List,
    /// Keep a secret; its value is typed unseen or read from stdin
    Set {
        /// Its name: letters, digits, `_`, `-` and `.`
        name: String,
        #[command(flatten)]
        mistake: Mistake,
    },
    /// Forget a secret
    #[command(visible_alias = "rm")]
    Remove {
        /// Its name
        name: String,
    },
    /// Give a secret a new value, or everything a new master key (the old one is kept for older backups)
    Rotate {
        /// Its name; without one the master key is changed, and the old one kept beside it
        name: Option<String>,
        #[command(flatten)]
        mistake: Mistake,
    },
}

/// A value where none belongs. It is read to be refused in words of our own: clap's would repeat it.
#[derive(Args)]
struct Mistake {
    #[arg(hide = true, allow_hyphen_values = true)]
    value: Vec<std::ffi::OsString>,
}

impl Mistake {
    fn refuse(self) -> anyhow::Result<()> {
        if self.value.is_empty() { Ok(()) } else { Err(on_the_command_line().into()) }
    }
}

pub(super) async fn run(app: &App, scope: Scope, args: SecretsArgs, output: &Output) -> anyhow::Result<Exit> {
    match args.action {
        None | Some(Action::List) => list(app, &scope, *output).await,
        Some(Action::Set { name, mistake }) => {
            mistake.refuse()?;
            check_name(&name)?;
            set(app, &scope, &name, *output).await
        }
        Some(Action::Remove { name }) => remove(app, &scope, &name, *output).await,
        Some(Action::Rotate { name: Some(name), mistake }) => {
            mistake.refuse()?;
            known(app, &scope, &name).await?;
            set(app, &scope, &name, *output).await
        }
        Some(Action::Rotate { name: None, .. }) => rotate_key(app, *output).await,
    }
}

/// Fails unless there is a secret of this name.
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
    Err(Missing(format!("there is no secret `{}`; {hint}", visible(name))).into())
}

/// What `--json` prints of a secret.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    created_at: Timestamp,
    changed_at: Timestamp,
    opens: bool,
    /// Unknown of one that cannot be opened.
    hidden_exactly: Option<bool>,
    /// Why it can be found by trying.
    #[serde(skip)]
    guessable: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl<'a> Listed<'a> {
    fn of(seen: &'a SeenSecret) -> Self {
        let SeenSecret { name, created_at, changed_at, opened } = seen;
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

/// An error with everything behind it.
fn whole_text(error: &VaultError) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

async fn list(app: &App, scope: &Scope, output: Output) -> anyhow::Result<Exit> {
    let seen = match app.vault.seen(&scope.project).await {
        Ok(seen) => seen,
        // Names are not sealed: they are told even if the key file itself cannot be read.
        Err(error) => return list_names(app, scope, &whole_text(&error), output).await,
    };
    let listed: Vec<Listed<'_>> = seen.iter().map(Listed::of).collect();
    show(&listed, output)?;
    let change = app.vault.ring().ok().flatten().and_then(|ring| ring.rotation());
    if change.is_some() && !output.is_json() {
        output.hint(
            "a change of the master key was begun and not finished; `toolroom secrets rotate` finishes it",
        );
    }
    Ok(Exit::Done)
}

async fn list_names(app: &App, scope: &Scope, problem: &str, output: Output) -> anyhow::Result<Exit> {
    let stored = app.store.secrets(&scope.project).await?;
    let unopened = stored.iter().map(|secret| Listed {
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

fn show(listed: &[Listed<'_>], output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(&listed);
    }
    if listed.is_empty() {
        output.talk("no secret is kept yet; keep one with `toolroom secrets set NAME`");
        return Ok(());
    }
    let zone = environment::time_zone();
    let line = |secret: &Listed<'_>| {
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
    // One lost key has one cause, however many secrets it takes along.
    let mut told = Vec::new();
    for problem in listed.iter().filter_map(|secret| secret.problem.as_ref()) {
        if !told.contains(&problem) {
            output.error(problem);
            told.push(problem);
        }
    }
    Ok(())
}

async fn set(app: &App, scope: &Scope, name: &str, output: Output) -> anyhow::Result<Exit> {
    let value = match value::read(name, output).await? {
        Given::Value(value) => value,
        Given::Interrupted => return Ok(Exit::Interrupted),
    };
    let Kept { replaced, new_key } = app.vault.set_secret(&scope.project, name, &value).await?;
    let secret = Secret::new(name, value.as_str());
    let hidden = !secret.is_too_short();
    if output.is_json() {
        let document = serde_json::json!({
            "name": name, "replaced": replaced, "hidden_exactly": hidden, "new_key": new_key,
        });
        output.document(&document)?;
    } else {
        match replaced {
            true => output.talk(format_args!("`{name}` has a new value; the old one is gone")),
            false => output.talk(format_args!("`{name}` is kept")),
        }
    }
    if let Some(warning) = warning(&secret) {
        output.hint(&warning);
    }
    if let Some(path) = new_key {
        output.hint(&format!(
            "a master key was made: `{}`. It opens every secret; without it a backup of the database is worthless, \
             so keep a copy of that file in another place",
            path.display()
        ));
    }
    Ok(Exit::Done)
}

/// What cannot be hidden of a value, and why.
fn warning(secret: &Secret) -> Option<String> {
    let few = secret.weakness();
    if secret.is_too_short() {
        let guess = few.map(|why| format!(", and it is easy to guess ({why})")).unwrap_or_default();
        return Some(format!(
            "a value of fewer than {MIN_EXACT_CHARS} characters cannot be hidden exactly: it would be found in \
             ordinary words, so results, messages and the journal show it{guess}; use a longer one"
        ));
    }
    few.map(|why| {
        format!(
            "`{}` is hidden where its value stands, but the value is easy to guess ({why}): a model or a caller can try \
             values until one is hidden, and a hash or a part of it tells the rest; use a long random one if you can \
             choose it",
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
        false => output.talk(format_args!("`{}` is removed", visible(name))),
    }
    Ok(Exit::Done)
}

/// The file or the variable that holds the key.
fn key_place(home: &KeyHome) -> String {
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
                "key": key_place(&change.home), "kept": change.kept, "sealed_anew": change.resealed,
            }),
            None => serde_json::json!({"changed": false}),
        };
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let Some(KeyChange { from, to, home, kept, resealed, was_begun }) = change else {
        output.talk("there is no master key yet: the first secret makes one");
        return Ok(Exit::Done);
    };
    let done = if was_begun { "finished a change that was begun before" } else { "changed the master key" };
    output.talk(format_args!("{done}: {from} is now {to}; sealed anew: {resealed}"));
    match home {
        KeyHome::File(path) => {
            output.talk(format_args!("keep a copy of `{}` in another place", visible(&path.display().to_string())));
        }
        KeyHome::Environment => output.talk(format_args!(
            "from now on give the value of `{NEW_KEY_VARIABLE}` to `{KEY_VARIABLE}`, and unset `{NEW_KEY_VARIABLE}`"
        )),
    }
    match kept {
        Some(kept) => output.talk(format_args!(
            "backups made before need the old key, which is now `{}`; delete it once none of them is needed",
            visible(&kept.display().to_string())
        )),
        None => output
            .talk("backups made before need the old key; keep its value as long as one of them is needed"),
    }
    Ok(Exit::Done)
}
