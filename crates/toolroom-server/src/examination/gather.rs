//! Gathers the facts: everything at its own risk, and all of it in a few seconds.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolroom::BoxFuture;
use toolroom::clock::{Clock, SystemClock};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::machine::{self, FileId, Machine};
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{Sandbox, SandboxRequest};
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::{Checkup, Report};

use super::facts::{AnswerFacts, ConfigTrouble, DiskFacts, Facts, KeyFacts, SandboxFacts, StoreState};
use super::judge::judge;
use super::{look, models, opened, secrets, servers, settings};

/// All of it takes no longer, whatever state the machine is in.
const BOUND: Duration = Duration::from_secs(5);

/// How long it may take to confine a program; the rest is left to everything else.
const SANDBOX_BOUND: Duration = Duration::from_secs(2);

/// A data folder with more in it is not counted to its end.
const COUNTED_ENTRIES: u64 = 100_000;

/// An examination of one installation, which may be made any number of times.
pub(crate) struct Examination {
    /// Or why there are none.
    folders: Result<Folders, String>,
    /// Settings from the command line.
    flags: Vec<String>,
    running: Option<Running>,
}

/// The database as this process has it open.
pub(super) struct Running {
    pub(super) store: Store,
    /// Which file it was when it was opened.
    pub(super) file: Option<FileId>,
}

/// There was no time left.
pub(super) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "it took longer than {} s", BOUND.as_secs())
    }
}

impl Examination {
    /// Of what the environment names. Opens what can be opened, to look at it, and changes nothing.
    pub(crate) fn of_environment(flags: &[String]) -> Self {
        let folders = Folders::from_environment().map_err(told);
        Self { folders, flags: flags.to_vec(), running: None }
    }

    /// Of a running toolroom, over its open store.
    pub(crate) fn of_running(
        folders: &Folders,
        flags: &[String],
        store: &Store,
        file: Option<FileId>,
    ) -> Self {
        let running = Some(Running { store: store.clone(), file });
        Self { folders: Ok(folders.clone()), flags: flags.to_vec(), running }
    }

    /// What was found, without any secret that could be opened.
    async fn examine(&self) -> Report {
        let (facts, secrets) = self.gather().await;
        without(judge(&facts), &Redactor::new(secrets, Patterns::None))
    }

    async fn gather(&self) -> (Facts, Vec<Secret>) {
        let deadline = Instant::now() + BOUND;
        let at = SystemClock.now();
        let machine = aside(deadline, Machine::look).await;
        let sandbox = sandbox(Instant::now() + SANDBOX_BOUND).await;
        let nowhere = |config| Facts {
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
            Err(cause) => return (nowhere(Err(ConfigTrouble::NoHome(cause.clone()))), Vec::new()),
        };
        let data = folders.data.clone();
        let disk = aside(deadline, move || disk(&data)).await.and_then(|disk| disk.map_err(told));
        let (readable, mut state) = look::open(folders, self.running.as_ref(), deadline).await;
        let store = readable.as_ref().map(|readable| &readable.store);
        let settings::Read { config, policy, projects, said } =
            settings::read(folders, store, &self.flags, deadline).await;
        let files = match projects {
            Some(projects) => Some(opened::look(projects, deadline).await),
            None => None,
        };
        let (key, ring) = secrets::key(folders);
        let (answers, sealed) = match (store, &state.state) {
            (Some(store), _) => (
                settings::answers(store, deadline).await,
                secrets::sealed(store, ring.as_ref(), deadline).await,
            ),
            // Where nothing is, nothing is sealed or answered.
            (None, StoreState::Absent | StoreState::Lost(_)) => {
                (Some(AnswerFacts::default()), Some(Default::default()))
            }
            (None, _) => (None, None),
        };
        let servers = match (store, &state.state) {
            (Some(store), _) => Some(servers::look(store, deadline).await),
            (None, StoreState::Absent | StoreState::Lost(_)) => Some(Ok(Vec::new())),
            (None, _) => None,
        };
        let (sealed, secrets) = sealed.unzip();
        let models = said.map(|said| models::look(&said, secrets.as_deref().unwrap_or_default()));
        if let Some(store) = store {
            if let StoreState::Open(open) = &mut state.state {
                look::search(store, open, deadline).await;
            }
            if self.running.is_none() {
                // Only looked at: nothing can be lost.
                drop(within(deadline, store.shutdown()).await);
            }
        }
        let (store, disk) = (Some(state), Some(disk));
        let facts =
            Facts { policy, models, files, answers, store, key, sealed, disk, servers, ..nowhere(config) };
        (facts, secrets.unwrap_or_default())
    }
}

impl Checkup for Examination {
    fn report(&self) -> BoxFuture<'_, Report> {
        Box::pin(self.examine())
    }
}

/// Confines a program that does nothing, to see how well that works.
async fn sandbox(deadline: Instant) -> Result<SandboxFacts, String> {
    let supervisor = Supervisor::new(environment::own_program());
    let found = within(deadline, Sandbox::find(&supervisor, SandboxRequest::default())).await;
    let found = found.map_err(|_| "confining a program took too long".to_owned())?;
    let sandbox = found.map_err(told)?;
    let gaps =
        sandbox.guarantees().into_iter().filter(|promise| !promise.holds).map(|promise| promise.meaning);
    Ok(SandboxFacts {
        level: sandbox.level(),
        shortfall: sandbox.shortfall().map(str::to_owned),
        gaps: gaps.collect(),
    })
}

fn disk(data: &Path) -> io::Result<DiskFacts> {
    let used = machine::tree_size(data, COUNTED_ENTRIES).ok();
    Ok(DiskFacts { space: machine::space(data)?, used })
}

/// The report with nothing in it that has to be hidden. Names, paths and causes come from outside, and may repeat
/// what somebody wrote into the wrong place.
fn without(mut report: Report, redactor: &Redactor) -> Report {
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

/// What somebody says before the deadline.
pub(super) async fn within<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, Late> {
    timeout_at(deadline, work).await.map_err(|_| Late)
}

/// What a thread of its own says before the deadline: a file system may never answer.
pub(super) async fn aside<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let done = within(deadline, tokio::task::spawn_blocking(work)).await;
    done.map_err(|late| late.to_string())?.map_err(told)
}

/// An error and its causes, on one line.
pub(super) fn told(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into()).replace('\n', "; ")
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
