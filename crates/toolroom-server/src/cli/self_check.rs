//! `toolroom self-check`: whether the program that was installed works, in a folder of its own. Touches nothing else.

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use toolroom::call::CallRequest;
use toolroom::ledger::{CallStatus, Journal};
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{Sandbox, SandboxRequest};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{migration_steps, newest_schema};

use super::Register;
use super::console::exit::Exit;
use super::console::output::{GREEN, Output, RED, YELLOW, visible};
use super::version::BuildInfo;
use crate::app::{App, Stay};
use crate::config::ConfigError;

/// A sum and what it comes to.
const SUM: (&str, i64) = ("17*23", 391);

/// As wide as the longest name.
const NAME_CHARS: usize = 10;

const EXAMPLES: &str = "\
It works in a new folder that is removed again, so it says nothing about your own data: that is `toolroom doctor`.

Examples:
  toolroom self-check
  toolroom self-check --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SelfCheckArgs {}

/// What was tried, and what came of it.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    details: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    /// It works, but not as well as it could.
    Warning,
    Failed,
}

impl Check {
    fn of(name: &'static str, result: anyhow::Result<String>) -> Self {
        match result {
            Ok(details) => Self { name, status: Status::Ok, details },
            Err(error) => Self { name, status: Status::Failed, details: format!("{error:#}") },
        }
    }
}

pub(super) async fn run(_args: &SelfCheckArgs, output: &Output, register: &Register) -> anyhow::Result<Exit> {
    let mut checks = vec![Check::of("program", Ok(program())), Check::of("migrations", migrations())];
    checks.extend(room(register).await);
    checks.push(sandbox().await);
    let is_good = checks.iter().all(|check| check.status != Status::Failed);
    if output.is_json() {
        output.document(&serde_json::json!({"good": is_good, "checks": checks}))?;
    } else {
        for check in &checks {
            let (style, word) = match check.status {
                Status::Ok => (GREEN, "ok     "),
                Status::Warning => (YELLOW, "warning"),
                Status::Failed => (RED, "failed "),
            };
            // What is wrong with a file comes with its lines.
            let below = format!("\n{:1$}", "", NAME_CHARS + "failed   ".len());
            let (name, details) = (check.name, visible(&check.details).replace('\n', &below));
            output.data(&format!("{style}{word}{style:#} {name:<NAME_CHARS$} {details}"))?;
        }
        output.talk(if is_good { "this Toolroom works" } else { "this Toolroom does not work here" });
    }
    Ok(if is_good { Exit::Done } else { Exit::Failed })
}

fn program() -> String {
    let BuildInfo { version, target, profile, .. } = BuildInfo::of_this_program();
    format!("toolroom {version} for {target} ({profile})")
}

/// Whether each schema is reached from the one before.
fn migrations() -> anyhow::Result<String> {
    for (place, step) in (1..).zip(migration_steps()) {
        anyhow::ensure!(step.schema == place, "the way to schema {place} is missing");
    }
    let newest = newest_schema();
    anyhow::ensure!(newest > 0, "no schema is known");
    Ok(format!("databases of schema 1 to {newest} can be opened"))
}

/// A new toolroom, and a call in it.
async fn room(register: &Register) -> Vec<Check> {
    let opened = async {
        let folder = WorkFolder::temporary().with_context(no_temporary)?;
        let place = folder.path().join("data");
        let folders = Folders { config: place.clone(), data: place };
        let app = App::open_in(folders, &[], Stay::Short, |catalog| register(catalog)).await?;
        anyhow::Ok((folder, app))
    };
    let (folder, app) = match opened.await {
        Ok(opened) => opened,
        // A file of the folder it was started in counts, and so do variables: the program itself may be fine.
        Err(error) if error.is::<ConfigError>() => {
            let told =
                error.context("look at it with `toolroom config check`, or try again in another folder");
            return vec![Check::of("settings", Err(told))];
        }
        Err(error) => return vec![Check::of("storage", Err(error))],
    };
    let schema = app.store.status().await;
    let schema = schema.map(|status| format!("a new database has schema {}", status.schema));
    let mut checks =
        vec![Check::of("storage", schema.map_err(Into::into)), Check::of("call", call(&app).await)];
    if let Err(error) = app.close().await {
        checks.push(Check::of("closing", Err(error)));
    }
    drop((app, folder));
    checks
}

/// What keeps it from having a folder, and what to do.
fn no_temporary() -> String {
    let folder = environment::path_variable("TMPDIR").unwrap_or_else(|| "/tmp".into());
    format!(
        "there can be no folder in `{}`, where temporary files belong; set `TMPDIR` to a folder that is there and that you \
         may write to",
        folder.display()
    )
}

/// A call that ends well, and is in the journal.
async fn call(app: &App) -> anyhow::Result<String> {
    let (sum, result) = SUM;
    let report = app.room.call(CallRequest::new("calculator").argument("expression", sum)).await;
    let seen = report.for_client();
    let value = seen.result.unwrap_or_default();
    anyhow::ensure!(seen.success, "`calculator` did not work: {}", seen.message.unwrap_or_default());
    anyhow::ensure!(holds(&value, result), "`calculator` says that {sum} is {value}");
    let record = app.store.call(&Scope::default(), &report.call_id).await?;
    let is_kept = record.is_some_and(|record| record.status == CallStatus::Done);
    anyhow::ensure!(is_kept, "the call is not in the journal");
    Ok(format!("calculator {sum} = {result}, and the journal says so"))
}

/// Whether a number is somewhere in it.
fn holds(value: &Value, number: i64) -> bool {
    match value {
        Value::Number(found) => found.as_i64() == Some(number) || found.to_string() == number.to_string(),
        Value::String(text) => *text == number.to_string(),
        Value::Array(values) => values.iter().any(|value| holds(value, number)),
        Value::Object(fields) => fields.values().any(|value| holds(value, number)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// How well programs are confined. A machine without any way to do that can still be used for everything else.
async fn sandbox() -> Check {
    let supervisor = Supervisor::new(environment::own_program());
    let (status, details) = match Sandbox::find(&supervisor, SandboxRequest { level: None, user: None }).await
    {
        Err(error) => (Status::Warning, format!("{error}; tools that start programs will refuse to")),
        Ok(sandbox) => match sandbox.shortfall() {
            None => (Status::Ok, format!("programs are confined by {}", sandbox.level().name())),
            Some(why) => {
                (Status::Warning, format!("programs are confined by {} alone: {why}", sandbox.level().name()))
            }
        },
    };
    Check { name: "sandbox", status, details }
}
