//! Checks of a database that this process has open.
#![expect(clippy::disallowed_methods, reason = "tests delete files")]

use toolroom_host::folder_lock::FolderLock;
use toolroom_tools::builtin::doctor::Check;

use super::*;
use crate::database::{DATABASE, LockedStore, open_store};

struct TestInstallation {
    _home: tempfile::TempDir,
    folders: Folders,
    store: LockedStore,
    doctor: Doctor,
}

async fn running() -> TestInstallation {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders { config: home.path().to_owned(), data: home.path().to_owned() };
    let store = open_store(&folders).await.unwrap();
    let file = FileId::from_path(&folders.data.join(DATABASE)).unwrap();
    let doctor = Doctor::for_running(&folders, &[], &store, file);
    TestInstallation { _home: home, folders, store, doctor }
}

async fn store_check(doctor: &Doctor) -> Check {
    let report = doctor.report().await;
    report.checks.into_iter().find(|(name, _)| *name == "store").unwrap().1
}

#[tokio::test]
async fn a_database_that_is_deleted_or_replaced_while_it_is_open_is_noticed() {
    let running = running().await;
    assert_eq!(store_check(&running.doctor).await.worst.code, None);
    let path = running.folders.data.join(DATABASE);
    std::fs::remove_file(&path).unwrap();
    let deleted = store_check(&running.doctor).await.worst;
    assert_eq!(deleted.code, Some("store.gone"));
    assert!(deleted.details.contains("was deleted"), "{deleted:?}");
    assert!(!path.exists(), "looking does not make it again");

    let other = open_store(&running.folders).await.unwrap();
    let replaced = store_check(&running.doctor).await.worst;
    assert!(replaced.details.contains("another file"), "{replaced:?}");
    other.shutdown().await.unwrap();
    running.store.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_closed_store_is_reported_without_waiting() {
    let running = running().await;
    running.store.shutdown().await.unwrap();
    assert_eq!(store_check(&running.doctor).await.worst.code, Some("store.unreadable"));
}

#[tokio::test]
async fn a_database_is_not_replaced_while_the_doctor_reads_it() {
    let running = running().await;
    running.store.shutdown().await.unwrap();
    // The folder is kept to the end.
    let TestInstallation { _home, folders, store, .. } = running;
    drop(store);
    let is_alone = || FolderLock::exclusive(&folders.data).unwrap().is_some();
    assert!(is_alone());
    let (readable, _) = store::open(&folders, None, Instant::now() + TIMEOUT).await;
    assert!(readable.is_some() && !is_alone());
    drop(readable);
    assert!(is_alone());
}

#[tokio::test]
async fn the_doctor_leaves_a_running_store_open() {
    let running = running().await;
    assert_eq!(store_check(&running.doctor).await, store_check(&running.doctor).await);
    running.store.set_feature_switch(&Default::default(), "memory", None).await.unwrap();
    running.store.shutdown().await.unwrap();
}
