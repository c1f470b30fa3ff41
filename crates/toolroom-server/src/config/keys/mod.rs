//! The keys of `toolroom.toml`.
//!
//! A key is a field with a doc comment. The name of its environment variable, its reference entry, its check and its
//! line in `config show` are derived from the JSON Schema. Three schema attributes add what a type cannot express:
//! `x-least` and `x-most` bound a span, and `x-stricter` says which values are stricter. Untrusted project files cannot
//! set a key without `x-stricter`.

pub(super) mod agents;
mod operations;
mod server;
mod services;
pub(super) mod vendors;

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::catalog::{LimitMode, Limits};
use toolroom::policy::{Preset, Provenance, RuleText};
use toolroom::provenance::DIRECT_CALLS_COUNT_FOR;
use toolroom_tools::shell::judge::{JudgeSettings, Security};

pub use agents::{AgentKeys, AgentLimitKeys, ConfigAgent};
pub use operations::{LogFormat, LogKeys, LogLevel, RetentionKeys};
pub use server::{AddressRange, ListenAddress, ServedName, ServerKeys};
pub use services::{CalendarKeys, EngineKeys, LocationKeys, SearchKeys, TelemetryKeys};
pub use vendors::{ConfigVendor, ModelChain, VendorKeys, VendorWire};

use crate::config::{AllowedCommand, Destination, Folder, Origin, Rates, SandboxProfile, Span};

/// The settings of Toolroom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "toolroom.toml")]
pub struct Config {
    /// Folder in which tools read, write and start programs. Default: a folder next to the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Folder>,
    /// What runs without approval, and how long approvals wait.
    pub policy: PolicyKeys,
    /// Additional folders that tools may access.
    pub files: FileKeys,
    /// Private network destinations that tools may reach.
    pub network: NetworkKeys,
    /// Web search engines.
    pub search: SearchKeys,
    /// Geolocation service.
    pub location: LocationKeys,
    /// Calendar for events.
    pub calendar: CalendarKeys,
    /// What is redacted in results, the journal and logs.
    pub redaction: RedactionKeys,
    /// How long data is kept. Applied once a day by `toolroom serve`, and by `toolroom prune`.
    pub retention: RetentionKeys,
    /// Address and limits of `toolroom serve`.
    pub server: ServerKeys,
    /// Log of `toolroom serve`.
    pub log: LogKeys,
    /// Traces of `toolroom serve`.
    pub telemetry: TelemetryKeys,
    /// Default model as `vendor/model`, or a list with fallbacks. Default: the first vendor with a key or URL, else the
    /// built-in offline mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChain>,
    /// Model vendors, by name.
    #[serde(skip)]
    #[schemars(!skip, rename = "vendor", with = "BTreeMap<String, VendorKeys>", extend("maxProperties" = 100))]
    pub vendors: Vec<ConfigVendor>,
    /// Agents, by id: letters, digits, `_`, `-` and `.`. Takes precedence over `toolroom agents set`.
    #[serde(skip)]
    #[schemars(!skip, rename = "agent", with = "BTreeMap<String, AgentKeys>", extend("maxProperties" = 100))]
    pub agents: Vec<ConfigAgent>,
    /// Limits of tools, by id, bare name, family, or a quoted pattern with `*` and `?`. Sections apply in order; later
    /// ones override earlier ones.
    #[serde(skip)]
    #[schemars(!skip, rename = "tool", with = "BTreeMap<String, ToolKeys>", extend("maxProperties" = 1000))]
    pub tools: Vec<ConfigLimits>,
    /// Rules that allow, ask about or deny calls.
    #[serde(skip)]
    #[schemars(!skip, rename = "rule", with = "Vec<RuleText>", length(max = 1000))]
    pub rules: Vec<ConfigRule>,
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyKeys {
    /// What runs without approval where no rule decides.
    #[schemars(extend("x-stricter" = "later"))]
    pub preset: Preset,
    /// Unanswered approvals are denied after this time.
    #[schemars(extend("x-least" = "1s", "x-most" = "30d", "x-stricter" = "shorter"))]
    pub approval_expires: Span,
    /// How shell commands are judged: `open` denies only dangerous commands, `cautious` also asks before risky ones,
    /// `strict` runs only those in `exec_allowlist`.
    #[schemars(extend("x-stricter" = "later"))]
    pub exec_security: Security,
    /// Commands allowed if `exec_security` is `strict`: programs with argument patterns, such as `git log *`. Every
    /// command of a line must be listed.
    #[schemars(length(max = 1000), extend("x-stricter" = "fewer"))]
    pub exec_allowlist: Vec<AllowedCommand>,
    /// Sandbox of commands: `workspace` (write to allowed folders, no network), `read-only`, `network:HOST,…` (workspace
    /// plus these hosts), or `off` (no sandbox; every command asks).
    #[schemars(extend("x-stricter" = "tighter"))]
    pub exec_sandbox: SandboxProfile,
    /// Disk space in MiB that a sandboxed command may use, and the size of its temporary folders.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub exec_disk_mib: u32,
    /// Provenance of what a call has read.
    pub provenance: ProvenanceKeys,
}

/// `[policy.provenance]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProvenanceKeys {
    /// What file contents count as: `private`, `untrusted`, both or neither. Files written by the same conversation add
    /// nothing.
    #[schemars(length(max = 2))]
    pub files: Vec<FileFact>,
    /// How long the provenance of direct calls without a session lasts after the last call.
    #[schemars(extend("x-least" = "1s", "x-most" = "30d"))]
    pub direct_calls: Span,
}

