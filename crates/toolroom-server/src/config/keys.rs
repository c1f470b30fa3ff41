//! The keys of `toolroom.toml`.
//!
//! A key is one field with a doc comment: its name in the environment, its place in the reference, the check of its
//! value and the list that `config show` prints follow from the schema. Three attributes say what a type cannot:
//! `x-least` and `x-most` bound a span, and `x-stricter` says which way is stricter. A key without `x-stricter`
//! cannot be set by a project file that is not trusted.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::catalog::{LimitMode, Limits};
use toolroom::policy::{Preset, Provenance, RuleText};
use toolroom::provenance::DIRECT_CALLS_COUNT_FOR;
use toolroom_tools::shell::judge::{JudgeSettings, Security};

use super::{
    AgentKeys, AllowedCommand, CalendarKeys, ConfigAgent, ConfigVendor, Destination, Folder, LocationKeys,
    LogKeys, ModelChain, Origin, Rates, RetentionKeys, SandboxProfile, SearchKeys, ServerKeys, Span,
    TelemetryKeys, VendorKeys,
};

/// The settings of Toolroom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "toolroom.toml")]
pub struct Config {
    /// The folder in which tools read, write and start programs. Left out, it is a folder of its own beside the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Folder>,
    /// What runs unasked, and how long a question waits.
    pub policy: PolicyKeys,
    /// Folders that tools may reach besides the workspace.
    pub files: FileKeys,
    /// Destinations that tools may reach although they are not public.
    pub network: NetworkKeys,
    /// Who is asked when something is searched on the web.
    pub search: SearchKeys,
    /// Who is asked where this machine is.
    pub location: LocationKeys,
    /// Where calendar events are put.
    pub calendar: CalendarKeys,
    /// What is hidden from models, the journal and logs.
    pub redaction: RedactionKeys,
    /// How long things are kept. `toolroom serve` deletes what is older once a day, `toolroom prune` at once.
    pub retention: RetentionKeys,
    /// Where `toolroom serve` listens, and how much it takes.
    pub server: ServerKeys,
    /// What `toolroom serve` tells about its work.
    pub log: LogKeys,
    /// Where `toolroom serve` sends traces of its work.
    pub telemetry: TelemetryKeys,
    /// The model that answers, as `vendor/model`, or a list of them: the next one answers when one fails. Left out, it is
    /// the first one that a key or an address is found for, and without any the offline model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChain>,
    /// Vendors of models, by name.
    #[serde(skip)]
    #[schemars(!skip, rename = "vendor", with = "BTreeMap<String, VendorKeys>", extend("maxProperties" = 100))]
    pub vendors: Vec<ConfigVendor>,
    /// Agents, by id: letters, digits, `_`, `-` and `.`. What stands here goes before what `toolroom agents set` keeps.
    #[serde(skip)]
    #[schemars(!skip, rename = "agent", with = "BTreeMap<String, AgentKeys>", extend("maxProperties" = 100))]
    pub agents: Vec<ConfigAgent>,
    /// Limits of tools, by id, bare name, family, or a pattern with `*` and `?` (in quotes). Sections apply in order:
    /// a later one counts where two are about the same tool.
    #[serde(skip)]
    #[schemars(!skip, rename = "tool", with = "BTreeMap<String, ToolKeys>", extend("maxProperties" = 1000))]
    pub tools: Vec<ConfigLimits>,
    /// Rules: which calls run, ask or are refused.
    #[serde(skip)]
    #[schemars(!skip, rename = "rule", with = "Vec<RuleText>", length(max = 1000))]
    pub rules: Vec<ConfigRule>,
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyKeys {
    /// What runs unasked where no rule decides.
    #[schemars(extend("x-stricter" = "later"))]
    pub preset: Preset,
    /// A question nobody answers becomes a no after this long.
    #[schemars(extend("x-least" = "1s", "x-most" = "30d", "x-stricter" = "shorter"))]
    pub approval_expires: Span,
    /// How carefully command lines are judged: `open` refuses only dangers, `cautious` also asks before risky
    /// commands, `strict` runs only what `exec_allowlist` names.
    #[schemars(extend("x-stricter" = "later"))]
    pub exec_security: Security,
    /// What runs where `exec_security` is `strict`: programs with patterns for their arguments, as in `git log *`. Every
    /// command of a line has to be named.
    #[schemars(length(max = 1000), extend("x-stricter" = "fewer"))]
    pub exec_allowlist: Vec<AllowedCommand>,
    /// What commands may touch: `workspace` (change the opened folders, no network), `read-only`, `network:HOST,…`
    /// (the workspace and these hosts), or `off` (no sandbox: every command asks).
    #[schemars(extend("x-stricter" = "tighter"))]
    pub exec_sandbox: SandboxProfile,
    /// How many MiB a command in the sandbox may add to the disk. Its temporary folders hold as much, and no more.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub exec_disk_mib: u32,
    /// What counts as read before a call.
    pub provenance: ProvenanceKeys,
}

/// `[policy.provenance]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProvenanceKeys {
    /// What the contents of files count as: `private`, `untrusted`, both, or nothing. Files that a conversation wrote
    /// itself hold nothing new.
    #[schemars(length(max = 2))]
    pub files: Vec<FileFact>,
    /// How long what direct calls without a session have read counts after the last of them.
    #[schemars(extend("x-least" = "1s", "x-most" = "30d"))]
    pub direct_calls: Span,
}

