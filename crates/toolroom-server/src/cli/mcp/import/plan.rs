//! What an import would do, worked out before anything is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolroom::clock::Timestamp;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, ServerRecord, ServerTraits, Transport};
use toolroom::redact::Secret;
use toolroom_host::process::{FoundProgram, Variables};
use toolroom_tools::mcp::import::{Given, Imported, Source, Way};

use super::values::{Sealing, SecretPlan};
use crate::gateway::{StoredSecrets, check_headers, check_way, is_same_server};
use crate::settings::Fate;

/// The sandbox of a program that somebody else entered.
const PROFILE: &str = "workspace";

/// Names that are tried before a server is passed over.
const MAX_NAMES: usize = 50;

/// Where a file is, which says how far it is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the person's own.
    Home,
    /// It came with a folder, which somebody else may have written.
    Folder,
    /// The person has named it.
    Named,
}

/// A file of another program.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) source: Source,
    pub(super) place: Place,
    pub(super) path: PathBuf,
    /// Where its relative paths begin.
    pub(super) base: PathBuf,
}

impl Origin {
    /// Which server this is, whatever it is named here: the same name in another place is another one.
    fn identity(&self, imported: &Imported) -> String {
        let place = match self.place {
            Place::Home => "home".to_owned(),
            Place::Folder => self.base.display().to_string(),
            Place::Named => self.path.display().to_string(),
        };
        let within = imported.within.as_ref().map(|folder| format!("{folder}:")).unwrap_or_default();
        format!("{}:{place}:{within}{}", self.source.name(), imported.called)
    }

    pub(super) fn is_of_others(&self) -> bool {
        self.place == Place::Folder
    }
}

/// One server, and what would become of it.
pub(super) struct Planned {
    pub(super) origin: Origin,
    pub(super) called: String,
    pub(super) record: ServerRecord,
    pub(super) secrets: Vec<SecretPlan>,
    pub(super) fate: Fate,
    /// What it was before, if that is something else.
    pub(super) before: Option<Transport>,
    /// What its entry says that cannot be taken over.
    pub(super) left: Vec<String>,
}

/// What is kept before an import.
pub(super) struct Before {
    pub(super) servers: Vec<ServerRecord>,
    pub(super) secrets: Vec<Secret>,
    pub(super) stored: StoredSecrets,
    pub(super) workspace: PathBuf,
    pub(super) now: Timestamp,
}

/// An entry as a file says it, under a name.
struct Entered {
    name: String,
    transport: Transport,
    secrets: Vec<SecretPlan>,
    left: Vec<String>,
}

impl Before {
    /// What would become of a server, after `planned` have become what they would; why nothing, otherwise.
    pub(super) fn plan(
        &self,
        origin: &Origin,
        imported: &Imported,
        planned: &[Planned],
    ) -> Result<Planned, String> {
        let from = origin.identity(imported);
        let known = || planned.iter().map(|planned| &planned.record).chain(&self.servers);
        let earlier = known().find(|server| server.imported_from.as_deref() == Some(from.as_str()));
        let (entered, before) = match earlier {
            Some(server) => (self.entered(origin, &server.name, imported)?, Some(server)),
            None => self.named(origin, imported, planned)?,
        };
        let Entered { name, transport, secrets, left } = entered;
        // Only a change there is one: what a person has said here since stays.
        let is_same = |server: &ServerRecord| {
            server.imported_as.as_deref().unwrap_or(&server.transport) == &transport
                && self.are_known(&secrets, planned)
        };
        let fate = match before {
            None => Fate::New,
            Some(server) if is_same(server) => Fate::Same,
            Some(_) => Fate::Changed,
        };
        let mut record = ServerRecord {
            name,
            imported_as: Some(Box::new(transport.clone())),
            transport,
            is_enabled: imported.is_enabled && !origin.is_of_others(),
            timeout_seconds: imported.timeout_seconds,
            imported_from: Some(from),
            // What a file brings says nothing about what tools do.
            traits: ServerTraits::default(),
            changed_at: self.now,
        };
        if let Some(before) = before {
            // Another program or address in a file of others is not what a person has said anything about.
            let is_believed = !origin.is_of_others() || is_same_server(before, &record);
            if is_believed {
                keep_own(&mut record.transport, &before.transport);
            }
            if is_same_server(before, &record) {
                record.traits = before.traits.clone();
            }
            record.is_enabled = before.is_enabled && is_believed;
            record.imported_from = before.imported_from.clone().or(record.imported_from);
        }
        let before =
            before.filter(|before| !is_same_server(before, &record)).map(|before| before.transport.clone());
        let called = imported.called.clone();
        Ok(Planned { origin: origin.clone(), called, record, secrets, fate, before, left })
    }

