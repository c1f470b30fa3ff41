//! Gathers the facts for all checks. A part that fails becomes a fact; the whole takes a few seconds at most.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolroom::BoxFuture;
use toolroom::clock::{Clock, SystemClock, Timestamp};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom_host::folders::Folders;
use toolroom_host::machine::{FileId, Machine};
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::{Checkup, Report};

use super::checks::config::{ConfigFacts, ConfigTrouble, Settings};
use super::checks::disk::DiskFacts;
use super::checks::files::FolderFacts;
use super::checks::models::ModelFacts;
use super::checks::policy::{AnswerFacts, PolicyFacts};
use super::checks::sandbox::SandboxFacts;
use super::checks::secrets::{KeyFacts, SealedFacts};
use super::checks::servers::ServerFacts;
use super::checks::store::{StoreFacts, StoreState};
use super::checks::{config, disk, files, models, policy, report, sandbox, secrets, servers, store};

/// Everything the checks look at. Errors are texts for the operator.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) at: Timestamp,
    pub(super) config: Result<ConfigFacts, ConfigTrouble>,
    /// `None` if the configuration is invalid.
    pub(super) policy: Option<Result<PolicyFacts, Vec<String>>>,
    /// `None` if the configuration is invalid.
    pub(super) models: Option<ModelFacts>,
    /// The workspace, then the other open folders. `None` if the configuration is invalid.
    pub(super) files: Option<Result<Vec<FolderFacts>, String>>,
    /// `None` if the database cannot be read.
    pub(super) answers: Option<AnswerFacts>,
    /// `None` if the data folder is unknown.
    pub(super) store: Option<StoreFacts>,
    pub(super) key: KeyFacts,
    /// `None` if the database cannot be read.
    pub(super) sealed: Option<SealedFacts>,
    /// `None` if the data folder is unknown.
    pub(super) disk: Option<Result<DiskFacts, String>>,
    pub(super) machine: Result<Machine, String>,
    /// MCP servers. `None` if the database cannot be read.
    pub(super) servers: Option<Result<Vec<ServerFacts>, String>>,
    pub(super) sandbox: Result<SandboxFacts, String>,
}

/// Time limit of the whole examination.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit of the sandbox trial.
const SANDBOX_TIMEOUT: Duration = Duration::from_secs(2);

/// Examines one installation, any number of times.
pub(crate) struct Doctor {
    /// Or why they are unknown.
    folders: Result<Folders, String>,
    /// Settings from the command line.
    flags: Vec<String>,
    running: Option<OpenDatabase>,
}

/// A database that this process has open.
pub(super) struct OpenDatabase {
    pub(super) store: Store,
    /// The file that was opened.
    pub(super) file: Option<FileId>,
}

/// The deadline has passed.
pub(super) struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "it took longer than {} s", TIMEOUT.as_secs())
    }
}

impl Doctor {
    /// For the installation that the environment names. Opens it read-only.
    pub(crate) fn from_environment(flags: &[String]) -> Self {
        let folders = Folders::from_environment().map_err(one_line);
        Self { folders, flags: flags.to_vec(), running: None }
    }

    /// For a running toolroom, using its open store.
    pub(crate) fn for_running(
        folders: &Folders,
        flags: &[String],
        store: &Store,
        file: Option<FileId>,
    ) -> Self {
        let running = Some(OpenDatabase { store: store.clone(), file });
        Self { folders: Ok(folders.clone()), flags: flags.to_vec(), running }
    }

    async fn examine(&self) -> Report {
        let (facts, secrets) = self.gather().await;
        redacted(report(&facts), &Redactor::new(secrets, Patterns::None))
    }

    /// Also returns the secrets that could be opened, to redact the report with them.
    async fn gather(&self) -> (Facts, Vec<Secret>) {
        let deadline = Instant::now() + TIMEOUT;
        let at = SystemClock.now();
        let machine = blocking(deadline, Machine::look).await;
        let sandbox = sandbox::gather(Instant::now() + SANDBOX_TIMEOUT).await;
        let without_folders = |config| Facts {
            at,
            config,
            policy: None,
            models: None,
            files: None,
            answers: None,
            store: None,
            key: KeyFacts::Nowhere,
            sealed: None,
            disk: None,
            machine,
            servers: None,
            sandbox,
        };
        let folders = match &self.folders {
            Ok(folders) => folders,
            Err(cause) => return (without_folders(Err(ConfigTrouble::NoHome(cause.clone()))), Vec::new()),
        };
        let data = folders.data.clone();
        let disk = blocking(deadline, move || disk::gather(&data)).await;
        let disk = disk.and_then(|disk| disk.map_err(one_line));
        let (readable, mut state) = store::open(folders, self.running.as_ref(), deadline).await;
        let store = readable.as_ref().map(|readable| &readable.store);
        let Settings { config, policy, projects, values } =
            config::gather(folders, store, &self.flags, deadline).await;
        let files = match projects {
            Some(projects) => Some(files::gather(projects, deadline).await),
            None => None,
        };
        let (key, ring) = secrets::load_keys(folders);
        let (answers, sealed) = match (store, &state.state) {
            (Some(store), _) => (
                policy::standing_answers(store, deadline).await,
                secrets::open_sealed(store, ring.as_ref(), deadline).await,
            ),
            (None, StoreState::Absent | StoreState::Lost(_)) => {
                (Some(AnswerFacts::default()), Some(Default::default()))
            }
            (None, _) => (None, None),
        };
        let servers = match (store, &state.state) {
            (Some(store), _) => Some(servers::gather(store, deadline).await),
            (None, StoreState::Absent | StoreState::Lost(_)) => Some(Ok(Vec::new())),
            (None, _) => None,
        };
        let (sealed, secrets) = sealed.unzip();
        let models = values.map(|config| models::gather(&config, secrets.as_deref().unwrap_or_default()));
        if let Some(store) = store {
            if let StoreState::Open(open) = &mut state.state {
                store::scan(store, open, deadline).await;
            }
            if self.running.is_none() {
                // Opened read-only, so a failed shutdown loses nothing.
                drop(within(deadline, store.shutdown()).await);
            }
        }
        let (store, disk) = (Some(state), Some(disk));
        let facts = Facts {
            policy,
            models,
            files,
            answers,
            store,
            key,
            sealed,
            disk,
            servers,
            ..without_folders(config)
        };
        (facts, secrets.unwrap_or_default())
    }
}

impl Checkup for Doctor {
    fn report(&self) -> BoxFuture<'_, Report> {
        Box::pin(self.examine())
    }
}

/// Redacts secrets: names, paths and causes may repeat a secret that was entered in the wrong field.
fn redacted(mut report: Report, redactor: &Redactor) -> Report {
    let hide = |text: &mut String| *text = redactor.redact_text(text).into_owned();
    for (_, check) in &mut report.checks {
        for finding in std::iter::once(&mut check.worst).chain(&mut check.further) {
            hide(&mut finding.details);
            finding.remedy.iter_mut().for_each(hide);
        }
    }
    report.warnings.iter_mut().for_each(hide);
    report
}

pub(super) async fn within<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, TimedOut> {
    timeout_at(deadline, work).await.map_err(|_| TimedOut)
}

/// Runs blocking work on a thread of its own: a file system may never answer.
pub(super) async fn blocking<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let done = within(deadline, tokio::task::spawn_blocking(work)).await;
    done.map_err(|late| late.to_string())?.map_err(one_line)
}

/// An error and its causes, on one line.
pub(super) fn one_line(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into()).replace('\n', "; ")
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