/// What a file may count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFact {
    /// Private data of the user.
    Private,
    /// Text of unknown origin.
    Untrusted,
}

impl Default for ProvenanceKeys {
    fn default() -> Self {
        Self {
            files: vec![FileFact::Private, FileFact::Untrusted],
            direct_calls: Span::new(DIRECT_CALLS_COUNT_FOR),
        }
    }
}

impl ProvenanceKeys {
    /// What the contents of files count as.
    #[must_use]
    pub fn of_files(&self) -> Provenance {
        Provenance {
            private: self.files.contains(&FileFact::Private),
            untrusted: self.files.contains(&FileFact::Untrusted),
            ..Provenance::NONE
        }
    }
}

impl PolicyKeys {
    /// How command lines are judged.
    #[must_use]
    pub fn judging(&self) -> JudgeSettings {
        let allowlist = self.exec_allowlist.iter().map(|command| command.entry.clone()).collect();
        JudgeSettings { security: self.exec_security, allowlist }
    }

    /// What a confined program may add to the disk.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        u64::from(self.exec_disk_mib) * 1024 * 1024
    }
}

impl Default for PolicyKeys {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            approval_expires: Span::new(Duration::from_secs(24 * 3_600)),
            exec_security: Security::default(),
            exec_allowlist: Vec::new(),
            exec_sandbox: SandboxProfile::default(),
            exec_disk_mib: 2_048,
            provenance: ProvenanceKeys::default(),
        }
    }
}

/// `[files]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileKeys {
    /// Folders to read from.
    #[schemars(length(max = 100))]
    pub read: Vec<Folder>,
    /// Folders to read from and write to.
    #[schemars(length(max = 100))]
    pub write: Vec<Folder>,
    /// Credential files that programs in the sandbox may read, by their names: `.env`, `.aws/config`; `*` is all of them.
    #[schemars(length(max = 100), extend("x-stricter" = "fewer"))]
    pub programs_read: Vec<String>,
}

/// `[network]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkKeys {
    /// Names, addresses and ranges of private networks that every tool may reach, with a port if need be:
    /// `printer.lan`, `localhost:11434`, `10.1.2.3:8080`, `192.168.0.0/16`.
    #[schemars(length(max = 100))]
    pub open: Vec<Destination>,
}

/// `[redaction]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionKeys {
    /// Hide whatever has the format of a known kind of key, not only stored secrets.
    #[schemars(extend("x-stricter" = "on"))]
    pub patterns: bool,
    /// Hide the values of environment variables that look like secrets.
    #[schemars(extend("x-stricter" = "on"))]
    pub environment: bool,
}

impl Default for RedactionKeys {
    fn default() -> Self {
        Self { patterns: true, environment: true }
    }
}

/// `[tool.<name>]`: limits in place of the tool's own, and what is opened to it. What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolKeys {
    /// How often it may be called: `3/h`, `20/day project`, or a list of such rates, which all hold. Counted for each
    /// user, or for the whole `project`. An empty list is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-stricter" = "beside"))]
    pub rate: Option<Rates>,
    /// How many calls of it one process runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000), extend("x-stricter" = "smaller"))]
    pub concurrency: Option<u16>,
    /// How long it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1ms", "x-most" = "24h", "x-stricter" = "shorter"))]
    pub timeout: Option<Span>,
    /// How many characters of its result a caller gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 10_000_000), extend("x-stricter" = "smaller"))]
    pub result_cap: Option<u32>,
    /// Destinations as in `network.open`, for this tool alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub open: Option<Vec<Destination>>,
}

impl ToolKeys {
    /// The limits as the catalog takes them.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            rates: self.rate.as_ref().map(Rates::limits),
            concurrency: self.concurrency.map(usize::from),
            timeout: self.timeout.map(Span::duration),
            // A cap beyond what this machine can address caps nothing.
            result_cap: self.result_cap.map(|cap| usize::try_from(cap).unwrap_or(usize::MAX)),
        }
    }
}

/// A rule, and where it was written. Whoever compiles it tells its errors with that place.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigRule {
    /// The rule.
    pub text: RuleText,
    /// Which file it is from. A rule of a project that is not trusted may not allow anything.
    pub origin: Origin,
    /// The line it begins in.
    pub line: Option<usize>,
}

/// Limits of some tools, and where they were written.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigLimits {
    /// Which tools: id, bare name, family or pattern.
    pub tool: String,
    /// The limits.
    pub keys: ToolKeys,
    /// Whether they may also widen.
    pub mode: LimitMode,
    /// Which file they are from.
    pub origin: Origin,
    /// The line they begin in.
    pub line: Option<usize>,
}