    /// A name for a server that is not known yet. Where another one has its name, it is told apart by where it comes
    /// from; only if that one is the very same there is nothing to do.
    fn named<'a>(
        &'a self,
        origin: &Origin,
        imported: &Imported,
        planned: &'a [Planned],
    ) -> Result<(Entered, Option<&'a ServerRecord>), String> {
        let known = || planned.iter().map(|planned| &planned.record).chain(&self.servers);
        let apart = if origin.is_of_others() { "folder" } else { origin.source.name() };
        let numbered = (2..MAX_NAMES).map(|number| format!("{}-{number}", imported.name));
        let names = [imported.name.clone(), format!("{}-{apart}", imported.name)].into_iter().chain(numbered);
        for name in names {
            let entered = self.entered(origin, &name, imported)?;
            match known().find(|server| server.name == name) {
                None => return Ok((entered, None)),
                Some(other) => {
                    let said = other.imported_as.as_deref().unwrap_or(&other.transport);
                    if *said == entered.transport && self.are_known(&entered.secrets, planned) {
                        return Ok((entered, Some(other)));
                    }
                }
            }
        }
        Err("too many servers have its name".to_owned())
    }

    /// Whether secrets have the values they would get.
    fn are_known(&self, secrets: &[SecretPlan], planned: &[Planned]) -> bool {
        secrets.iter().all(|secret| {
            let new = planned.iter().flat_map(|planned| &planned.secrets);
            let new = new.filter_map(|known| Some((known.name.as_str(), known.value.as_deref()?)));
            let kept = self.secrets.iter().map(|known| (known.name(), known.expose()));
            let found = new.chain(kept).find(|(known, _)| *known == secret.name).map(|(_, value)| value);
            secret.value.is_none() || found == secret.value.as_deref()
        })
    }

    /// Whether a secret has a value, now or after the import.
    pub(super) fn is_kept(&self, name: &str) -> bool {
        self.secrets.iter().any(|secret| secret.name() == name)
    }

    /// How a server is transport, with everything that may be secret taken out of it.
    fn entered(&self, origin: &Origin, name: &str, imported: &Imported) -> Result<Entered, String> {
        let mut sealing = Sealing::new(name, (!origin.is_of_others()).then_some(&self.stored));
        let mut left = Vec::new();
        let transport = match &imported.way {
            Way::Program { command, arguments, folder, environment } => {
                let folder = match folder {
                    Some(folder) => Some(text(&origin.base.join(folder))?),
                    None if origin.is_of_others() => Some(text(&origin.base)?),
                    None => None,
                };
                let base = folder.as_ref().map_or(origin.base.as_path(), Path::new);
                let mut values = BTreeMap::new();
                for (key, given) in environment {
                    match Variables::clean().with(key, "") {
                        Ok(_) => drop(values.insert(key.clone(), sealing.value(key, given))),
                        Err(error) => left.push(format!("a variable of `{}`: {error}", imported.called)),
                    }
                }
                Transport::Stdio(ProgramEntry {
                    command: self.program(command, base)?,
                    arguments: sealing.arguments(arguments),
                    folder,
                    environment: values,
                    profile: PROFILE.to_owned(),
                    readable: Vec::new(),
                })
            }
            Way::Address { url, is_sse, headers } => {
                let mut value = |(key, given): (&String, &Given)| -> (String, EntryValue) {
                    (key.clone(), sealing.value(key, given))
                };
                let headers = headers.iter().map(&mut value).collect();
                let entry = AddressEntry { url: sealing.address(url), headers, is_internal: false };
                check_headers(&entry)?;
                check_way(&entry)?;
                if *is_sse { Transport::Sse(entry) } else { Transport::Http(entry) }
            }
        };
        self.stored.check(&transport)?;
        Ok(Entered { name: name.to_owned(), transport, secrets: sealing.secrets, left })
    }

    /// A program by its name, or where a path leads now: another one that lies there later is not started.
    fn program(&self, command: &str, base: &Path) -> Result<String, String> {
        if !command.contains('/') {
            return Ok(command.to_owned());
        }
        let found = FoundProgram::find(command, base).map(|found| found.path);
        let path = match found {
            Some(path) => path,
            None if Path::new(command).is_absolute() => PathBuf::from(command),
            None => return Err(format!("there is no program `{command}` where it says")),
        };
        match path.starts_with(&self.workspace) {
            true => Err("its program lies in the workspace, where every tool can change it".to_owned()),
            false => text(&path),
        }
    }
}

/// What a person has said about an entry, which no file can.
fn keep_own(new: &mut Transport, before: &Transport) {
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
