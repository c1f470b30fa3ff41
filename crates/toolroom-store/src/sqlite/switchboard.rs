//! Cached reads of what every call needs: switches, standing answers, projects and keys.
//!
//! One task reads. Requests that arrive while it reads share the next read, so a reply is never older than its request, and
//! many callers cost no more than one. A read fetches the revision of the settings; rows are fetched again only when it
//! has changed. While the change counter stays the same, the cache is used without a read.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;
use sqlx::Row;
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::Instant;
use toolroom::BoxFuture;
use toolroom::ledger::{LedgerError, Standing, StandingAnswer, SwitchState, Switchboard, Switches};
use toolroom::policy::Answers;
use toolroom::scope::ProjectId;

use crate::port::MAX_CACHE_AGE;
use crate::sqlite::approvals::read_answer;
use crate::sqlite::identity::{Keys, read_keys, read_projects};
use crate::sqlite::reader::Reader;
use crate::sqlite::row::{ReadError, named};
use crate::{ChangeCounter, ProjectRecord, Revision, Store, StoreError, statements};

/// The column `kind` of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchKind {
    Tool,
    Feature,
}

impl SwitchKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Feature => "feature",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Tool, Self::Feature].into_iter().find(|kind| kind.as_str() == name)
    }
}

type Reply<T> = Result<Arc<T>, StoreError>;

#[derive(Debug)]
enum Request {
    Standing { project: ProjectId, reply: oneshot::Sender<Reply<Standing>> },
    Keys { reply: oneshot::Sender<Reply<Keys>> },
    Projects { reply: oneshot::Sender<Reply<Vec<ProjectRecord>>> },
}

/// Handle of the reading task.
#[derive(Debug)]
pub(crate) struct StandingReader {
    requests: mpsc::UnboundedSender<Request>,
    reader: Arc<Reader>,
    cache: Arc<Cache>,
}

impl StandingReader {
    /// Starts the task. It ends with its handle.
    pub(crate) fn start(path: PathBuf, counter: Option<Arc<dyn ChangeCounter>>) -> Self {
        let reader = Arc::new(Reader::new(path));
        let cache = Arc::new(Cache { counter, state: RwLock::default() });
        let (requests, received) = mpsc::unbounded_channel();
        tokio::spawn(run(received, Arc::clone(&reader), Arc::clone(&cache)));
        Self { requests, reader, cache }
    }

    async fn standing(&self, project: &ProjectId) -> Reply<Standing> {
        match self.cache.find(|settings| settings.standings.get(project).cloned()) {
            Some(standing) => Ok(standing),
            None => self.ask(|reply| Request::Standing { project: project.clone(), reply }).await,
        }
    }

    /// Every key, expired or not.
    pub(crate) async fn keys(&self) -> Reply<Keys> {
        match self.cache.find(|settings| settings.keys.clone()) {
            Some(keys) => Ok(keys),
            None => self.ask(|reply| Request::Keys { reply }).await,
        }
    }

    /// Every project that has a row.
    pub(crate) async fn projects(&self) -> Reply<Vec<ProjectRecord>> {
        match self.cache.find(|settings| settings.projects.clone()) {
            Some(projects) => Ok(projects),
            None => self.ask(|reply| Request::Projects { reply }).await,
        }
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<Reply<T>>) -> Request) -> Reply<T> {
        let (reply, replied) = oneshot::channel();
        self.requests.send(request(reply)).map_err(|_| StoreError::Closed)?;
        replied.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn close(&self) {
        self.cache.close();
        self.reader.close().await;
    }
}

/// The result of the last read, valid while the change counter is unchanged.
#[derive(Debug)]
struct Cache {
    counter: Option<Arc<dyn ChangeCounter>>,
    state: RwLock<CacheState>,
}

#[derive(Debug, Default)]
enum CacheState {
    #[default]
    Empty,
    /// The revision and the time are from before the read.
    Filled {
        settings: Settings,
        revision: Revision,
        at: Instant,
    },
    Closed,
}

impl Cache {
    /// The current revision. Taken before a read, so that a change during the read invalidates its result.
    fn revision(&self) -> Option<Revision> {
        self.counter.as_ref()?.read()
    }

    /// A part of the cached settings, if they are valid.
    fn find<T>(&self, part: impl FnOnce(&Settings) -> Option<T>) -> Option<T> {
        let now = self.revision()?;
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            CacheState::Filled { settings, revision, at }
                if *revision == now && at.elapsed() < MAX_CACHE_AGE =>
            {
                part(settings)
            }
            CacheState::Filled { .. } | CacheState::Empty | CacheState::Closed => None,
        }
    }

    fn set(&self, new: CacheState) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, CacheState::Closed) {
            *state = new;
        }
    }

    fn close(&self) {
        self.set(CacheState::Closed);
    }
}

