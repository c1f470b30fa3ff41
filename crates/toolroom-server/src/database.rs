//! The database of our folders, opened.

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
use toolroom_store::{Store, Words};

use crate::missing_database::{emptied, is_emptied, is_lost, lost};

/// The database inside the data folder.
pub(crate) const DATABASE: &str = "toolroom.db";

/// The folder of what is promised and not yet in it.
pub(crate) const INBOX: &str = "inbox";

/// The file of the notice that it changed.
pub(crate) const NOTICE: &str = "toolroom.db-notice";

/// A database, and our place in its folder: as long as this lives, nobody puts another one there.
pub(crate) struct OccupiedStore {
    pub(crate) store: Store,
    pub(crate) place: FolderLock,
}

impl Deref for OccupiedStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// The database of these folders, made if it is missing. What other processes have promised is in it.
pub(crate) async fn open_store(folders: &Folders) -> anyhow::Result<OccupiedStore> {
    open(folders, None).await
}

/// The same for a process that takes many calls: those that change nothing do not wait for the database.
pub(crate) async fn open_busy_store(folders: &Folders) -> anyhow::Result<OccupiedStore> {
    let inbox = match write_ahead_file::WriteAheadFile::open(&folders.data.join(INBOX)) {
        Ok(inbox) => Some(Arc::new(OwnInbox(inbox)) as Arc<dyn toolroom_store::Inbox>),
        Err(error) => {
            tracing::warn!("every call waits for the database: there can be no `{INBOX}`: {error}");
            None
        }
    };
    open(folders, inbox).await
}

async fn open(
    folders: &Folders,
    inbox: Option<Arc<dyn toolroom_store::Inbox>>,
) -> anyhow::Result<OccupiedStore> {
    let folder = folders.data_folder()?;
    // Only somebody alone there can tell: others may be making the database this very moment.
    if is_emptied(folders) && !matches!(FolderLock::exclusive(folder), Ok(None)) && is_emptied(folders) {
        bail!(emptied(folders));
    }
    if is_lost(folders) {
        tracing::warn!("{}; a new one is begun", lost(folders));
    }
    let place = FolderLock::shared(folder).with_context(|| {
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
    let us =
        toolroom_store::Presence { notice: Some(Arc::new(OwnNotice::of(folders))), inbox, ..presence()? };
    let store = Store::open(&database, us, Arc::new(SystemClock)).await?;
    // First what the dead left behind: only the living are worth waiting for.
    adopt(&store, folders).await;
    write_ahead_file::wait_for_other_processes(&folders.data.join(INBOX)).await;
    Ok(OccupiedStore { store, place })
}

/// Brings home what processes that are gone had promised. What cannot be now is tried again.
pub(crate) async fn adopt(store: &Store, folders: &Folders) {
    let folder = folders.data.join(INBOX);
    let left = OrphanedFile::find_all(&folder).unwrap_or_else(|error| vec![Err(error)]);
    for left in left {
        let adopted = async {
            let left = left?;
            store.adopt(&left.lines).await?;
            anyhow::Ok(left.remove()?)
        };
        if let Err(error) = adopted.await {
            tracing::warn!("something that was left in `{}` stays there: {error:#}", folder.display());
        }
    }
}

// What the store puts into a part has room there.
const _: () = assert!(toolroom_store::PART_BYTES <= write_ahead_file::PART_BYTES);

/// Our own inbox, as the store uses it.
#[derive(Debug)]
struct OwnInbox(write_ahead_file::WriteAheadFile);

impl toolroom_store::Inbox for OwnInbox {
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()> {
        self.0.append(part, line)
    }

    fn clear(&self, part: usize) -> io::Result<()> {
        self.0.clear(part)
    }

    fn end(&self) {
        self.0.close();
    }
}

/// This process, as the store is told about it.
pub(crate) fn presence() -> anyhow::Result<toolroom_store::Presence> {
    let us = process_identity::ProcessIdentity::current()
        .context("cannot find out which process this is (is /proc mounted?)")?;
    Ok(toolroom_store::Presence {
        machine: us.machine,
        process: us.process,
        is_alive: Arc::new(process_identity::ProcessIdentity::is_alive),
        notice: None,
        inbox: None,
    })
}

/// Where all processes of these folders see that something changed.
#[derive(Debug)]
struct OwnNotice(io::Result<FileCounter>);

impl OwnNotice {
    fn of(folders: &Folders) -> Self {
        let place = FileCounter::open(&folders.data.join(NOTICE));
        if let Err(error) = &place {
            tracing::debug!("every call asks the database what changed: no `{NOTICE}`: {error}");
        }
        Self(place)
    }
}

impl toolroom_store::Notice for OwnNotice {
    fn read(&self) -> Option<Words> {
        self.0.as_ref().ok()?.read()
    }

    fn change(&self) -> io::Result<()> {
        // Others may have one, and go by it.
        self.0.as_ref().map_err(io::Error::kind)?.bump()
    }
}
