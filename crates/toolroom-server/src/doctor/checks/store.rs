//! The check `store`: whether the database exists, can be opened, read and written, and is still the one we opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::time::Instant;
use toolroom::clock::SystemClock;
use toolroom::ledger::CallStatus;
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::Folders;
use toolroom_host::machine::{FileId, may_write};
use toolroom_store::{ConversationCounts, Store, StoreError, StoreHealth};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{RESTORE, first_of, quoted, size};
use crate::database::{DATABASE, store_options};
use crate::doctor::gather::{OpenDatabase, blocking, one_line, within};
use crate::missing_database::{emptied, is_emptied, is_lost, lost};

/// A larger database is not scanned for damage.
const MAX_SCANNED_BYTES: u64 = 1_000_000_000;

/// The database, and whether it can be written.
#[derive(Debug, Clone)]
pub(crate) struct StoreFacts {
    pub(crate) folder: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) unwritable: Option<Unwritable>,
    pub(crate) state: StoreState,
}

/// Why the database cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// A file is in the way of the data folder.
    NoFolder,
    /// The file system takes no files, like that of `/proc`.
    NoDisk,
    /// No permission for the folder.
    Folder(String),
    /// No permission for the file.
    File(String),
}

#[derive(Debug, Clone)]
pub(crate) enum StoreState {
    /// Nothing was stored yet.
    Absent,
    /// A master key exists, but no database. Holds the explanation.
    Lost(String),
    /// Unusable, with the cause.
    Unusable(StoreTrouble, String),
    /// This process has a file open that is no longer at its path.
    Gone(FileChange),
    Open(Box<OpenStore>),
}

/// A database that can be read.
#[derive(Debug, Clone)]
pub(crate) struct OpenStore {
    pub(crate) health: StoreHealth,
    /// Why it cannot be written right now.
    pub(crate) locked: Option<(StoreTrouble, String)>,
    /// Calls by status. `None` if counting timed out.
    pub(crate) calls: Option<Vec<(CallStatus, u64)>>,
    /// `None` if counting timed out.
    pub(crate) counts: Option<ConversationCounts>,
    pub(crate) damage: Damage,
}

/// What happened to the path of a file that is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    Deleted,
    Replaced,
}

/// Why a database cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreTrouble {
    Locked,
    ReadOnly,
    Full,
    Damaged,
    Newer,
    Older,
    Foreign,
    NoSharedMemory,
    Slow,
    Unreadable,
}

/// The result of the scan for damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A line for each problem.
    Found(Vec<String>),
    TooLarge,
    TimedOut,
}

/// A database that can be read.
pub(crate) struct Readable {
    pub(crate) store: Store,
    /// Keeps a restore away. `None` if this process had the database open before.
    _lock: Option<FolderLock>,
}

/// Opens the database if possible. [`scan`] completes the facts.
pub(crate) async fn open(
    folders: &Folders,
    running: Option<&OpenDatabase>,
    deadline: Instant,
) -> (Option<Readable>, StoreFacts) {
    let database = folders.data.join(DATABASE);
    let (store, state) = match state(folders, &database, running, deadline).await {
        Ok((store, state)) => (Some(store), state),
        Err(state) => (None, state),
    };
    let unwritable = why_unwritable(&folders.data, &database);
    (store, StoreFacts { folder: folders.data.clone(), database, unwritable, state })
}

