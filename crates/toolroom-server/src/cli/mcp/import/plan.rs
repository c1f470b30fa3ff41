//! Plans an import without changing anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolroom::clock::Timestamp;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, ServerRecord, ServerTraits, Transport};
use toolroom::redact::Secret;
use toolroom_host::process::{FoundProgram, Variables};
use toolroom_tools::mcp::import::{ImportSource, ImportTarget, ImportedServer, ImportedValue};

use super::values::{PlannedSecret, SecretExtractor};
use crate::gateway::{StoredSecrets, check_encryption, check_headers, is_same_server};
use crate::settings::ImportState;

/// The sandbox profile of imported programs.
const PROFILE: &str = "workspace";

/// Names that are tried for a server.
const MAX_NAMES: usize = 50;

/// Where a file is, which decides whether it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileOwner {
    /// In the user's home folder.
    Home,
    /// In the working folder. Untrusted: it may come from a repository.
    Folder,
    /// Named on the command line.
    Named,
}

/// A configuration file of another program.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) source: ImportSource,
    pub(super) owner: FileOwner,
    pub(super) path: PathBuf,
    /// The base of its relative paths.
    pub(super) base: PathBuf,
}

impl Origin {
    /// Identifies the server across imports, independent of its name here.
    fn identity(&self, imported: &ImportedServer) -> String {
        let place = match self.owner {
            FileOwner::Home => "home".to_owned(),
            FileOwner::Folder => self.base.display().to_string(),
            FileOwner::Named => self.path.display().to_string(),
        };
        let folder = imported.for_folder.as_ref().map(|folder| format!("{folder}:")).unwrap_or_default();
        format!("{}:{place}:{folder}{}", self.source.name(), imported.original_name)
    }

    pub(super) fn is_untrusted(&self) -> bool {
        self.owner == FileOwner::Folder
    }
}

/// A server, and what the import would do with it.
pub(super) struct PlannedServer {
    pub(super) origin: Origin,
    pub(super) original_name: String,
    pub(super) record: ServerRecord,
    pub(super) secrets: Vec<PlannedSecret>,
    pub(super) fate: ImportState,
    /// The program or address that is replaced by another one.
    pub(super) before: Option<Transport>,
    /// Settings of its entry that are not imported.
    pub(super) ignored: Vec<String>,
}

/// What exists before the import.
pub(super) struct ExistingState {
    pub(super) servers: Vec<ServerRecord>,
    pub(super) secrets: Vec<Secret>,
    pub(super) stored: StoredSecrets,
    pub(super) workspace: PathBuf,
    pub(super) now: Timestamp,
}

/// An entry under a name, with its secrets extracted.
struct SealedEntry {
    name: String,
    transport: Transport,
    secrets: Vec<PlannedSecret>,
    ignored: Vec<String>,
}

impl ExistingState {
    /// Plans a server, given those planned before it. An error is the reason for skipping it.
    pub(super) fn plan(
        &self,
        origin: &Origin,
        imported: &ImportedServer,
        planned: &[PlannedServer],
    ) -> Result<PlannedServer, String> {
        let from = origin.identity(imported);
        let known = || planned.iter().map(|planned| &planned.record).chain(&self.servers);
        let earlier = known().find(|server| server.imported_from.as_deref() == Some(from.as_str()));
        let (sealed, before) = match earlier {
            Some(server) => (self.sealed(origin, &server.name, imported)?, Some(server)),
            None => self.with_free_name(origin, imported, planned)?,
        };
        let SealedEntry { name, transport, secrets, ignored } = sealed;
        // Compared with what was imported last: the user's own changes since then are kept.
        let is_same = |server: &ServerRecord| {
            server.imported_as.as_deref().unwrap_or(&server.transport) == &transport
                && self.are_known(&secrets, planned)
        };
        let fate = match before {
            None => ImportState::New,
            Some(server) if is_same(server) => ImportState::Same,
            Some(_) => ImportState::Changed,
        };
        let mut record = ServerRecord {
            name,
            imported_as: Some(Box::new(transport.clone())),
            transport,
            is_enabled: imported.is_enabled && !origin.is_untrusted(),
            timeout_seconds: imported.timeout_seconds,
            imported_from: Some(from),
            // A file cannot declare what tools do.
            traits: ServerTraits::default(),
            changed_at: self.now,
        };
        if let Some(before) = before {
            // The user's settings do not apply to another program or address from an untrusted file.
            let is_trusted = !origin.is_untrusted() || is_same_server(before, &record);
            if is_trusted {
                keep_user_settings(&mut record.transport, &before.transport);
            }
            if is_same_server(before, &record) {
                record.traits = before.traits.clone();
            }
            record.is_enabled = before.is_enabled && is_trusted;
            record.imported_from = before.imported_from.clone().or(record.imported_from);
        }
        let before =
            before.filter(|before| !is_same_server(before, &record)).map(|before| before.transport.clone());
        let original_name = imported.original_name.clone();
        Ok(PlannedServer { origin: origin.clone(), original_name, record, secrets, fate, before, ignored })
    }

