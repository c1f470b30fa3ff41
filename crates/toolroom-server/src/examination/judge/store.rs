//! What the state of the database means.

use std::path::Path;

use toolroom_store::StoreHealth;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{Damage, OpenStore, StoreFacts, StoreState, StoreTrouble, Unwritable, Vanished};
use super::wording::{RESTORE, first_of, quoted, size};

pub(super) fn store(facts: &StoreFacts) -> Check {
    let mut found: Vec<Finding> = facts.unwritable.iter().map(|why| unwritable(why, facts)).collect();
    let database = facts.database.display();
    match &facts.state {
        StoreState::Absent => Check::new(format!("nothing was kept yet; it will be in `{database}`"), found),
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
                Vanished::Deleted => "was deleted",
                Vanished::Replaced => "is another file now",
            };
            let details = format!("`{database}` {became}; what this process writes is lost when it ends");
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

/// What there is to say about a database that can be read.
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
        Damage::TooLarge => "; not searched for damage, since it is large",
        Damage::NoTime => "; not searched for damage, since there was no time",
    };
    if health.journal_mode != "wal" {
        let details = format!("journaled as `{}`; the next command puts it right", health.journal_mode);
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
            let details = format!("`{}` cannot be made: there is a file in the way", folder.display());
            Finding::error("store.no_folder", details, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        Unwritable::NoDisk => {
            let details = format!("`{}` cannot be made: its file system keeps no files", folder.display());
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
