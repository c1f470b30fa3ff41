//! The database: whether it is there, can be opened, read and written, and is still the one we opened.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::time::Instant;
use toolroom::clock::SystemClock;
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::Folders;
use toolroom_host::machine::{FileId, may_write};
use toolroom_store::{Store, StoreError};

use super::facts::{Damage, OpenStore, StoreFacts, StoreState, StoreTrouble, Unwritable, Vanished};
use super::gather::{Running, aside, told, within};
use crate::database::{DATABASE, store_options};
use crate::missing_database::{emptied, is_emptied, is_lost, lost};

/// A larger database is not read whole in passing.
const SEARCHED_BYTES: u64 = 1_000_000_000;

/// A database that can be read.
pub(super) struct Readable {
    pub(super) store: Store,
    /// Our place in its folder; a process that is running has its own.
    _place: Option<FolderLock>,
}

/// The database, if it can be read, and how it was found, not yet read as a whole.
pub(super) async fn open(
    folders: &Folders,
    running: Option<&Running>,
    deadline: Instant,
) -> (Option<Readable>, StoreFacts) {
    let database = folders.data.join(DATABASE);
    let (store, state) = match state(folders, &database, running, deadline).await {
        Ok((store, state)) => (Some(store), state),
        Err(state) => (None, state),
    };
    let unwritable = unwritable(&folders.data, &database);
    (store, StoreFacts { folder: folders.data.clone(), database, unwritable, state })
}

async fn state(
    folders: &Folders,
    database: &Path,
    running: Option<&Running>,
    deadline: Instant,
) -> Result<(Readable, StoreState), StoreState> {
    let unusable = |error: StoreError| StoreState::Unusable(trouble(&error), told(error));
    let late = |late| StoreState::Unusable(StoreTrouble::Slow, format!("not examined: {late}"));
    let found = FileId::from_path(database);
    let unreadable = |cause| StoreState::Unusable(StoreTrouble::Unreadable, cause);
    let Readable { store, _place: place } = match (running, found) {
        (Some(running), Ok(found)) if found == running.file => {
            Readable { store: running.store.clone(), _place: None }
        }
        (Some(_), Ok(None)) => return Err(StoreState::Gone(Vanished::Deleted)),
        (Some(_), Ok(Some(_))) => return Err(StoreState::Gone(Vanished::Replaced)),
        (None, Ok(None)) if is_lost(folders) => return Err(StoreState::Lost(lost(folders))),
        (None, Ok(None)) => return Err(StoreState::Absent),
        (None, Err(error)) if error.kind() == io::ErrorKind::NotADirectory => return Err(StoreState::Absent),
        (None, Ok(Some(_))) if is_emptied(folders) => {
            return Err(StoreState::Unusable(StoreTrouble::Damaged, emptied(folders)));
        }
        (None, Ok(Some(_))) => {
            let options = store_options().map_err(|error| unreadable(told(error)))?;
            let folder = folders.data.clone();
            let place = aside(deadline, move || FolderLock::shared(&folder)).await;
            let place = place.and_then(|place| place.map_err(told));
            let place = place.map_err(|cause| {
                let text = format!("not examined: a backup may be being restored there: {cause}");
                StoreState::Unusable(StoreTrouble::Slow, text)
            })?;
            let opening = Store::open_read_only(database, options, Arc::new(SystemClock));
            let store = within(deadline, opening).await.map_err(late)?.map_err(unusable)?;
            Readable { store, _place: Some(place) }
        }
        (_, Err(error)) => return Err(unreadable(told(error))),
    };
    let health = within(deadline, store.health()).await.map_err(late)?.map_err(unusable)?;
    let locked = match within(deadline, store.try_lock()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some((trouble(&error), told(error))),
        Err(late) => Some((StoreTrouble::Slow, format!("whether it can be written is not known: {late}"))),
    };
    let open = OpenStore { health, locked, calls: None, words: None, damage: Damage::NoTime };
    Ok((Readable { store, _place: place }, StoreState::Open(Box::new(open))))
}

/// Reads all of an open database. This takes longest, so it comes last and has the time that is left.
pub(super) async fn search(store: &Store, open: &mut OpenStore, deadline: Instant) {
    let (calls, damaged) = match within(deadline, store.count_calls()).await {
        Ok(Ok(calls)) => (Some(calls), None),
        Ok(Err(error)) => (None, Some(told(error))),
        Err(_) => (None, None),
    };
    open.calls = calls;
    open.words = within(deadline, store.count_conversations()).await.ok().and_then(Result::ok);
    open.damage = match open.health.bytes {
        0..=SEARCHED_BYTES => match within(deadline, store.damage()).await {
            Ok(found) => Damage::Found(found.unwrap_or_else(|error| vec![told(error)])),
            Err(_) => Damage::NoTime,
        },
        _ => Damage::TooLarge,
    };
    if let (Some(damaged), Damage::NoTime | Damage::TooLarge) = (damaged, &open.damage) {
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

fn unwritable(folder: &Path, database: &Path) -> Option<Unwritable> {
    match may_write(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(Unwritable::NoFolder),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Some(Unwritable::NoDisk),
        Err(error) => Some(Unwritable::Folder(told(error))),
        // What is not there yet can be made in the folder.
        Ok(()) => match may_write(database) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(Unwritable::NoFolder),
            Err(error) => Some(Unwritable::File(told(error))),
            Ok(()) => None,
        },
    }
}
