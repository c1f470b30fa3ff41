//! How commands are judged and confined.

use std::path::PathBuf;

use toolroom::policy::{Judgement, Ruling};
use toolroom::tool::Destination;
use toolroom_host::net::EgressRule;
use toolroom_host::sandbox::{NamedProfile, Profile};

use crate::shell::grammar::{parse, print};
use crate::shell::judge::{CommandVerdict, JudgeSettings, judge_argv, judge_with};

const OPENED: &str = "no network except hosts that `ssh_configure_host` opens";

/// How commands are judged and confined. Set by the operator; no call can change it.
#[derive(Debug, Clone)]
pub struct CommandPolicy {
    /// When commands need approval.
    pub judged: JudgeSettings,
    /// What commands may touch.
    pub profile: NamedProfile,
    /// Disk space commands may add, also in their temporary folders.
    pub disk_bytes: u64,
    /// Paths that commands never see: our own files.
    pub hidden: Vec<PathBuf>,
    /// The home folder of commands, never the user's own; `None` gives each command a temporary one.
    pub home: Option<PathBuf>,
}

impl Default for CommandPolicy {
    fn default() -> Self {
        Self {
            judged: JudgeSettings::default(),
            profile: NamedProfile::Workspace,
            disk_bytes: Profile::bare().temporary_bytes,
            hidden: Vec::new(),
            home: None,
        }
    }
}

impl CommandPolicy {
    /// Whether the effects of commands stay in a sandbox.
    pub(super) fn are_confined(&self) -> bool {
        self.profile != NamedProfile::Off
    }

    /// Whether commands have network access.
    pub(super) fn reach_out(&self) -> bool {
        matches!(self.profile, NamedProfile::Off | NamedProfile::Network(_))
    }

    /// Where commands can send data.
    pub(super) fn destination(&self) -> Destination {
        match self.hosts() {
            [] => Destination::any(),
            hosts => Destination::new(hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// The hosts that every conversation can reach.
    pub(super) fn hosts(&self) -> &[EgressRule] {
        match &self.profile {
            NamedProfile::Network(hosts) => hosts,
            NamedProfile::Workspace | NamedProfile::ReadOnly | NamedProfile::Off => &[],
        }
    }

    /// Judges a shell command line and its variables.
    pub(super) fn judge_line(&self, line: &str, variables: &[(&str, &str)]) -> Judgement {
        judgement(&judge_with(line, variables, &self.judged))
    }

    /// Judges a program with its arguments.
    pub(super) fn judge_program(&self, program: &str, arguments: &[String]) -> Judgement {
        judgement(&judge_argv(program, arguments, &self.judged))
    }

    /// The line as it was judged, which is what runs. A line that does not parse runs unchanged, after approval.
    pub(super) fn as_judged(&self, line: String) -> String {
        match parse(&line) {
            Ok(script) => print(&script),
            Err(_) => line,
        }
    }

    /// The sandbox, for a model.
    pub(super) fn describe(&self) -> String {
        match &self.profile {
            NamedProfile::Off => "commands run without a sandbox, and each one needs approval".to_owned(),
            NamedProfile::ReadOnly => confined("read-only", "only", OPENED),
            NamedProfile::Workspace => confined("workspace", "these folders and", OPENED),
            NamedProfile::Network(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                let reach = format!("only {}, through the proxy in the usual variables", hosts.join(", "));
                confined("network", "these folders and", &reach)
            }
        }
    }
}

/// Which technique holds the sandbox is known when the first program starts, and shown by `doctor`.
fn confined(profile: &str, changes: &str, reach: &str) -> String {
    format!(
        "commands run in a sandbox (profile `{profile}`, enforced by the operating system: bubblewrap or Landlock): they can \
         change {changes} a temporary folder of their own, and reach {reach}"
    )
}

fn judgement(judged: &CommandVerdict) -> Judgement {
    let reasons = judged.reasons.iter().filter(|reason| reason.verdict == judged.verdict);
    let reasons: Vec<String> =
        reasons.map(|reason| format!("`{}`: {}", reason.command, reason.why)).collect();
    match judged.verdict {
        Ruling::Allow => Judgement::Allow,
        Ruling::Ask => Judgement::Ask(reasons.join("; ")),
        Ruling::Deny => Judgement::Deny(reasons.join("; ")),
    }
}