/// What file contents count as.
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
    /// Provenance of file contents.
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
    /// The settings of the shell judge.
    #[must_use]
    pub fn judging(&self) -> JudgeSettings {
        let allowlist = self.exec_allowlist.iter().map(|command| command.entry.clone()).collect();
        JudgeSettings { security: self.exec_security, allowlist }
    }

    /// Disk limit of a sandboxed command.
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
    /// Folders that tools may read.
    #[schemars(length(max = 100))]
    pub read: Vec<Folder>,
    /// Folders that tools may read and write.
    #[schemars(length(max = 100))]
    pub write: Vec<Folder>,
    /// Credential files that sandboxed programs may read, by name: `.env`, `.aws/config`; `*` for all.
    #[schemars(length(max = 100), extend("x-stricter" = "fewer"))]
    pub programs_read: Vec<String>,
}

/// `[network]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkKeys {
    /// Hosts, addresses and ranges of private networks that every tool may reach, with an optional port:
    /// `printer.lan`, `localhost:11434`, `10.1.2.3:8080`, `192.168.0.0/16`.
    #[schemars(length(max = 100))]
    pub open: Vec<Destination>,
}

/// `[redaction]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionKeys {
    /// Redact text in known API key formats, in addition to stored secrets.
    #[schemars(extend("x-stricter" = "on"))]
    pub patterns: bool,
    /// Redact values of environment variables that look like secrets.
    #[schemars(extend("x-stricter" = "on"))]
    pub environment: bool,
}

impl Default for RedactionKeys {
    fn default() -> Self {
        Self { patterns: true, environment: true }
    }
}

/// `[tool.<name>]`: overrides the limits of a tool, and opens network destinations to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolKeys {
    /// Rate limit: `3/h`, `20/day project`, or a list of rates that all apply. Counted per user, or for the whole
    /// `project`. An empty list means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-stricter" = "beside"))]
    pub rate: Option<Rates>,
    /// Maximum number of concurrent calls per process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000), extend("x-stricter" = "smaller"))]
    pub concurrency: Option<u16>,
    /// Time limit of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1ms", "x-most" = "24h", "x-stricter" = "shorter"))]
    pub timeout: Option<Span>,
    /// Maximum number of characters of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 10_000_000), extend("x-stricter" = "smaller"))]
    pub result_cap: Option<u32>,
    /// Destinations as in `network.open`, for this tool only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub open: Option<Vec<Destination>>,
}

impl ToolKeys {
    /// The limits for the catalog.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            rates: self.rate.as_ref().map(Rates::limits),
            concurrency: self.concurrency.map(usize::from),
            timeout: self.timeout.map(Span::duration),
            result_cap: self.result_cap.map(|cap| usize::try_from(cap).unwrap_or(usize::MAX)),
        }
    }
}

/// A rule with its position, for error messages.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigRule {
    /// The rule.
    pub text: RuleText,
    /// Its origin. A rule from an untrusted project file may not allow anything.
    pub origin: Origin,
    /// The line where it starts.
    pub line: Option<usize>,
}

/// A limits section with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigLimits {
    /// The tools: id, bare name, family or pattern.
    pub tool: String,
    /// The limits.
    pub keys: ToolKeys,
    /// Whether they replace limits or only restrict.
    pub mode: LimitMode,
    /// Their origin.
    pub origin: Origin,
    /// The line where they start.
    pub line: Option<usize>,
}
