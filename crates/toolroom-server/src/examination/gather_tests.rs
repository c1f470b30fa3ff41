//! What a process that has a database open notices about it.
#![expect(clippy::disallowed_methods, reason = "tests delete files")]

use toolroom_host::folder_lock::FolderLock;
use toolroom_tools::builtin::doctor::Check;

use super::*;
use crate::database::{DATABASE, LockedStore, open_store};

struct Running {
    _home: tempfile::TempDir,
    folders: Folders,
    store: LockedStore,
    examination: Examination,
}

async fn running() -> Running {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders { config: home.path().to_owned(), data: home.path().to_owned() };
    let store = open_store(&folders).await.unwrap();
    let file = FileId::from_path(&folders.data.join(DATABASE)).unwrap();
    let examination = Examination::of_running(&folders, &[], &store, file);
    Running { _home: home, folders, store, examination }
}

async fn store_check(examination: &Examination) -> Check {
    let report = examination.report().await;
    report.checks.into_iter().find(|(name, _)| *name == "store").unwrap().1
}

#[tokio::test]
async fn a_database_that_is_deleted_or_replaced_while_it_is_open_is_noticed() {
    let running = running().await;
    assert_eq!(store_check(&running.examination).await.worst.code, None);
    let path = running.folders.data.join(DATABASE);
    std::fs::remove_file(&path).unwrap();
    let deleted = store_check(&running.examination).await.worst;
    assert_eq!(deleted.code, Some("store.gone"));
    assert!(deleted.details.contains("was deleted"), "{deleted:?}");
    assert!(!path.exists(), "looking does not make it again");

    let other = open_store(&running.folders).await.unwrap();
    let replaced = store_check(&running.examination).await.worst;
    assert!(replaced.details.contains("another file"), "{replaced:?}");
    other.shutdown().await.unwrap();
    running.store.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_store_that_was_closed_is_told_and_not_waited_for() {
    let running = running().await;
    running.store.shutdown().await.unwrap();
    assert_eq!(store_check(&running.examination).await.worst.code, Some("store.unreadable"));
}

#[tokio::test]
async fn nobody_puts_another_database_in_the_place_of_one_that_is_looked_at() {
    let running = running().await;
    running.store.shutdown().await.unwrap();
    // The folder is kept to the end.
    let Running { _home, folders, store, .. } = running;
    drop(store);
    let is_alone = || FolderLock::exclusive(&folders.data).unwrap().is_some();
    assert!(is_alone());
    let (readable, _) = look::open(&folders, None, Instant::now() + BOUND).await;
    assert!(readable.is_some() && !is_alone());
    drop(readable);
    assert!(is_alone());
}

#[tokio::test]
async fn an_examination_leaves_a_running_store_open() {
    let running = running().await;
    assert_eq!(store_check(&running.examination).await, store_check(&running.examination).await);
    running.store.set_feature_switch(&Default::default(), "memory", None).await.unwrap();
    running.store.shutdown().await.unwrap();
}