    /// Finds a free name for a new server, with a suffix if necessary. Returns the existing server if it is identical.
    fn with_free_name<'a>(
        &'a self,
        origin: &Origin,
        imported: &ImportedServer,
        planned: &'a [PlannedServer],
    ) -> Result<(SealedEntry, Option<&'a ServerRecord>), String> {
        let known = || planned.iter().map(|planned| &planned.record).chain(&self.servers);
        let suffix = if origin.is_untrusted() { "folder" } else { origin.source.name() };
        let numbered = (2..MAX_NAMES).map(|number| format!("{}-{number}", imported.name));
        let names =
            [imported.name.clone(), format!("{}-{suffix}", imported.name)].into_iter().chain(numbered);
        for name in names {
            let sealed = self.sealed(origin, &name, imported)?;
            match known().find(|server| server.name == name) {
                None => return Ok((sealed, None)),
                Some(other) => {
                    let imported_as = other.imported_as.as_deref().unwrap_or(&other.transport);
                    if *imported_as == sealed.transport && self.are_known(&sealed.secrets, planned) {
                        return Ok((sealed, Some(other)));
                    }
                }
            }
        }
        Err("too many servers have this name".to_owned())
    }

    /// Whether secrets have the values that they would get.
    fn are_known(&self, secrets: &[PlannedSecret], planned: &[PlannedServer]) -> bool {
        secrets.iter().all(|secret| {
            let new = planned.iter().flat_map(|planned| &planned.secrets);
            let new = new.filter_map(|known| Some((known.name.as_str(), known.value.as_deref()?)));
            let stored = self.secrets.iter().map(|known| (known.name(), known.expose()));
            let found = new.chain(stored).find(|(known, _)| *known == secret.name).map(|(_, value)| value);
            secret.value.is_none() || found == secret.value.as_deref()
        })
    }

    /// Whether a secret is stored.
    pub(super) fn has_secret(&self, name: &str) -> bool {
        self.secrets.iter().any(|secret| secret.name() == name)
    }

    /// Extracts the secrets of an entry.
    fn sealed(&self, origin: &Origin, name: &str, imported: &ImportedServer) -> Result<SealedEntry, String> {
        let mut extractor = SecretExtractor::new(name, (!origin.is_untrusted()).then_some(&self.stored));
        let mut ignored = Vec::new();
        let transport = match &imported.target {
            ImportTarget::Program { command, arguments, folder, environment } => {
                let folder = match folder {
                    Some(folder) => Some(text(&origin.base.join(folder))?),
                    None if origin.is_untrusted() => Some(text(&origin.base)?),
                    None => None,
                };
                let base = folder.as_ref().map_or(origin.base.as_path(), Path::new);
                let mut values = BTreeMap::new();
                for (key, given) in environment {
                    match Variables::clean().with(key, "") {
                        Ok(_) => drop(values.insert(key.clone(), extractor.value(key, given))),
                        Err(error) => {
                            ignored.push(format!("a variable of `{}`: {error}", imported.original_name));
                        }
                    }
                }
                Transport::Stdio(ProgramEntry {
                    command: self.program(command, base)?,
                    arguments: extractor.arguments(arguments),
                    folder,
                    environment: values,
                    profile: PROFILE.to_owned(),
                    readable: Vec::new(),
                })
            }
            ImportTarget::Address { url, is_sse, headers } => {
                let mut value = |(key, given): (&String, &ImportedValue)| -> (String, EntryValue) {
                    (key.clone(), extractor.value(key, given))
                };
                let headers = headers.iter().map(&mut value).collect();
                let entry = AddressEntry { url: extractor.address(url), headers, is_internal: false };
                check_headers(&entry)?;
                check_encryption(&entry)?;
                if *is_sse { Transport::Sse(entry) } else { Transport::Http(entry) }
            }
        };
        self.stored.check(&transport)?;
        Ok(SealedEntry { name: name.to_owned(), transport, secrets: extractor.secrets, ignored })
    }

    /// A command name, or the resolved path: a program that appears there later is not started.
    fn program(&self, command: &str, base: &Path) -> Result<String, String> {
        if !command.contains('/') {
            return Ok(command.to_owned());
        }
        let found = FoundProgram::find(command, base).map(|found| found.path);
        let path = match found {
            Some(path) => path,
            None if Path::new(command).is_absolute() => PathBuf::from(command),
            None => return Err(format!("program `{command}` not found")),
        };
        match path.starts_with(&self.workspace) {
            true => Err("its program is in the workspace, where every tool can change it".to_owned()),
            false => text(&path),
        }
    }
}

/// Keeps the settings that only the user can make.
fn keep_user_settings(new: &mut Transport, before: &Transport) {
    match (new, before) {
        (Transport::Stdio(new), Transport::Stdio(before)) => {
            new.profile.clone_from(&before.profile);
            new.readable.clone_from(&before.readable);
        }
        (Transport::Http(new) | Transport::Sse(new), Transport::Http(before) | Transport::Sse(before)) => {
            new.is_internal = before.is_internal && new.url == before.url;
        }
        _ => {}
    }
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "a path of it is not UTF-8".to_owned())
}
