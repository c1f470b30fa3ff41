//! `toolroom serve`: the same tools, agents and guards over HTTP.

mod reload;

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use toolroom::redact::Secret;
use toolroom_host::descriptors::allow_open_files;
use toolroom_host::interrupt::Interrupts;
use toolroom_host::listen::Listener;
use toolroom_host::service_manager::{self, ServiceState};

use super::console::exit::{Exit, Refused};
use super::console::output::Output;
use super::console::redaction;
use super::{Register, close};
use crate::app::{App, Stay};
use crate::config::{LogFormat, LogKeys, RetentionKeys};
use crate::http::{ConnectionRuntime, Server, ServerSettings};
use crate::identity::{holds, projects};
use crate::mcp::fixtures::{Fixtures, with_fixtures};
use crate::retention::{self, Deleted, Mode};
use crate::telemetry::{Collector, Log, Tracer};
use reload::reload;

/// Between two looks whether there are other secrets to hide.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Between two looks for what is too old to be kept.
const DELETE_EVERY: Duration = Duration::from_secs(24 * 3_600);

/// Every connection is an open file, and so is what is done for it.
const OPEN_FILES: u64 = 65_536;

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Where to listen; `server.listen` of the configuration when left out
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Another database than the one in the data folder
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// How lines of the log are written; `log.format` of the configuration when left out
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Also what the official suites of MCP look for
    #[arg(long, hide = true)]
    fixtures: bool,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "it is no address and port; write them as 127.0.0.1:7300 or [::1]:7300")
}

impl ServeArgs {
    /// Tells what happens before the configuration is known as it is told by default.
    pub(super) fn start_log(&self) {
        let started = Log::start(self.log_keys(LogKeys::default()), redaction::logged);
        if started.is_err() {
            redaction::tell_warnings();
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
    if args.database.is_some() {
        // The address of a database may hold its password, so it is not repeated.
        bail!(
            "no other database can be used: this version keeps everything in SQLite in the data folder, and PostgreSQL \
             comes later; leave `--database` out"
        );
    }
    if let Err(error) = allow_open_files(OPEN_FILES) {
        tracing::warn!("this process may not have more files open than before: {error}");
    }
    let connections = ConnectionRuntime::start()?;
    let fixtures = args.fixtures.then(Arc::<Fixtures>::default);
    let register = with_fixtures(register, fixtures.as_ref());
    let app = super::open(settings, Stay::Long, *output, &register).await?;
    Log::change(args.log_keys(app.config.config.log));
    let keys = app.config.config.server.clone();
    let wanted = args.listen.unwrap_or(keys.listen.0);
    if !wanted.ip().is_loopback() && !has_key(&app).await? {
        close(&app).await;
        let text = format!(
            "others than this machine would come in at {wanted}, and there is no key to tell them apart; make one with \
             `toolroom keys create --name NAME`, or listen at 127.0.0.1"
        );
        return Err(Refused(text).into());
    }
    let listener = match connections.run(Listener::bind(wanted)).await.flatten() {
        Ok(listener) => listener,
        Err(error) => {
            close(&app).await;
            let text = format!(
                "cannot listen at {wanted}; end what listens there, such as another `toolroom serve`, or name another \
                 address with `--listen`"
            );
            return Err(anyhow::Error::from(error).context(text));
        }
    };
    let address = listener.address();
    let ending = CancellationToken::new();
    let reloads = Arc::new(Notify::new());
    let interrupts = listen_to_signals(&ending, &reloads)?;
    let collector = Collector::find(&app.config.config, &app.vault).await?;
    let also: Vec<Secret> = collector.iter().flat_map(Collector::secrets).collect();
    let mut hiding = Hiding { also, revision: None, is_blind: false };
    hiding.look(&app).await;
    let figures = Arc::clone(&app.figures);
    let tracing = collector.map(|collector| Tracer::start(collector, figures, redaction::logged));
    let tracer = tracing.as_ref().map(|(tracer, _)| Arc::clone(tracer));
    let server = Server::new(app, &ServerSettings { address, keys, tracer, fixtures }, ending.clone());
    let app = Arc::clone(server.app());
    tokio::spawn(ending.clone().run_until_cancelled_owned(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            hiding.look(&app).await;
        }
    }));
    let (retention, kept) = watch::channel(server.app().config.config.retention);
    tokio::spawn(ending.clone().run_until_cancelled_owned({
        let (server, flags) = (Arc::clone(&server), settings.to_vec());
        let mut running = server.app().config.effective();
        async move {
            loop {
                reloads.notified().await;
                reload(&server, &mut running, &flags, &retention, |keys| args.log_keys(keys)).await;
            }
        }
    }));
    tokio::spawn(ending.clone().run_until_cancelled_owned(keep_for_a_while(Arc::clone(server.app()), kept)));
    let link = server.authenticator.sign_in_link().await?;
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
    tell_manager(ServiceState::Ready);
    tokio::spawn(async move {
        ending.cancelled().await;
        tell_manager(ServiceState::Stopping);
    });
    server.serve(listener, &connections).await?;
    drop(interrupts);
    close(server.app()).await;
    if let Some((tracer, task)) = tracing {
        tracer.finish(task).await;
    }
    Ok(Exit::Done)
}

