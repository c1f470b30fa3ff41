//! The check `sandbox`: how well programs are confined, found by confining one.

use tokio::time::Instant;
use toolroom_host::environment;
use toolroom_host::machine::{Machine, UserNamespaces};
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::{Level, Sandbox, SandboxRequest};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::one;
use crate::doctor::gather::{one_line, within};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxFacts {
    pub(crate) level: Level,
    /// Why a stronger level is not available.
    pub(crate) shortfall: Option<String>,
    /// Guarantees that do not hold.
    pub(crate) gaps: Vec<&'static str>,
}

pub(crate) async fn gather(deadline: Instant) -> Result<SandboxFacts, String> {
    let supervisor = Supervisor::new(environment::own_program());
    let found = within(deadline, Sandbox::find(&supervisor, SandboxRequest::default())).await;
    let found = found.map_err(|_| "confining a program took too long".to_owned())?;
    let sandbox = found.map_err(one_line)?;
    let gaps = sandbox
        .guarantees()
        .into_iter()
        .filter(|guarantee| !guarantee.holds)
        .map(|guarantee| guarantee.meaning);
    Ok(SandboxFacts {
        level: sandbox.level(),
        shortfall: sandbox.shortfall().map(str::to_owned),
        gaps: gaps.collect(),
    })
}

pub(crate) fn check(machine: &Machine, found: &Result<SandboxFacts, String>) -> Check {
    let mut parts = vec![match machine.landlock_abi {
        0 => "no Landlock".to_owned(),
        version => format!("Landlock {version}"),
    }];
    parts.push(if machine.seccomp { "seccomp" } else { "no seccomp" }.to_owned());
    parts.push(match machine.user_namespaces {
        UserNamespaces::Possible => "user namespaces".to_owned(),
        UserNamespaces::Absent => "no user namespaces".to_owned(),
        UserNamespaces::Forbidden { by } => format!("no user namespaces (`{by}`)"),
    });
    parts.push(if machine.bubblewrap.is_some() { "bubblewrap" } else { "no bubblewrap" }.to_owned());
    parts.push(machine.control_group.name().to_owned());
    let parts = parts.join(", ");
    let sandbox = match found {
        Ok(sandbox) => sandbox,
        Err(cause) => {
            let details = format!("no sandbox for programs: {cause} ({parts})");
            return one(Finding::warning("sandbox.none", details, sandbox_remedy(machine)));
        }
    };
    let meaning = match sandbox.level {
        Level::Namespaces => {
            "programs see the system, their folder and a `/tmp` of their own, and no network"
        }
        Level::Landlock => "programs can open the system and their folder only, and no network",
    };
    let mut details = format!("level `{}`: {meaning} ({parts})", sandbox.level.name());
    if !sandbox.gaps.is_empty() {
        details.push_str(&format!("; what does not hold: {}", sandbox.gaps.join("; ")));
    }
    if let Some(shortfall) = &sandbox.shortfall {
        details.push_str(&format!("; why it is not a stronger level: {shortfall}"));
    }
    details.push_str(&format!("; {}", machine.control_group.meaning()));
    one(Finding::ok(details))
}

pub(crate) fn sandbox_remedy(machine: &Machine) -> String {
    match machine.user_namespaces {
        UserNamespaces::Possible => "sudo apt-get install bubblewrap".to_owned(),
        UserNamespaces::Absent => "uname -r".to_owned(),
        UserNamespaces::Forbidden { by } => {
            // AppArmor's setting forbids, the others allow.
            let value = if by.contains("restrict") { 0 } else { 10_000 };
            format!("echo {value} | sudo tee {by}")
        }
    }
}
