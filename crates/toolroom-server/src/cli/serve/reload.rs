//! Reads the configuration of a running server again. What can change while it runs does; of the rest it says that it
//! holds from the next start on.

use tokio::sync::watch;
use toolroom_host::folders::Folders;

use crate::config::{Compiled, Loaded, LogKeys, RetentionKeys, Setting, Sources};
use crate::http::Server;
use crate::telemetry::Log;

/// What changes at once.
const LIVELY: [&str; 8] = [
    "log.format",
    "log.level",
    "retention.artifacts",
    "retention.conversations",
    "retention.journal",
    "server.key_rate",
    "server.ip_rate",
    "server.session_rate",
];

/// Reads it and does what it says, as far as that goes. A configuration with a mistake in it changes nothing.
pub(super) async fn reload(
    server: &Server,
    running: &mut Vec<Setting>,
    flags: &[String],
    retention: &watch::Sender<RetentionKeys>,
    log_keys: impl Fn(LogKeys) -> LogKeys,
) {
    let loaded = match read(server, flags).await {
        Ok(loaded) => loaded,
        Err(error) => {
            tracing::error!("the configuration stays as it is: {error:#}");
            return;
        }
    };
    let wanted = loaded.effective();
    let changed = changed(running, &wanted);
    let (now, later): (Vec<String>, Vec<String>) =
        changed.into_iter().partition(|key| LIVELY.contains(&key.as_str()));
    Log::change(log_keys(loaded.config.log));
    server.change_rates(&loaded.config.server);
    let kept = loaded.config.retention;
    retention.send_if_modified(|keys| std::mem::replace(keys, kept) != kept);
    tracing::info!(changed = now.join(", "), "the configuration was read again");
    if !later.is_empty() {
        tracing::warn!(changed = later.join(", "), "these hold from the next start on");
    }
    // What waits for the next start is told again next time.
    running.retain(|setting| !LIVELY.contains(&setting.key.as_str()));
    running.extend(wanted.into_iter().filter(|setting| LIVELY.contains(&setting.key.as_str())));
}

async fn read(server: &Server, flags: &[String]) -> anyhow::Result<Loaded> {
    let files = Sources::find(&Folders::from_environment()?).read()?;
    let trust = files.trust(&server.app().store).await?;
    Ok(Compiled::of(&files.layers(trust, flags))?.loaded)
}

/// The keys of what is different.
fn changed(old: &[Setting], new: &[Setting]) -> Vec<String> {
    let differs = |one: &Setting, others: &[Setting]| {
        !others.iter().any(|other| other.key == one.key && other.value == one.value)
    };
    let mut keys: Vec<String> =
        old.iter().filter(|one| differs(one, new)).map(|one| one.key.clone()).collect();
    keys.extend(new.iter().filter(|one| differs(one, old)).map(|one| one.key.clone()));
    keys.sort();
    keys.dedup();
    keys
}
