//! `toolroom self-check`: tests the installed binary in a temporary folder. Touches no other data.

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
use crate::app::{App, ProcessLifetime};
use crate::config::ConfigError;

/// The test call and its result.
const SUM: (&str, i64) = ("17*23", 391);

/// Length of the longest name.
const NAME_CHARS: usize = 10;

const EXAMPLES: &str = "\
Runs in a temporary folder and does not look at your own data; for that, use `toolroom doctor`.

Examples:
  toolroom self-check
  toolroom self-check --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SelfCheckArgs {}

#[derive(Debug, Serialize)]
struct SelfCheckResult {
    name: &'static str,
    status: CheckStatus,
    details: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    Ok,
    /// Works with limitations.
    Warning,
    Failed,
}

impl SelfCheckResult {
    fn new(name: &'static str, result: anyhow::Result<String>) -> Self {
        match result {
            Ok(details) => Self { name, status: CheckStatus::Ok, details },
            Err(error) => Self { name, status: CheckStatus::Failed, details: format!("{error:#}") },
        }
    }
}

pub(super) async fn run(_args: &SelfCheckArgs, output: &Output, register: &Register) -> anyhow::Result<Exit> {
    let mut checks = vec![
        SelfCheckResult::new("program", Ok(program())),
        SelfCheckResult::new("migrations", migrations()),
    ];
    checks.extend(room(register).await);
    checks.push(sandbox().await);
    let is_good = checks.iter().all(|check| check.status != CheckStatus::Failed);
    if output.is_json() {
        output.document(&serde_json::json!({"good": is_good, "checks": checks}))?;
    } else {
        for check in &checks {
            let (style, word) = match check.status {
                CheckStatus::Ok => (GREEN, "ok     "),
                CheckStatus::Warning => (YELLOW, "warning"),
                CheckStatus::Failed => (RED, "failed "),
            };
            // Configuration errors span several lines.
            let below = format!("\n{:1$}", "", NAME_CHARS + "failed   ".len());
            let (name, details) = (check.name, visible(&check.details).replace('\n', &below));
            output.data(&format!("{style}{word}{style:#} {name:<NAME_CHARS$} {details}"))?;
        }
        output.talk(if is_good { "This installation works" } else { "This installation does not work" });
    }
    Ok(if is_good { Exit::Done } else { Exit::Failed })
}

fn program() -> String {
    let BuildInfo { version, target, profile, .. } = BuildInfo::current();
    format!("toolroom {version} for {target} ({profile})")
}

/// Checks that there is a migration to every schema.
fn migrations() -> anyhow::Result<String> {
    for (schema, step) in (1..).zip(migration_steps()) {
        anyhow::ensure!(step.schema == schema, "the migration to schema {schema} is missing");
    }
    let newest = newest_schema();
    anyhow::ensure!(newest > 0, "there are no migrations");
    Ok(format!("can open databases of schema 1 to {newest}"))
}

/// Creates a toolroom in a temporary folder and makes a call in it.
async fn room(register: &Register) -> Vec<SelfCheckResult> {
    let opened = async {
        let folder = WorkFolder::temporary().with_context(no_temporary_folder)?;
        let data = folder.path().join("data");
        let folders = Folders { config: data.clone(), data };
        let app =
            App::open_in(folders, &[], ProcessLifetime::OneCommand, |catalog| register(catalog)).await?;
        anyhow::Ok((folder, app))
    };
    let (folder, app) = match opened.await {
        Ok(opened) => opened,
        // A project file or environment variable is wrong; the binary itself may be fine.
        Err(error) if error.is::<ConfigError>() => {
            let error = error.context("run `toolroom config check`, or try again in another folder");
            return vec![SelfCheckResult::new("settings", Err(error))];
        }
        Err(error) => return vec![SelfCheckResult::new("storage", Err(error))],
    };
    let schema = app.store.status().await;
    let schema = schema.map(|status| format!("created a database with schema {}", status.schema));
    let mut checks = vec![
        SelfCheckResult::new("storage", schema.map_err(Into::into)),
        SelfCheckResult::new("call", call(&app).await),
    ];
    if let Err(error) = app.close().await {
        checks.push(SelfCheckResult::new("closing", Err(error)));
    }
    drop((app, folder));
    checks
}

fn no_temporary_folder() -> String {
    let folder = environment::path_variable("TMPDIR").unwrap_or_else(|| "/tmp".into());
    format!(
        "cannot create a temporary folder in `{}`; set `TMPDIR` to an existing folder that you can write to",
        folder.display()
    )
}

/// Makes a call and looks it up in the log.
async fn call(app: &App) -> anyhow::Result<String> {
    let (sum, result) = SUM;
    let report = app.room.call(CallRequest::new("calculator").argument("expression", sum)).await;
    let seen = report.for_client();
    let value = seen.result.unwrap_or_default();
    anyhow::ensure!(seen.success, "`calculator` failed: {}", seen.message.unwrap_or_default());
    anyhow::ensure!(contains_number(&value, result), "`calculator` returned {value} for {sum}");
    let record = app.store.call(&Scope::default(), &report.call_id).await?;
    let is_kept = record.is_some_and(|record| record.status == CallStatus::Done);
    anyhow::ensure!(is_kept, "the call is not in the log");
    Ok(format!("calculator {sum} = {result}, recorded in the log"))
}

/// Whether the JSON value contains the number.
fn contains_number(value: &Value, number: i64) -> bool {
    match value {
        Value::Number(found) => found.as_i64() == Some(number) || found.to_string() == number.to_string(),
        Value::String(text) => *text == number.to_string(),
        Value::Array(values) => values.iter().any(|value| contains_number(value, number)),
        Value::Object(fields) => fields.values().any(|value| contains_number(value, number)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// The sandbox level. Without a sandbox everything but starting programs works.
async fn sandbox() -> SelfCheckResult {
    let supervisor = Supervisor::new(environment::own_program());
    let (status, details) = match Sandbox::find(&supervisor, SandboxRequest { level: None, user: None }).await
    {
        Err(error) => (CheckStatus::Warning, format!("{error}; tools that start programs will fail")),
        Ok(sandbox) => match sandbox.shortfall() {
            None => (CheckStatus::Ok, format!("programs run in a sandbox ({})", sandbox.level().name())),
            Some(why) => (
                CheckStatus::Warning,
                format!("programs run in a weaker sandbox ({}): {why}", sandbox.level().name()),
            ),
        },
    };
    SelfCheckResult { name: "sandbox", status, details }
}
