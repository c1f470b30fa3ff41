//! Opens the database in the data folder, with its change counter and write-ahead file.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use anyhow::{Context, bail};
use toolroom::clock::SystemClock;
use toolroom_host::change_counter::FileCounter;
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::Folders;
use toolroom_host::write_ahead_file::{self, OrphanedFile};
use toolroom_host::{process_identity, text_file};
use toolroom_store::{ChangeCounter, ProcessIdentity, Revision, Store, StoreOptions};

use crate::missing_database::{emptied, is_emptied, is_lost, lost};

/// The database inside the data folder.
pub(crate) const DATABASE: &str = "toolroom.db";

/// The folder of write-ahead files. Its name on disk is historic: rows were once collected in an "inbox".
pub(crate) const WRITE_AHEAD_FOLDER: &str = "inbox";

/// The file of the change counter.
pub(crate) const CHANGE_COUNTER: &str = "toolroom.db-notice";

/// An open database. While the lock is held, a restore cannot replace it.
pub(crate) struct LockedStore {
    pub(crate) store: Store,
    pub(crate) lock: FolderLock,
}

impl Deref for LockedStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Opens the database of these folders, and creates it if it is missing. It contains what other processes have
/// acknowledged.
pub(crate) async fn open_store(folders: &Folders) -> anyhow::Result<LockedStore> {
    open(folders, None).await
}

/// The same with a write-ahead file, for a process that makes many calls.
pub(crate) async fn open_store_with_write_ahead(folders: &Folders) -> anyhow::Result<LockedStore> {
    let file = match write_ahead_file::WriteAheadFile::open(&folders.data.join(WRITE_AHEAD_FOLDER)) {
        Ok(file) => Some(Arc::new(StoreWriteAheadFile(file)) as Arc<dyn toolroom_store::WriteAheadFile>),
        Err(error) => {
            tracing::warn!(
                "cannot open a write-ahead file in `{WRITE_AHEAD_FOLDER}`, every call waits for the database: {error}"
            );
            None
        }
    };
    open(folders, file).await
}

async fn open(
    folders: &Folders,
    write_ahead: Option<Arc<dyn toolroom_store::WriteAheadFile>>,
) -> anyhow::Result<LockedStore> {
    let folder = folders.data_folder()?;
    // Checked under an exclusive lock: another process may be creating the database.
    if is_emptied(folders) && !matches!(FolderLock::exclusive(folder), Ok(None)) && is_emptied(folders) {
        bail!(emptied(folders));
    }
    if is_lost(folders) {
        tracing::warn!("{}; creating a new one", lost(folders));
    }
    let lock = FolderLock::shared(folder).with_context(|| {
        format!("cannot use `{}`; if a backup is being restored there, wait for it", folder.display())
    })?;
    let database = folders.data.join(DATABASE);
    if text_file::is_folder(&database) {
        bail!(
            "`{}` is a folder, and the database belongs there; move it away, then try again",
            database.display()
        );
    }
    let database = folders.private_file(DATABASE)?;
    let counter = Arc::new(StoreChangeCounter::open(folders)) as Arc<dyn ChangeCounter>;
    let options = StoreOptions { change_counter: Some(counter), write_ahead, ..store_options()? };
    let store = Store::open(&database, options, Arc::new(SystemClock)).await?;
    // Replay files of dead processes first, then wait for living ones.
    replay_orphaned_files(&store, folders).await;
    write_ahead_file::wait_for_other_processes(&folders.data.join(WRITE_AHEAD_FOLDER)).await;
    Ok(LockedStore { store, lock })
}

/// Replays the write-ahead files of dead processes. A file that cannot be replayed now stays for the next time.
pub(crate) async fn replay_orphaned_files(store: &Store, folders: &Folders) {
    let folder = folders.data.join(WRITE_AHEAD_FOLDER);
    let files = OrphanedFile::find_all(&folder).unwrap_or_else(|error| vec![Err(error)]);
    for file in files {
        let replayed = async {
            let file = file?;
            store.replay(&file.lines).await?;
            anyhow::Ok(file.remove()?)
        };
        if let Err(error) = replayed.await {
            tracing::warn!(
                "cannot replay a write-ahead file in `{}`, keeping it: {error:#}",
                folder.display()
            );
        }
    }
}

// A part of the store fits into a part of the file.
const _: () = assert!(toolroom_store::PART_BYTES <= write_ahead_file::PART_BYTES);

/// The host's write-ahead file behind the store's trait.
#[derive(Debug)]
struct StoreWriteAheadFile(write_ahead_file::WriteAheadFile);

impl toolroom_store::WriteAheadFile for StoreWriteAheadFile {
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()> {
        self.0.append(part, line)
    }

    fn clear(&self, part: usize) -> io::Result<()> {
        self.0.clear(part)
    }

    fn close(&self) {
        self.0.close();
    }
}

/// Store options of this process, without a change counter and without a write-ahead file.
pub(crate) fn store_options() -> anyhow::Result<StoreOptions> {
    let process = process_identity::ProcessIdentity::current()
        .context("cannot find out which process this is (is /proc mounted?)")?;
    Ok(StoreOptions::new(ProcessIdentity {
        machine: process.machine,
        process: process.process,
        probe: Arc::new(process_identity::ProcessIdentity::is_alive),
    }))
}

/// The host's change counter behind the store's trait.
#[derive(Debug)]
struct StoreChangeCounter(io::Result<FileCounter>);

impl StoreChangeCounter {
    fn open(folders: &Folders) -> Self {
        let counter = FileCounter::open(&folders.data.join(CHANGE_COUNTER));
        if let Err(error) = &counter {
            tracing::debug!("cannot open `{CHANGE_COUNTER}`, every call reads its settings: {error}");
        }
        Self(counter)
    }
}

impl ChangeCounter for StoreChangeCounter {
    fn read(&self) -> Option<Revision> {
        self.0.as_ref().ok()?.read()
    }

    fn bump(&self) -> io::Result<()> {
        // Other processes may have opened it, and rely on it.
        self.0.as_ref().map_err(io::Error::kind)?.bump()
    }
}
