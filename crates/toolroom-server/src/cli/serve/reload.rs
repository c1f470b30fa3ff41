//! Reloads the configuration of a running server. Applies keys that can change at runtime, and logs which others need
//! a restart.

use tokio::sync::watch;
use toolroom_host::folders::Folders;

use crate::config::{CompiledConfig, LoadedConfig, LogKeys, RetentionKeys, Setting, Sources};
use crate::http::Server;
use crate::telemetry::Log;

/// Keys that can change at runtime.
const RUNTIME_KEYS: [&str; 8] = [
    "log.format",
    "log.level",
    "retention.artifacts",
    "retention.conversations",
    "retention.journal",
    "server.key_rate",
    "server.ip_rate",
    "server.session_rate",
];

/// Reloads the configuration. An invalid one changes nothing.
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
            tracing::error!("the configuration was not reloaded: {error:#}");
            return;
        }
    };
    let new = loaded.effective();
    let changed = changed(running, &new);
    let (now, later): (Vec<String>, Vec<String>) =
        changed.into_iter().partition(|key| RUNTIME_KEYS.contains(&key.as_str()));
    Log::change(log_keys(loaded.config.log));
    server.change_rates(&loaded.config.server);
    let kept = loaded.config.retention;
    retention.send_if_modified(|keys| std::mem::replace(keys, kept) != kept);
    tracing::info!(changed = now.join(", "), "the configuration was reloaded");
    if !later.is_empty() {
        tracing::warn!(changed = later.join(", "), "these keys take effect after a restart");
    }
    // Keys that need a restart are logged again at the next reload.
    running.retain(|setting| !RUNTIME_KEYS.contains(&setting.key.as_str()));
    running.extend(new.into_iter().filter(|setting| RUNTIME_KEYS.contains(&setting.key.as_str())));
}

async fn read(server: &Server, flags: &[String]) -> anyhow::Result<LoadedConfig> {
    let files = Sources::find(&Folders::from_environment()?).read()?;
    let trust = files.trust(&server.app().store).await?;
    Ok(CompiledConfig::of(&files.layers(trust, flags))?.loaded)
}

/// Keys with different values.
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