/// Deletes what is older than the configuration says: at the start, once a day, and when it says something else.
async fn keep_for_a_while(app: Arc<App>, mut kept: watch::Receiver<RetentionKeys>) {
    loop {
        let keys = *kept.borrow_and_update();
        if keys != RetentionKeys::default() {
            delete(&app, keys).await;
        }
        tokio::select! {
            () = tokio::time::sleep(DELETE_EVERY) => {}
            changed = kept.changed() => if changed.is_err() { return },
        }
    }
}

async fn delete(app: &App, keys: RetentionKeys) {
    match retention::apply(app, keys, Mode::Do).await {
        Ok(deleted) => {
            for Deleted { project, calls, artifacts, conversations, bytes } in
                deleted.into_iter().filter(|deleted| !deleted.is_nothing())
            {
                tracing::info!(%project, calls, artifacts, conversations, bytes, "what was too old is deleted");
            }
        }
        Err(error) => tracing::warn!("what is too old is deleted later: {error}"),
    }
}

/// What ends the server, and what makes it read its configuration again.
fn listen_to_signals(ending: &CancellationToken, reloads: &Arc<Notify>) -> std::io::Result<Interrupts> {
    let (told, gone, reloads) = (ending.clone(), ending.clone(), Arc::clone(reloads));
    let had_terminal = std::io::stdin().is_terminal();
    let hang_up = move || match had_terminal && !std::io::stdin().is_terminal() {
        // Its terminal was closed: nobody would find it again.
        true => gone.cancel(),
        false => reloads.notify_one(),
    };
    Interrupts::watch_service(move || told.cancel(), hang_up)
}

/// Tells whoever started us, if they want to know.
fn tell_manager(condition: ServiceState) {
    if let Err(error) = service_manager::tell(condition) {
        tracing::warn!("the service manager cannot be told how we are: {error}");
    }
}

/// Whether somebody could show a key that holds.
async fn has_key(app: &App) -> anyhow::Result<bool> {
    let now = app.room.clock().now();
    Ok(app.store.all_keys().await?.iter().any(|key| holds(key, now)))
}

/// Keeps secrets out of the log: those of all projects, also when they are set while the server runs, and some more.
struct Hiding {
    also: Vec<Secret>,
    /// Which ones are hidden.
    revision: Option<i64>,
    /// They could not be read the last time, which has been told.
    is_blind: bool,
}

impl Hiding {
    async fn look(&mut self, app: &App) {
        match secrets(app, self.revision).await {
            Ok(Some((revision, mut secrets))) => {
                secrets.extend_from_slice(&self.also);
                redaction::hide(secrets);
                self.revision = Some(revision);
                self.is_blind = false;
            }
            Ok(None) => self.is_blind = false,
            Err(error) if !self.is_blind => {
                tracing::warn!("secrets cannot be opened, so new ones are not hidden: {error:#}");
                self.is_blind = true;
            }
            Err(_) => {}
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
        secrets.extend(app.vault.hidden(&project.id).await?);
    }
    Ok(Some((revision, secrets)))
}