async fn state(
    folders: &Folders,
    database: &Path,
    running: Option<&OpenDatabase>,
    deadline: Instant,
) -> Result<(Readable, StoreState), StoreState> {
    let unusable = |error: StoreError| StoreState::Unusable(trouble(&error), one_line(error));
    let late = |late| StoreState::Unusable(StoreTrouble::Slow, format!("not examined: {late}"));
    let found = FileId::from_path(database);
    let unreadable = |cause| StoreState::Unusable(StoreTrouble::Unreadable, cause);
    let Readable { store, _lock: lock } = match (running, found) {
        (Some(running), Ok(found)) if found == running.file => {
            Readable { store: running.store.clone(), _lock: None }
        }
        (Some(_), Ok(None)) => return Err(StoreState::Gone(FileChange::Deleted)),
        (Some(_), Ok(Some(_))) => return Err(StoreState::Gone(FileChange::Replaced)),
        (None, Ok(None)) if is_lost(folders) => return Err(StoreState::Lost(lost(folders))),
        (None, Ok(None)) => return Err(StoreState::Absent),
        (None, Err(error)) if error.kind() == io::ErrorKind::NotADirectory => return Err(StoreState::Absent),
        (None, Ok(Some(_))) if is_emptied(folders) => {
            return Err(StoreState::Unusable(StoreTrouble::Damaged, emptied(folders)));
        }
        (None, Ok(Some(_))) => {
            let options = store_options().map_err(|error| unreadable(one_line(error)))?;
            let folder = folders.data.clone();
            let place = blocking(deadline, move || FolderLock::shared(&folder)).await;
            let place = place.and_then(|place| place.map_err(one_line));
            let place = place.map_err(|cause| {
                let text = format!("not examined: a backup may be being restored there: {cause}");
                StoreState::Unusable(StoreTrouble::Slow, text)
            })?;
            let opening = Store::open_read_only(database, options, Arc::new(SystemClock));
            let store = within(deadline, opening).await.map_err(late)?.map_err(unusable)?;
            Readable { store, _lock: Some(place) }
        }
        (_, Err(error)) => return Err(unreadable(one_line(error))),
    };
    let health = within(deadline, store.health()).await.map_err(late)?.map_err(unusable)?;
    let locked = match within(deadline, store.try_lock()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some((trouble(&error), one_line(error))),
        Err(late) => Some((StoreTrouble::Slow, format!("whether it can be written is not known: {late}"))),
    };
    let open = OpenStore { health, locked, calls: None, counts: None, damage: Damage::TimedOut };
    Ok((Readable { store, _lock: lock }, StoreState::Open(Box::new(open))))
}

/// Reads the whole database. Takes longest, so it comes last and gets the remaining time.
pub(crate) async fn scan(store: &Store, open: &mut OpenStore, deadline: Instant) {
    let (calls, damaged) = match within(deadline, store.count_calls()).await {
        Ok(Ok(calls)) => (Some(calls), None),
        Ok(Err(error)) => (None, Some(one_line(error))),
        Err(_) => (None, None),
    };
    open.calls = calls;
    open.counts = within(deadline, store.count_conversations()).await.ok().and_then(Result::ok);
    open.damage = match open.health.bytes {
        0..=MAX_SCANNED_BYTES => match within(deadline, store.damage()).await {
            Ok(found) => Damage::Found(found.unwrap_or_else(|error| vec![one_line(error)])),
            Err(_) => Damage::TimedOut,
        },
        _ => Damage::TooLarge,
    };
    if let (Some(damaged), Damage::TimedOut | Damage::TooLarge) = (damaged, &open.damage) {
        open.damage = Damage::Found(vec![damaged]);
    }
}

fn trouble(error: &StoreError) -> StoreTrouble {
    match error {
        StoreError::Locked(_) => StoreTrouble::Locked,
        StoreError::ReadOnly(_) => StoreTrouble::ReadOnly,
        StoreError::Full { .. } | StoreError::Disk { .. } => StoreTrouble::Full,
        StoreError::Damaged(_) => StoreTrouble::Damaged,
        StoreError::Newer { .. } => StoreTrouble::Newer,
        StoreError::Older { .. } => StoreTrouble::Older,
        StoreError::NotOurs { .. } => StoreTrouble::Foreign,
        StoreError::NoWal { .. } => StoreTrouble::NoSharedMemory,
        _ => StoreTrouble::Unreadable,
    }
}

fn why_unwritable(folder: &Path, database: &Path) -> Option<Unwritable> {
    match may_write(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(Unwritable::NoFolder),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Some(Unwritable::NoDisk),
        Err(error) => Some(Unwritable::Folder(one_line(error))),
        // A missing file can be created in the folder.
        Ok(()) => match may_write(database) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(Unwritable::NoFolder),
            Err(error) => Some(Unwritable::File(one_line(error))),
            Ok(()) => None,
        },
    }
}

