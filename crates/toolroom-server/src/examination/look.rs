//! The database: whether it is there, can be opened, read and written, and is still the one we opened.

use std::io;
use std::path::Path;

use tokio::time::Instant;
use toolroom_host::folders::Folders;
use toolroom_host::machine::{FileId, may_write};
use toolroom_store::{Store, StoreError};

use super::facts::{Damage, OpenStore, StoreFacts, StoreState, StoreTrouble, Unwritable, Vanished};
use super::gather::{Running, told, within};
use crate::app::{DATABASE, presence};

/// A larger database is not read whole in passing.
const SEARCHED_BYTES: u64 = 1_000_000_000;

/// The database, if it can be read, and how it was found, not yet read as a whole.
pub(super) async fn open(
    folders: &Folders,
    running: Option<&Running>,
    deadline: Instant,
) -> (Option<Store>, StoreFacts) {
    let database = folders.data.join(DATABASE);
    let (store, state) = match state(&database, running, deadline).await {
        Ok((store, state)) => (Some(store), state),
        Err(state) => (None, state),
    };
    let unwritable = unwritable(&folders.data, &database);
    (store, StoreFacts { folder: folders.data.clone(), database, unwritable, state })
}

async fn state(
    database: &Path,
    running: Option<&Running>,
    deadline: Instant,
) -> Result<(Store, StoreState), StoreState> {
    let unusable = |error: StoreError| StoreState::Unusable(trouble(&error), told(error));
    let late = |late| StoreState::Unusable(StoreTrouble::Slow, format!("not examined: {late}"));
    let found = FileId::of(database);
    let store = match (running, found) {
        (Some(running), Ok(found)) if found == running.file => running.store.clone(),
        (Some(_), Ok(None)) => return Err(StoreState::Gone(Vanished::Deleted)),
        (Some(_), Ok(Some(_))) => return Err(StoreState::Gone(Vanished::Replaced)),
        (None, Ok(None)) => return Err(StoreState::Absent),
        (None, Err(error)) if error.kind() == io::ErrorKind::NotADirectory => return Err(StoreState::Absent),
        (None, Ok(Some(_))) => {
            let us =
                presence().map_err(|error| StoreState::Unusable(StoreTrouble::Unreadable, told(error)))?;
            let opening =
                Store::open_to_look(database, us, std::sync::Arc::new(toolroom::clock::SystemClock));
            within(deadline, opening).await.map_err(late)?.map_err(unusable)?
        }
        (_, Err(error)) => return Err(StoreState::Unusable(StoreTrouble::Unreadable, told(error))),
    };
    let health = within(deadline, store.health()).await.map_err(late)?.map_err(unusable)?;
    let locked = match within(deadline, store.try_lock()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some((trouble(&error), told(error))),
        Err(late) => Some((StoreTrouble::Slow, format!("whether it can be written is not known: {late}"))),
    };
    let open = OpenStore { health, locked, calls: None, damage: Damage::NoTime };
    Ok((store, StoreState::Open(Box::new(open))))
}

/// Reads all of an open database. This takes longest, so it comes last and has the time that is left.
pub(super) async fn search(store: &Store, open: &mut OpenStore, deadline: Instant) {
    let (calls, damaged) = match within(deadline, store.count_calls()).await {
        Ok(Ok(calls)) => (Some(calls), None),
        Ok(Err(error)) => (None, Some(told(error))),
        Err(_) => (None, None),
    };
    open.calls = calls;
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
        StoreError::Full(_) => StoreTrouble::Full,
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
        Err(error) => Some(Unwritable::Folder(told(error))),
        // What is not there yet can be made in the folder.
        Ok(()) => match may_write(database) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(Unwritable::NoFolder),
            Err(error) => Some(Unwritable::File(told(error))),
            Ok(()) => None,
        },
    }
}
