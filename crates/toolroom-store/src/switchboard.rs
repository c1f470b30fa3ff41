//! Reading switches, standing answers, projects and keys, for every call, as of now.
//!
//! One task reads. Whoever asks while it reads waits for the next reading, and all of them share that one: the
//! reply is never older than the request, and a crowd costs no more than one caller. A reading asks for one
//! number; the rows are read again only when it has changed. While the notice of the database stays the same, even that
//! is not asked: what was read last is still so.

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

use crate::identity::{Keys, ProjectRecord, read_keys, read_projects};
use crate::notice::{Notice, TRUSTED_FOR, Words};
use crate::question::read_answer;
use crate::reader::Reader;
use crate::row::{ReadError, named};
use crate::{Store, StoreError, statements};

/// What a switch switches.
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

/// The way to the reading task.
#[derive(Debug)]
pub(crate) struct StandingReader {
    requests: mpsc::UnboundedSender<Request>,
    reader: Arc<Reader>,
    last: Arc<LastReading>,
}

impl StandingReader {
    /// Starts the task. It ends with the last handle to it.
    pub(crate) fn start(path: PathBuf, notice: Option<Arc<dyn Notice>>) -> Self {
        let reader = Arc::new(Reader::new(path));
        let last = Arc::new(LastReading { notice, state: RwLock::default() });
        let (requests, asked) = mpsc::unbounded_channel();
        tokio::spawn(reply_to_all(asked, Arc::clone(&reader), Arc::clone(&last)));
        Self { requests, reader, last }
    }

    async fn standing(&self, project: &ProjectId) -> Reply<Standing> {
        match self.last.find(|known| known.standings.get(project).cloned()) {
            Some(standing) => Ok(standing),
            None => self.ask(|reply| Request::Standing { project: project.clone(), reply }).await,
        }
    }

    /// Every key, whether it still holds or not.
    pub(crate) async fn keys(&self) -> Reply<Keys> {
        match self.last.find(|known| known.keys.clone()) {
            Some(keys) => Ok(keys),
            None => self.ask(|reply| Request::Keys { reply }).await,
        }
    }

    /// Every project that has a row.
    pub(crate) async fn projects(&self) -> Reply<Vec<ProjectRecord>> {
        match self.last.find(|known| known.projects.clone()) {
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
        self.last.close();
        self.reader.close().await;
    }
}

/// What was read last, for as long as nobody gave notice of a change.
#[derive(Debug)]
struct LastReading {
    notice: Option<Arc<dyn Notice>>,
    state: RwLock<Reading>,
}

#[derive(Debug, Default)]
enum Reading {
    #[default]
    None,
    /// With the notice that stood there before it, and when that was.
    Of {
        known: Known,
        notice: Words,
        at: Instant,
    },
    Closed,
}

impl LastReading {
    /// The notice as it is; asked for before a reading, so that whatever changes meanwhile is noticed after it.
    fn notice(&self) -> Option<Words> {
        self.notice.as_ref()?.read()
    }

    /// A part of what was read, if it is still so.
    fn find<T>(&self, part: impl FnOnce(&Known) -> Option<T>) -> Option<T> {
        let now = self.notice()?;
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            Reading::Of { known, notice, at } if *notice == now && at.elapsed() < TRUSTED_FOR => part(known),
            Reading::Of { .. } | Reading::None | Reading::Closed => None,
        }
    }

    fn keep(&self, reading: Reading) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, Reading::Closed) {
            *state = reading;
        }
    }

    fn close(&self) {
        self.keep(Reading::Closed);
    }
}

impl Switchboard for Store {
    fn standing<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>> {
        Box::pin(async move {
            let standing = self.standing_reader().standing(project).await;
            standing.map_err(|error| LedgerError::new("read switches and answers", error))
        })
    }
}

async fn reply_to_all(
    mut asked: mpsc::UnboundedReceiver<Request>,
    reader: Arc<Reader>,
    last: Arc<LastReading>,
) {
    let mut known = Known::default();
    let mut requests = Vec::new();
    while asked.recv_many(&mut requests, usize::MAX).await > 0 {
        // Whoever is about to ask as well does so first: a reading costs two changes of threads, for one or for all.
        yield_now().await;
        while let Ok(request) = asked.try_recv() {
            requests.push(request);
        }
        let (notice, at) = (last.notice(), Instant::now());
        let refreshed = known.refresh(&reader).await;
        for request in requests.drain(..) {
            // Whoever no longer waits does not need it.
            match request {
                Request::Standing { project, reply } => drop(reply.send(match &refreshed {
                    Ok(()) => known.standing(&reader, project).await,
                    Err(error) => Err(error.clone()),
                })),
                Request::Keys { reply } => drop(reply.send(match &refreshed {
                    Ok(()) => known.keys(&reader).await,
                    Err(error) => Err(error.clone()),
                })),
                Request::Projects { reply } => drop(reply.send(match &refreshed {
                    Ok(()) => known.projects(&reader).await,
                    Err(error) => Err(error.clone()),
                })),
            }
        }
        last.keep(match (refreshed, notice) {
            (Ok(()), Some(notice)) => Reading::Of { known: known.clone(), notice, at },
            (Ok(()), None) | (Err(_), _) => Reading::None,
        });
    }
}

/// Everything as of one revision.
#[derive(Debug, Clone, Default)]
struct Known {
    revision: Option<i64>,
    standings: HashMap<ProjectId, Arc<Standing>>,
    keys: Option<Arc<Keys>>,
    projects: Option<Arc<Vec<ProjectRecord>>>,
}

impl Known {
    /// Forgets everything that may have changed.
    async fn refresh(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let row = reader.row(statements::STANDING_REVISION.query()).await?;
        let revision = row.map(|row| row.try_get(0)).transpose().map_err(|error| reader.failed(error))?;
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
            let name: &str = row.try_get(1)?;
            let kind = named(name, "kind", row.try_get(0)?, SwitchKind::from_name)?;
            let state = named(name, "state", row.try_get(2)?, state_from_name)?;
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
