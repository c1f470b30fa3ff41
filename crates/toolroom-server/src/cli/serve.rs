//! `toolroom serve`: the same tools, agents and guards over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;
use toolroom::redact::Secret;
use toolroom_host::interrupt::Interrupts;
use toolroom_host::listen::Listener;

use super::exit::{Exit, Refused};
use super::output::Output;
use super::{Register, close, screen};
use crate::app::{App, Stay};
use crate::config::{LogFormat, LogKeys};
use crate::http::{Server, ServerSettings};
use crate::identity::{holds, projects};
use crate::models::keys_of_variables;
use crate::telemetry::{Collector, Log, Tracer};

/// Between two looks whether there are other secrets to hide.
const LOOK_EVERY: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Where to listen; `server.listen` of the configuration when left out
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Another database than the one in the data folder
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// How lines of the log are written; `log.format` of the configuration when left out
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl ServeArgs {
    /// Tells what happens before the configuration is known as it is told by default.
    pub(super) fn start_log(&self) {
        let started = Log::start(self.log_keys(LogKeys::default()), screen::logged);
        if started.is_err() {
            screen::tell_warnings();
        }
    }

    fn log_keys(&self, keys: LogKeys) -> LogKeys {
        LogKeys { format: self.log_format.unwrap_or(keys.format), ..keys }
    }
}

pub(super) async fn run(
    settings: &[String],
    args: ServeArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    if let Some(url) = &args.database {
        bail!(
            "`{url}` cannot be used: this version keeps everything in SQLite in the data folder, and PostgreSQL comes \
             later; leave `--database` out"
        );
    }
    let app = super::open(settings, Stay::Long, *output, register).await?;
    Log::change(args.log_keys(app.config.config.log));
    let keys = app.config.config.server.clone();
    let wanted = args.listen.unwrap_or(keys.listen.0);
    if !wanted.ip().is_loopback() && !has_key(&app).await? {
        close(app).await;
        let text = format!(
            "others than this machine would come in at {wanted}, and there is no key to tell them apart; make one with \
             `toolroom keys create --name NAME`, or listen at 127.0.0.1"
        );
        return Err(Refused(text).into());
    }
    let listener = Listener::bind(wanted)
        .await
        .with_context(|| format!("cannot listen at {wanted}; is another `toolroom serve` running?"))?;
    let address = listener.address();
    let ending = CancellationToken::new();
    let told = ending.clone();
    let interrupts = Interrupts::watch(move || told.cancel())?;
    let collector = Collector::find(&app.config.config, &app.vault).await?;
    let mut also: Vec<Secret> = collector.iter().flat_map(Collector::secrets).collect();
    also.extend(keys_of_variables(&app.config.config));
    let mut hidden = hide_secrets(&app, &also, None).await;
    let figures = Arc::clone(&app.figures);
    let tracing = collector.map(|collector| Tracer::start(collector, figures, screen::logged));
    let tracer = tracing.as_ref().map(|(tracer, _)| Arc::clone(tracer));
    let server = Server::new(app, &ServerSettings { address, keys, tracer }, ending.clone());
    let app = Arc::clone(server.app());
    tokio::spawn(ending.run_until_cancelled_owned(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            hidden = hide_secrets(&app, &also, hidden).await;
        }
    }));
    let link = server.doorkeeper.sign_in_link().await?;
    let url = format!("http://{address}");
    if output.is_json() {
        output.line_of_json(&serde_json::json!({"url": url, "sign_in": format!("{url}/sign-in/{link}")}))?;
    } else {
        output.data(&format!("Toolroom listens at {url}\nsign in once: {url}/sign-in/{link}"))?;
        output.talk("\nthings to try:");
        output.talk("  toolroom keys create --name first        # a key for programs");
        output.talk(format_args!("  curl -H \"Authorization: Bearer $KEY\" {url}/v1/tools"));
        output.talk(format_args!(
            "  curl -H \"Authorization: Bearer $KEY\" --json '{{\"tool\":\"calculator\",\"arguments\":{{\"expression\":\"17*23\"}}}}' {url}/v1/calls"
        ));
    }
    server.serve(listener).await?;
    drop(interrupts);
    server.close().await;
    if let Some((tracer, task)) = tracing {
        tracer.finish(task).await;
    }
    Ok(Exit::Done)
}

/// Whether somebody could show a key that holds.
async fn has_key(app: &App) -> anyhow::Result<bool> {
    let now = app.room.clock().now();
    Ok(app.store.all_keys().await?.iter().any(|key| holds(key, now)))
}

/// Keeps the secrets of all projects, and `also` these, out of the log, unless they are still the ones of `known`. Says
/// which they are.
async fn hide_secrets(app: &App, also: &[Secret], known: Option<i64>) -> Option<i64> {
    match secrets(app, known).await {
        Ok(Some((revision, mut secrets))) => {
            secrets.extend_from_slice(also);
            screen::hide(secrets);
            Some(revision)
        }
        Ok(None) => known,
        Err(error) => {
            tracing::warn!("secrets cannot be opened, so new ones are not hidden: {error:#}");
            known
        }
    }
}

/// All secrets there are, unless they are still the ones of `known`.
async fn secrets(app: &App, known: Option<i64>) -> anyhow::Result<Option<(i64, Vec<Secret>)>> {
    let revision = app.room.switchboard().standing(&super::owner().project).await?.revision;
    if known == Some(revision) {
        return Ok(None);
    }
    let mut secrets = Vec::new();
    for project in projects(&app.store).await? {
        secrets.extend(app.vault.secrets(&project.id).await?);
    }
    Ok(Some((revision, secrets)))
}
