//! A data folder that has been in use for a while.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::runtime::Builder;
use toolroom::Toolroom;
use toolroom::call::{CallRequest, Outcome};
use toolroom::clock::SystemClock;
use toolroom::tool::{Arguments, Effect};
use toolroom_store::{ProcessIdentity, Store, StoreOptions};

use crate::ticket::{echo, ticket};

/// Calls that its database holds.
const OLD_CALLS: usize = 5_000;

/// How many ask at once.
const CROWD: usize = 32;

/// Beside the build, where the disk is a disk: the system's folder for temporary files may be in memory.
pub(crate) fn folder() -> std::io::Result<TempDir> {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))
}

pub(crate) async fn open(database: &Path) -> Result<Store, Box<dyn Error>> {
    let us = toolroom_host::process_identity::ProcessIdentity::current()?;
    let probe = Arc::new(toolroom_host::process_identity::ProcessIdentity::is_alive);
    let process = ProcessIdentity { machine: us.machine, process: us.process, probe };
    Ok(Store::open(database, StoreOptions::new(process), Arc::new(SystemClock)).await?)
}

pub(crate) fn room(store: &Store) -> Result<Toolroom, Box<dyn Error>> {
    let ports = Arc::new(store.clone());
    let room = Toolroom::builder(ports).build();
    room.catalog().register(echo("app:note", Effect::Pure)?)?;
    room.catalog().register(echo("app:write", Effect::OnceOnlyWrite)?)?;
    Ok(room)
}

/// One call that has to be done.
pub(crate) async fn call(room: &Toolroom, tool: &str, arguments: &Arguments) -> Result<(), String> {
    match room.call(CallRequest::new(tool).arguments(arguments.clone())).await.outcome {
        Outcome::Done(_) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Leaves a database behind that holds some thousand calls.
pub(crate) fn grow_old(home: &Path) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let store = open(&home.join("toolroom.db")).await?;
        let room = room(&store)?;
        let arguments: Arguments = ticket().as_object().cloned().unwrap_or_default();
        let callers: Vec<_> = (0..CROWD)
            .map(|_| {
                let (room, arguments) = (room.clone(), arguments.clone());
                tokio::spawn(async move {
                    for _ in 0..OLD_CALLS / CROWD {
                        call(&room, "note", &arguments).await?;
                    }
                    Ok::<_, String>(())
                })
            })
            .collect();
        for caller in callers {
            caller.await??;
        }
        store.shutdown().await?;
        Ok(())
    })
}