impl Switchboard for Store {
    fn standing<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>> {
        Box::pin(async move {
            let standing = self.standing_reader().standing(project).await;
            standing.map_err(|error| LedgerError::new("read switches and standing answers", error))
        })
    }
}

async fn run(mut received: mpsc::UnboundedReceiver<Request>, reader: Arc<Reader>, cache: Arc<Cache>) {
    let mut settings = Settings::default();
    let mut requests = Vec::new();
    while received.recv_many(&mut requests, usize::MAX).await > 0 {
        // Collects requests of callers that are ready: a read costs two thread switches, for one request or for all.
        yield_now().await;
        while let Ok(request) = received.try_recv() {
            requests.push(request);
        }
        let (revision, at) = (cache.revision(), Instant::now());
        let refreshed = settings.refresh(&reader).await;
        for request in requests.drain(..) {
            // A reply that is no longer awaited is dropped.
            match request {
                Request::Standing { project, reply } => drop(reply.send(match &refreshed {
                    Ok(()) => settings.standing(&reader, project).await,
                    Err(error) => Err(error.clone()),
                })),
                Request::Keys { reply } => drop(reply.send(match &refreshed {
                    Ok(()) => settings.keys(&reader).await,
                    Err(error) => Err(error.clone()),
                })),
                Request::Projects { reply } => drop(reply.send(match &refreshed {
                    Ok(()) => settings.projects(&reader).await,
                    Err(error) => Err(error.clone()),
                })),
            }
        }
        cache.set(match (refreshed, revision) {
            (Ok(()), Some(revision)) => CacheState::Filled { settings: settings.clone(), revision, at },
            (Ok(()), None) | (Err(_), _) => CacheState::Empty,
        });
    }
}

/// Settings as of one revision of the database. Read on demand.
#[derive(Debug, Clone, Default)]
struct Settings {
    revision: Option<i64>,
    standings: HashMap<ProjectId, Arc<Standing>>,
    keys: Option<Arc<Keys>>,
    projects: Option<Arc<Vec<ProjectRecord>>>,
}

impl Settings {
    /// Drops everything if the revision has changed.
    async fn refresh(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let row = reader.row(statements::STANDING_REVISION.query()).await?;
        let revision =
            row.map(|row| row.try_get("value")).transpose().map_err(|error| reader.failed(error))?;
        if revision != self.revision || revision.is_none() {
            self.standings.clear();
            self.keys = None;
            self.projects = None;
            self.revision = revision;
        }
        Ok(())
    }

    async fn standing(&mut self, reader: &Reader, project: ProjectId) -> Reply<Standing> {
        if let Some(standing) = self.standings.get(&project) {
            return Ok(Arc::clone(standing));
        }
        let standing = Arc::new(Standing {
            revision: self.revision.unwrap_or_default(),
            switches: switches(reader, &project).await?,
            answers: Answers::new(answers(reader, &project).await?),
        });
        self.standings.insert(project, Arc::clone(&standing));
        Ok(standing)
    }

    async fn keys(&mut self, reader: &Reader) -> Reply<Keys> {
        if let Some(keys) = &self.keys {
            return Ok(Arc::clone(keys));
        }
        let keys = Arc::new(read_keys(reader).await?);
        self.keys = Some(Arc::clone(&keys));
        Ok(keys)
    }

    async fn projects(&mut self, reader: &Reader) -> Reply<Vec<ProjectRecord>> {
        if let Some(projects) = &self.projects {
            return Ok(Arc::clone(projects));
        }
        let projects = Arc::new(read_projects(reader).await?);
        self.projects = Some(Arc::clone(&projects));
        Ok(projects)
    }
}

async fn switches(reader: &Reader, project: &ProjectId) -> Result<Switches, StoreError> {
    let query = statements::SWITCHES.query().bind(project.as_str().to_owned());
    let mut switches = Switches::default();
    for row in reader.rows(query).await? {
        let read = || -> Result<_, ReadError> {
            let name: &str = row.try_get("name")?;
            let kind = named(&row, name, "kind", SwitchKind::from_name)?;
            let state = named(&row, name, "state", state_from_name)?;
            Ok((kind, name, state))
        };
        match read().map_err(|error| reader.failed(error))? {
            (SwitchKind::Tool, name, state) => switches.set_tool(name, state),
            (SwitchKind::Feature, name, state) => switches.set_feature(name, state),
        }
    }
    Ok(switches)
}

async fn answers(reader: &Reader, project: &ProjectId) -> Result<Vec<StandingAnswer>, StoreError> {
    let query = statements::ANSWERS.query().bind(project.as_str().to_owned());
    let rows = reader.rows(query).await?;
    rows.iter().map(|row| read_answer(row).map_err(|error| reader.failed(error))).collect()
}

fn state_from_name(name: &str) -> Option<SwitchState> {
    [SwitchState::On, SwitchState::Off].into_iter().find(|state| state.as_str() == name)
}
