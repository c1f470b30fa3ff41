//! On which terms commands run: how they are judged, and what they may touch.

use std::path::PathBuf;

use toolroom::policy::{Judgement, Ruling};
use toolroom::tool::Destination;
use toolroom_host::net::EgressRule;
use toolroom_host::sandbox::{NamedProfile, Profile};

use crate::shell::grammar::{parse, print};
use crate::shell::judge::{Judged, Settings, judge_argv, judge_with};

/// The only way to more.
const OPENED: &str = "no network but hosts that `ssh_configure_host` opens";

/// How commands are judged and confined. The operator's decision, which no call can change.
#[derive(Debug, Clone)]
pub struct CommandTerms {
    /// When a person is asked.
    pub judged: Settings,
    /// What they may touch.
    pub profile: NamedProfile,
    /// How much they may add to the disk, and to their temporary folders.
    pub disk_bytes: u64,
    /// What they never see, wherever it lies: our own files.
    pub hidden: Vec<PathBuf>,
    /// Their home, which is not that of the user; `None` is one that is gone when they end.
    pub home: Option<PathBuf>,
}

impl Default for CommandTerms {
    fn default() -> Self {
        Self {
            judged: Settings::default(),
            profile: NamedProfile::Workspace,
            disk_bytes: Profile::bare().temporary_bytes,
            hidden: Vec::new(),
            home: None,
        }
    }
}

impl CommandTerms {
    /// Whether what commands do stays in a sandbox.
    pub(super) fn are_confined(&self) -> bool {
        self.profile != NamedProfile::Off
    }

    /// Whether commands can talk to anybody.
    pub(super) fn reach_out(&self) -> bool {
        matches!(self.profile, NamedProfile::Off | NamedProfile::Network(_))
    }

    /// Where commands can send something.
    pub(super) fn destination(&self) -> Destination {
        match self.hosts() {
            [] => Destination::any(),
            hosts => Destination::new(hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// The hosts that every conversation reaches.
    pub(super) fn hosts(&self) -> &[EgressRule] {
        match &self.profile {
            NamedProfile::Network(hosts) => hosts,
            NamedProfile::Workspace | NamedProfile::ReadOnly | NamedProfile::Off => &[],
        }
    }

    /// What a person should know of a line for a shell, and of the variables it is given, before it runs.
    pub(super) fn about_line(&self, line: &str, variables: &[(&str, &str)]) -> Judgement {
        judgement(&judge_with(line, variables, &self.judged))
    }

    /// The same for a program with its arguments.
    pub(super) fn about_program(&self, program: &str, arguments: &[String]) -> Judgement {
        judgement(&judge_argv(program, arguments, &self.judged))
    }

    /// The line as it was judged, which is what runs. One that is not understood runs as it is, after a yes to it.
    pub(super) fn as_judged(&self, line: String) -> String {
        match parse(&line) {
            Ok(script) => print(&script),
            Err(_) => line,
        }
    }

    /// What a model has to know.
    pub(super) fn about(&self) -> String {
        match &self.profile {
            NamedProfile::Off => "commands are not confined, and each one is asked about".to_owned(),
            NamedProfile::ReadOnly => confined("read-only", "nothing but", OPENED),
            NamedProfile::Workspace => confined("workspace", "these folders and", OPENED),
            NamedProfile::Network(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                let reach = format!("only {}, through the proxy of the usual variables", hosts.join(", "));
                confined("network", "these folders and", &reach)
            }
        }
    }
}

/// What a sandbox means. Which of the two holds it is found when the first program starts, and known to `doctor`.
fn confined(profile: &str, changes: &str, reach: &str) -> String {
    format!(
        "commands run in a sandbox (profile `{profile}`, held by the operating system: bubblewrap or Landlock): they can \
         change {changes} a temporary folder of their own, and reach {reach}"
    )
}

fn judgement(judged: &Judged) -> Judgement {
    let reasons = judged.reasons.iter().filter(|reason| reason.verdict == judged.verdict);
    let reasons: Vec<String> =
        reasons.map(|reason| format!("`{}`: {}", reason.command, reason.why)).collect();
    match judged.verdict {
        Ruling::Allow => Judgement::Allow,
        Ruling::Ask => Judgement::Ask(reasons.join("; ")),
        Ruling::Deny => Judgement::Deny(reasons.join("; ")),
    }
}
