//! `toolroom serve`: serves tools and agents over HTTP.

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
use crate::app::{App, ProcessLifetime};
use crate::config::{LogFormat, LogKeys, RetentionKeys};
use crate::http::{ConnectionRuntime, Server, ServerSettings};
use crate::identity::{holds, projects};
use crate::mcp::fixtures::{Fixtures, with_fixtures};
use crate::retention::{self, PruneMode, PrunedProject};
use crate::telemetry::{Collector, Log, Tracer};
use reload::reload;

/// Interval of checks for changed secrets.
const SECRETS_INTERVAL: Duration = Duration::from_secs(1);

/// Interval of retention.
const RETENTION_INTERVAL: Duration = Duration::from_secs(24 * 3_600);

/// Limit of open files: connections and what requests open.
const OPEN_FILES: u64 = 65_536;

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Address to listen on [default: `server.listen` of the configuration]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Database to use instead of the one in the data folder
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Log format [default: `log.format` of the configuration]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Adds the tools, prompts and resources of the official MCP test suites
    #[arg(long, hide = true)]
    fixtures: bool,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an address and port such as 127.0.0.1:7300 or [::1]:7300")
}

impl ServeArgs {
    /// Starts logging with defaults, before the configuration is read.
    pub(super) fn start_log(&self) {
        let started = Log::start(self.log_keys(LogKeys::default()), redaction::logged);
        if started.is_err() {
            redaction::log_warnings();
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
        // A database URL may contain a password, so it is not printed.
        bail!(
            "`--database` is not supported yet: this version stores everything in SQLite in the data folder; leave out \
             `--database`"
        );
    }
    if let Err(error) = allow_open_files(OPEN_FILES) {
        tracing::warn!("cannot raise the limit of open files: {error}");
    }
    let connections = ConnectionRuntime::start()?;
    let fixtures = args.fixtures.then(Arc::<Fixtures>::default);
    let register = with_fixtures(register, fixtures.as_ref());
    let app = super::open(settings, ProcessLifetime::LongRunning, *output, &register).await?;
    Log::change(args.log_keys(app.config.config.log));
    let keys = app.config.config.server.clone();
    let listen_address = args.listen.unwrap_or(keys.listen.0);
    if !listen_address.ip().is_loopback() && !has_key(&app).await? {
        close(&app).await;
        let text = format!(
            "{listen_address} is reachable from other machines, and there is no API key; create one with \
             `toolroom keys create --name NAME`, or listen on 127.0.0.1"
        );
        return Err(Refused(text).into());
    }
    let listener = match connections.run(Listener::bind(listen_address)).await.flatten() {
        Ok(listener) => listener,
        Err(error) => {
            close(&app).await;
            let text = format!(
                "cannot listen on {listen_address}; stop the program that uses it, such as another `toolroom serve`, or choose \
                 another address with `--listen`"
            );
            return Err(anyhow::Error::from(error).context(text));
        }
    };
    let address = listener.address();
    let ending = CancellationToken::new();
    let reloads = Arc::new(Notify::new());
    let interrupts = listen_to_signals(&ending, &reloads)?;
    let collector = Collector::find(&app.config.config, &app.vault).await?;
    let extra: Vec<Secret> = collector.iter().flat_map(Collector::secrets).collect();
    let mut refresher = SecretRefresher { extra, revision: None, has_failed: false };
    refresher.refresh(&app).await;
    let metrics = Arc::clone(&app.metrics);
    let tracing = collector.map(|collector| Tracer::start(collector, metrics, redaction::logged));
    let tracer = tracing.as_ref().map(|(tracer, _)| Arc::clone(tracer));
    let server = Server::new(app, &ServerSettings { address, keys, tracer, fixtures }, ending.clone());
    let app = Arc::clone(server.app());
    tokio::spawn(ending.clone().run_until_cancelled_owned(async move {
        loop {
            tokio::time::sleep(SECRETS_INTERVAL).await;
            refresher.refresh(&app).await;
        }
    }));
    let (retention, retention_changes) = watch::channel(server.app().config.config.retention);
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
    tokio::spawn(
        ending
            .clone()
            .run_until_cancelled_owned(apply_retention(Arc::clone(server.app()), retention_changes)),
    );
    let link = server.authenticator.sign_in_link().await?;
    let url = format!("http://{address}");
    if output.is_json() {
        output.line_of_json(&serde_json::json!({"url": url, "sign_in": format!("{url}/sign-in/{link}")}))?;
    } else {
        output.data(&format!("Toolroom is listening on {url}\nSign in once: {url}/sign-in/{link}"))?;
        output.talk("\nTry:");
        output.talk("  toolroom keys create --name first        # create an API key");
        output.talk(format_args!("  curl -H \"Authorization: Bearer $KEY\" {url}/v1/tools"));
        output.talk(format_args!(
            "  curl -H \"Authorization: Bearer $KEY\" --json '{{\"tool\":\"calculator\",\"arguments\":{{\"expression\":\"17*23\"}}}}' {url}/v1/calls"
        ));
    }
    notify_service_manager(ServiceState::Ready);
    tokio::spawn(async move {
        ending.cancelled().await;
        notify_service_manager(ServiceState::Stopping);
    });
    server.serve(listener, &connections).await?;
    drop(interrupts);
    close(server.app()).await;
    if let Some((tracer, task)) = tracing {
        tracer.finish(task).await;
    }
    Ok(Exit::Done)
}

/// Applies retention at startup, once a day, and when its configuration changes.
async fn apply_retention(app: Arc<App>, mut retention_changes: watch::Receiver<RetentionKeys>) {
    loop {
        let keys = *retention_changes.borrow_and_update();
        if keys != RetentionKeys::default() {
            delete(&app, keys).await;
        }
        tokio::select! {
            () = tokio::time::sleep(RETENTION_INTERVAL) => {}
            changed = retention_changes.changed() => if changed.is_err() { return },
        }
    }
}

async fn delete(app: &App, keys: RetentionKeys) {
    match retention::apply(app, keys, PruneMode::Apply).await {
        Ok(deleted) => {
            for PrunedProject { project, calls, artifacts, conversations, bytes } in
                deleted.into_iter().filter(|deleted| !deleted.is_nothing())
            {
                tracing::info!(%project, calls, artifacts, conversations, bytes, "retention deleted old data");
            }
        }
        Err(error) => tracing::warn!("retention failed and is retried later: {error}"),
    }
}

/// Handles signals: shutdown, and reload of the configuration.
fn listen_to_signals(ending: &CancellationToken, reloads: &Arc<Notify>) -> std::io::Result<Interrupts> {
    let (terminated, hung_up, reloads) = (ending.clone(), ending.clone(), Arc::clone(reloads));
    let had_terminal = std::io::stdin().is_terminal();
    let hang_up = move || match had_terminal && !std::io::stdin().is_terminal() {
        // Its terminal was closed, so it shuts down.
        true => hung_up.cancel(),
        false => reloads.notify_one(),
    };
    Interrupts::watch_service(move || terminated.cancel(), hang_up)
}

/// Notifies systemd, if it started this process.
fn notify_service_manager(condition: ServiceState) {
    if let Err(error) = service_manager::tell(condition) {
        tracing::warn!("cannot notify the service manager: {error}");
    }
}

/// Whether there is a valid API key.
async fn has_key(app: &App) -> anyhow::Result<bool> {
    let now = app.room.clock().now();
    Ok(app.store.all_keys().await?.iter().any(|key| holds(key, now)))
}

/// Keeps secrets out of the log: those of all projects, also those that are set while the server runs, and `extra`.
struct SecretRefresher {
    extra: Vec<Secret>,
    /// Revision of the secrets being redacted.
    revision: Option<i64>,
    /// The last refresh failed, which was logged.
    has_failed: bool,
}

impl SecretRefresher {
    async fn refresh(&mut self, app: &App) {
        match secrets(app, self.revision).await {
            Ok(Some((revision, mut secrets))) => {
                secrets.extend_from_slice(&self.extra);
                redaction::hide(secrets);
                self.revision = Some(revision);
                self.has_failed = false;
            }
            Ok(None) => self.has_failed = false,
            Err(error) if !self.has_failed => {
                tracing::warn!("secrets cannot be opened, so new ones are not redacted: {error:#}");
                self.has_failed = true;
            }
            Err(_) => {}
        }
    }
}

/// All secrets, or `None` if the revision is still `known`.
async fn secrets(app: &App, known: Option<i64>) -> anyhow::Result<Option<(i64, Vec<Secret>)>> {
    let revision = app.room.switchboard().standing(&super::owner().project).await?.revision;
    if known == Some(revision) {
        return Ok(None);
    }
    let mut secrets = Vec::new();
    for project in projects(&app.store).await? {
        secrets.extend(app.vault.redacted_values(&project.id).await?);
    }
    Ok(Some((revision, secrets)))
}