pub(crate) fn check(facts: &StoreFacts) -> Check {
    let mut found: Vec<Finding> = facts.unwritable.iter().map(|why| unwritable(why, facts)).collect();
    let database = facts.database.display();
    match &facts.state {
        StoreState::Absent => Check::new(format!("no data yet; it will be in `{database}`"), found),
        StoreState::Lost(cause) => {
            found.push(Finding::warning("store.lost", cause, RESTORE));
            Check::new("", found)
        }
        StoreState::Unusable(trouble, cause) => {
            found.push(store_trouble(*trouble, cause, &facts.database));
            Check::new("", found)
        }
        StoreState::Gone(vanished) => {
            let became = match vanished {
                FileChange::Deleted => "was deleted",
                FileChange::Replaced => "is another file now",
            };
            let details = format!("`{database}` {became}; what this process writes is lost");
            found.push(Finding::error("store.gone", details, "start this process again"));
            Check::new("", found)
        }
        StoreState::Open(open) => {
            let details = open_store(open, &facts.database, &mut found);
            let locked = open.locked.as_ref();
            found.extend(locked.map(|(trouble, cause)| store_trouble(*trouble, cause, &facts.database)));
            Check::new(details, found)
        }
    }
}

fn open_store(open: &OpenStore, path: &Path, found: &mut Vec<Finding>) -> String {
    let health = &open.health;
    let StoreHealth { schema, sqlite, sync_pure, sync_writes, .. } = health;
    let unchecked = match &open.damage {
        Damage::Found(lines) => {
            if !lines.is_empty() {
                let details = format!("`{}` is damaged: {}", path.display(), first_of(lines));
                found.push(Finding::error("store.damaged", details, RESTORE));
            }
            ""
        }
        Damage::TooLarge => "; not searched for damage: too large",
        Damage::TimedOut => "; not searched for damage: timed out",
    };
    if health.journal_mode != "wal" {
        let details = format!("journal mode is `{}`; the next command corrects it", health.journal_mode);
        found.push(Finding::warning("store.journal_mode", details, "toolroom log --limit 1"));
    }
    format!(
        "schema {schema}, {}, SQLite {sqlite}; reads are committed {sync_pure}, writes {sync_writes}{unchecked}",
        size(health.bytes.saturating_add(health.wal_bytes)),
    )
}

fn unwritable(why: &Unwritable, facts: &StoreFacts) -> Finding {
    let (folder, database) = (&facts.folder, &facts.database);
    match why {
        Unwritable::NoFolder => {
            let details = format!("`{}` cannot be created: there is a file in the way", folder.display());
            Finding::error("store.no_folder", details, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        Unwritable::NoDisk => {
            let details = format!("`{}` cannot be created: its file system takes no files", folder.display());
            Finding::error("store.no_folder", details, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        Unwritable::Folder(cause) => {
            let details = format!("`{}` cannot be written to: {cause}", folder.display());
            Finding::error("store.read_only", details, format!("chmod u+rwx {}", quoted(folder)))
        }
        Unwritable::File(cause) => {
            let details = format!("`{}` cannot be written to: {cause}", database.display());
            Finding::error("store.read_only", details, format!("chmod u+rw {}", quoted(database)))
        }
    }
}

fn store_trouble(trouble: StoreTrouble, cause: &str, path: &Path) -> Finding {
    let file = quoted(path);
    match trouble {
        StoreTrouble::Locked => Finding::error("store.locked", cause, format!("fuser -v {file}")),
        StoreTrouble::ReadOnly => Finding::error("store.read_only", cause, format!("chmod u+rw {file}")),
        StoreTrouble::Full => Finding::error("store.full", cause, format!("df -h {file}")),
        StoreTrouble::Damaged => Finding::error("store.damaged", cause, RESTORE),
        StoreTrouble::Newer => Finding::error("store.newer", cause, "toolroom --version"),
        StoreTrouble::Older => Finding::warning("store.older", cause, "toolroom log --limit 1"),
        StoreTrouble::Foreign => Finding::error("store.foreign", cause, format!("mv {file} {file}.other")),
        StoreTrouble::NoSharedMemory => {
            Finding::error("store.no_shared_memory", cause, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        StoreTrouble::Slow => Finding::warning("store.slow", cause, "toolroom doctor"),
        StoreTrouble::Unreadable => Finding::error("store.unreadable", cause, format!("ls -l {file}")),
    }
}
