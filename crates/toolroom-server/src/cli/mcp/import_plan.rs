//! What an import would do, worked out before anything is done.

use std::collections::BTreeMap;

use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, Reached, ServerRecord};
use toolroom::redact::Secret;
use toolroom_host::environment::{is_secret_variable, variable};
use toolroom_host::net::Url;
use toolroom_tools::mcp::import::{Given, Imported, Source, Way};

/// The sandbox of a program that somebody else entered.
const PROFILE: &str = "workspace";

/// Values that say how something is done and nothing else.
const PLAIN: [&str; 16] = [
    "debug",
    "development",
    "disabled",
    "enabled",
    "error",
    "false",
    "info",
    "no",
    "off",
    "on",
    "production",
    "stdio",
    "test",
    "true",
    "warn",
    "yes",
];

/// A number with more digits may be a secret.
const MAX_DIGITS: usize = 5;

/// The longest name of a secret.
const MAX_SECRET_CHARS: usize = 100;

/// One server, and what would become of it.
pub(super) struct Planned {
    pub(super) source: Source,
    pub(super) file: String,
    pub(super) record: ServerRecord,
    /// Secrets that its entry names; those without a value have to be set by hand.
    pub(super) secrets: Vec<(String, Option<String>)>,
    pub(super) fate: Fate,
}

/// What would become of it.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    New,
    Changed,
    Same,
}

/// What is kept before an import.
pub(super) struct Before {
    pub(super) servers: Vec<ServerRecord>,
    pub(super) secrets: Vec<Secret>,
    pub(super) now: Timestamp,
}

impl Before {
    /// What would become of a server, after `planned` have become what they would.
    pub(super) fn plan(
        &self,
        source: Source,
        file: &str,
        imported: &Imported,
        planned: &[Planned],
    ) -> Planned {
        let from = format!("{}:{}", source.name(), imported.called);
        let known = || planned.iter().map(|planned| &planned.record).chain(&self.servers);
        let of_name = |name: &str| known().find(|server| server.name == name);
        let earlier = known().find(|server| server.imported_from.as_deref() == Some(from.as_str()));
        let mut name = earlier.map_or_else(|| imported.name.clone(), |server| server.name.clone());
        let (mut reached, mut secrets) = entered(&name, &imported.way);
        // Another server has that name: this one is told apart by where it comes from.
        if earlier.is_none() && of_name(&name).is_some_and(|other| other.reached != reached) {
            name = format!("{}-{}", imported.name, source.name());
            (reached, secrets) = entered(&name, &imported.way);
        }
        let before = of_name(&name);
        let is_same_secret = |(name, value): &(String, Option<String>)| {
            let new = planned.iter().flat_map(|planned| &planned.secrets);
            let new = new.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
            let kept = self.secrets.iter().map(|secret| (secret.name(), secret.expose()));
            let found = new.chain(kept).find(|(known, _)| known == name).map(|(_, value)| value);
            value.is_none() || found == value.as_deref()
        };
        let fate = match before {
            None => Fate::New,
            Some(before)
                if before.reached == reached
                    && before.timeout_seconds == imported.timeout_seconds
                    && secrets.iter().all(is_same_secret) =>
            {
                Fate::Same
            }
            Some(_) => Fate::Changed,
        };
        let record = ServerRecord {
            name,
            reached,
            is_enabled: before.map_or(imported.is_enabled, |before| before.is_enabled),
            timeout_seconds: imported.timeout_seconds,
            imported_from: before.and_then(|before| before.imported_from.clone()).or(Some(from)),
            changed_at: self.now,
        };
        Planned { source, file: file.to_owned(), record, secrets, fate }
    }

    /// Whether a secret has a value, now or after the import.
    pub(super) fn is_kept(&self, name: &str) -> bool {
        self.secrets.iter().any(|secret| secret.name() == name)
    }
}

/// How a server is reached, with everything that may be secret taken out of it.
fn entered(name: &str, way: &Way) -> (Reached, Vec<(String, Option<String>)>) {
    let mut secrets = Vec::new();
    let mut values = |given: &BTreeMap<String, Given>| -> BTreeMap<String, EntryValue> {
        given.iter().map(|(key, given)| (key.clone(), kept(name, key, given, &mut secrets))).collect()
    };
    let reached = match way {
        Way::Program { command, arguments, folder, environment } => Reached::Stdio(ProgramEntry {
            command: command.clone(),
            arguments: arguments.clone(),
            folder: folder.clone(),
            environment: values(environment),
            profile: PROFILE.to_owned(),
            readable: Vec::new(),
        }),
        Way::Address { url, is_sse, headers } => {
            let entry = AddressEntry { url: url.clone(), headers: values(headers) };
            if *is_sse { Reached::Sse(entry) } else { Reached::Http(entry) }
        }
    };
    (reached, secrets)
}

fn kept(server: &str, key: &str, given: &Given, secrets: &mut Vec<(String, Option<String>)>) -> EntryValue {
    let (name, value) = match given {
        Given::Text(text) if is_plain(key, text) => return EntryValue::Plain(text.clone()),
        Given::Text(text) => (key, Some(text.clone())),
        Given::Asked(id) => (id.as_str(), None),
        Given::Variable(before, from) => (key, variable(from).map(|value| format!("{before}{value}"))),
    };
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let name: String = format!("mcp.{server}.{name}").chars().map(fine).take(MAX_SECRET_CHARS).collect();
    secrets.push((name.clone(), value));
    EntryValue::Secret(name)
}

/// Whether a value is certainly none that somebody has to hide: everything else is sealed.
fn is_plain(key: &str, value: &str) -> bool {
    if is_secret_variable(key, value) {
        return false;
    }
    let is_number = value.len() <= MAX_DIGITS && value.chars().all(|c| c.is_ascii_digit());
    let is_path = ["/", "~/", "./"].iter().any(|start| value.starts_with(start)) && !value.contains('=');
    let is_address = Url::parse(value).is_ok_and(|url| {
        let is_bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        is_bare && matches!(url.scheme(), "http" | "https")
    });
    is_number || is_path || is_address || PLAIN.contains(&value.to_ascii_lowercase().as_str())
}
