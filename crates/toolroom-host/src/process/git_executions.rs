//! Finds what git would run for the next user of a repository, in its settings, hooks, and the files these refer to.
//!
//! Relative paths in settings start at the top folder of a working tree. A repository can have several, so all candidates
//! are tried.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::git_settings::{ConfiguredProgram, Setting, doubtful};
use super::repository_scan::{REPOSITORY, RepositoryScan};
use super::restore::SET_ASIDE;
use super::wire::GitOwner;
use crate::path_with_links::PathWithLinks;
use crate::regular_file::{Links, RegularFile};

/// Longer files are not parsed, and count as one execution.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// Maximum number of hooks read per folder. More count as one execution.
const MAX_HOOKS: usize = 200;

/// Maximum include depth, as in git.
const MAX_INCLUDES: usize = 10;

/// The settings files of a repository.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// The folder of husky's hook wrappers, which run the hooks in the parent folder.
const WRAPPERS: &str = "_";

/// Identifies an execution.
pub(super) type Digest = [u8; 32];

/// A command git would run.
#[derive(Debug)]
pub(super) struct GitExecution {
    pub(super) digest: Digest,
    /// The files and links that lead to it; the last one defines it.
    pub(super) chain: Vec<PathBuf>,
    /// Whether git finds it from a working tree, and not only in the repository's own folder.
    pub(super) is_used: bool,
}

/// A repository whose settings are read.
#[derive(Debug, Clone, Default)]
struct SettingsSource {
    /// The base folders of relative paths.
    tops: BTreeSet<PathBuf>,
    /// The files that link working trees to the repository.
    pointers: Vec<PathBuf>,
    is_used: bool,
    /// Whether a program could have written the settings.
    is_inside: bool,
}

/// The result of following a path.
struct Followed {
    /// The links on the way, and the file.
    chain: Vec<PathBuf>,
    end: PathBuf,
    content: FollowedContent,
}

enum FollowedContent {
    Nothing,
    /// Too long, not a regular file, or unreadable.
    Unreadable,
    Text(Vec<u8>),
}

impl RepositoryScan {
    /// Reads what git would run in the repositories that were found.
    pub(super) fn read_executions(&mut self, owner: &GitOwner) {
        let mut sources = self.sources();
        let tops: BTreeSet<PathBuf> = sources.values().flat_map(|source| source.tops.clone()).collect();
        for (repository, source) in &mut sources {
            for name in SETTINGS {
                self.look_at_settings(&repository.join(name), source, owner, 0);
            }
            if source.is_inside {
                self.look_at_hooks(&repository.join("hooks"), source);
            }
        }
        for settings in &owner.settings {
            let mut source = SettingsSource {
                tops: tops.clone(),
                is_used: true,
                is_inside: false,
                ..SettingsSource::default()
            };
            self.look_at_settings(settings, &mut source, owner, 0);
        }
    }

    /// Every repository whose settings apply, with the folders it is used from.
    fn sources(&mut self) -> BTreeMap<PathBuf, SettingsSource> {
        let mut sources: BTreeMap<PathBuf, SettingsSource> = BTreeMap::new();
        for repository in &self.repositories {
            let tops = [Some(repository.as_path()), repository.parent()];
            let is_used = is_in_repository(repository);
            let tops = tops.into_iter().flatten().map(Path::to_owned).collect();
            sources.insert(
                repository.clone(),
                SettingsSource { tops, is_used, is_inside: true, ..SettingsSource::default() },
            );
        }
        for pointer in self.pointers.clone() {
            let Some(place) = self.place_of_pointer(&pointer) else { continue };
            self.judge_place(&pointer, &place);
            let source = sources.entry(place).or_default();
            source.tops.extend(pointer.parent().map(Path::to_owned));
            source.pointers.push(pointer);
            source.is_used = true;
        }
        // Folders above, in a repository whose files cannot be changed.
        for above in self.roots.clone().iter().flat_map(|root| root.ancestors().skip(1)) {
            let place = self.place_of_pointer(&above.join(REPOSITORY));
            if let Some(place) = place.filter(|place| !self.is_inside(place)) {
                sources.entry(place).or_default().tops.insert(above.to_owned());
            }
        }
        for (repository, source) in sources.clone() {
            let file = repository.join("commondir");
            let common = self.follow(&file);
            let place = match common.content {
                FollowedContent::Nothing => continue,
                FollowedContent::Unreadable => {
                    self.add(&source, common.chain, b"unreadable", file.as_os_str());
                    continue;
                }
                FollowedContent::Text(text) => PathWithLinks::resolve(&repository.join(line_of(&text))).end,
            };
            if source.is_inside {
                self.judge_place(&file, &place);
            }
            let shared = sources.entry(place).or_default();
            shared.tops.extend(source.tops);
            shared.pointers.extend(source.pointers);
            shared.is_used |= source.is_used;
        }
        sources
    }

    /// The target of a `.git` file or link; `None` if git refuses it.
    fn place_of_pointer(&mut self, pointer: &Path) -> Option<PathBuf> {
        let found = self.follow(pointer);
        let above = pointer.parent()?;
        match found.content {
            FollowedContent::Text(text) => {
                let place = text.strip_prefix(b"gitdir: ")?;
                Some(PathWithLinks::resolve(&above.join(line_of(place))).end)
            }
            // A folder behind a link. A file too long for us may still be valid for git.
            FollowedContent::Nothing | FollowedContent::Unreadable => Some(found.end),
        }
    }

    /// A link to another place counts as an execution unless it is a scanned repository.
    fn judge_place(&mut self, pointer: &Path, place: &Path) {
        let digest = digest(b"place", place.as_os_str());
        self.places.push(digest);
        if !self.repositories.contains(place) {
            self.executions.push(GitExecution { digest, chain: vec![pointer.to_owned()], is_used: true });
        }
    }

    fn look_at_settings(&mut self, path: &Path, source: &mut SettingsSource, owner: &GitOwner, depth: usize) {
        let found = self.follow(path);
        let text = match found.content {
            FollowedContent::Nothing => return,
            FollowedContent::Unreadable => {
                return self.add(source, found.chain, b"unreadable", path.as_os_str());
            }
            FollowedContent::Text(text) => text,
        };
        let mut programs = Vec::new();
        for setting in doubtful(&text) {
            match setting {
                Setting::Runs(program) => {
                    let chain = found.chain.clone();
                    self.add(source, chain, b"runs", OsStr::new(&program.text));
                    programs.push(program);
                }
                Setting::Place(place) => {
                    let folder = path.parent().unwrap_or(path).join(place);
                    let end = PathWithLinks::resolve(&folder).end;
                    if !self.is_inside(&end) {
                        self.add(source, found.chain.clone(), b"worktree", folder.as_os_str());
                    }
                    source.tops.insert(end);
                }
            }
        }
        let around = [path, &found.end].into_iter().filter_map(Path::parent).map(Path::to_owned);
        let around: BTreeSet<PathBuf> = around.collect();
        for program in programs {
            let beginnings = if program.is_include { &around } else { &source.tops };
            let named = program.words.iter().flat_map(|word| named(word, beginnings, owner));
            for reference in named.collect::<Vec<_>>() {
                self.look_at_reference(&reference, &program, source, owner, depth);
            }
        }
    }

    /// A path that a setting may refer to.
    #[expect(clippy::disallowed_methods, reason = "this is the door: what a setting of git means")]
    fn look_at_reference(
        &mut self,
        path: &Path,
        program: &ConfiguredProgram,
        source: &SettingsSource,
        owner: &GitOwner,
        depth: usize,
    ) {
        let PathWithLinks { links, end } = PathWithLinks::resolve(path);
        if !self.is_inside(&end) && !links.iter().any(|link| self.is_inside(link)) {
            return;
        }
        let inside =
            SettingsSource { is_used: true, is_inside: true, pointers: Vec::new(), ..source.clone() };
        let found = end.symlink_metadata().ok();
        let is_folder = found.as_ref().is_some_and(Metadata::is_dir);
        let mut references = links;
        references.push(end.clone());
        if program.is_hooks {
            self.look_at_hooks(path, &inside);
            if let Some(above) = end.parent().filter(|_| end.ends_with(WRAPPERS)) {
                references.push(above.to_owned());
                self.look_at_hooks(above, &inside);
            }
        }
        // A missing file is watched only where it must never appear, and in the repository's own folder.
        let is_awaited = (program.is_hooks || program.is_include) && !is_in_repository(&end);
        if is_awaited || found.is_some_and(|found| program.is_hooks || !found.is_dir()) {
            let roots = &self.roots;
            let is_below = |path: &PathBuf| roots.iter().any(|root| path != root && path.starts_with(root));
            self.references.extend(references.into_iter().filter(is_below));
        }
        if program.is_include && depth < MAX_INCLUDES {
            self.look_at_settings(path, &mut inside.clone(), owner, depth + 1);
        } else if !is_folder {
            self.look_at_program(path, &[], &inside);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: the hooks of a repository")]
    fn look_at_hooks(&mut self, hooks: &Path, source: &SettingsSource) {
        let PathWithLinks { links, end } = PathWithLinks::resolve(hooks);
        if !links.is_empty() && !self.is_inside(&end) {
            return self.add(source, links, b"link", end.as_os_str());
        }
        // An unreadable folder is reported by the scan.
        let entries = std::fs::read_dir(&end).into_iter().flatten().flatten();
        for (count, entry) in entries.filter(|entry| !is_inert(&entry.file_name())).enumerate() {
            if count >= MAX_HOOKS {
                return self.add(source, vec![end.clone()], b"many", end.as_os_str());
            }
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.look_at_program(&entry.path(), &links, source);
            }
        }
    }

    /// A file that git runs, reached through `links`.
    fn look_at_program(&mut self, path: &Path, links: &[PathBuf], source: &SettingsSource) {
        let found = self.follow(path);
        let chain = [links, &found.chain].concat();
        let (kind, what): (&[u8], _) = match found.content {
            _ if !self.is_inside(&found.end) => (b"link", found.end.as_os_str().as_bytes().to_vec()),
            FollowedContent::Nothing => return,
            FollowedContent::Unreadable => (b"unreadable", identity(&found.end).into_bytes()),
            FollowedContent::Text(text) => {
                let name = path.file_name().unwrap_or_default();
                (b"hook", [name.as_bytes(), &[0], &text].concat())
            }
        };
        self.add(source, chain, kind, OsStr::from_bytes(&what));
    }

    fn follow(&mut self, path: &Path) -> Followed {
        let PathWithLinks { links, end } = PathWithLinks::resolve(path);
        let content = match RegularFile::open(&end, Links::Refuse) {
            Ok(None) => FollowedContent::Nothing,
            Ok(Some(file)) => {
                file.read(MAX_FILE_BYTES).map_or(FollowedContent::Unreadable, FollowedContent::Text)
            }
            Err(_) => FollowedContent::Unreadable,
        };
        let mut chain = links;
        chain.push(end.clone());
        chain.retain(|path| self.is_inside(path));
        if !matches!(content, FollowedContent::Nothing) || chain.len() > 1 {
            self.files.extend(chain.iter().cloned());
        }
        Followed { chain, end, content }
    }

    fn add(&mut self, source: &SettingsSource, chain: Vec<PathBuf>, kind: &[u8], what: &OsStr) {
        if source.is_inside && !chain.is_empty() {
            let chain = [source.pointers.clone(), chain].concat();
            self.executions.push(GitExecution { digest: digest(kind, what), chain, is_used: source.is_used });
        }
    }
}

/// The paths that a word of a setting may name.
fn named(word: &str, beginnings: &BTreeSet<PathBuf>, owner: &GitOwner) -> Vec<PathBuf> {
    match (word.strip_prefix("~/"), &owner.home) {
        (Some(rest), Some(home)) => vec![home.join(rest)],
        (Some(_), None) => Vec::new(),
        (None, _) => beginnings.iter().map(|top| top.join(word)).collect(),
    }
}

/// Identifies a file that is not read. Only the kernel sets the change time.
#[expect(clippy::disallowed_methods, reason = "this is the door: a program of a repository")]
fn identity(path: &Path) -> String {
    let found = path.symlink_metadata();
    let found =
        found.map(|found| (found.dev(), found.ino(), found.size(), found.ctime(), found.ctime_nsec()));
    format!("{} {found:?}", path.display())
}

fn is_in_repository(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == REPOSITORY)
}

/// The path in a file as git reads it: without trailing line breaks, up to a zero byte.
fn line_of(text: &[u8]) -> &OsStr {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let line = text.get(..end).unwrap_or_default();
    OsStr::from_bytes(line.split(|byte| *byte == 0).next().unwrap_or_default())
}

pub(super) fn digest(kind: &[u8], what: &OsStr) -> Digest {
    Sha256::new().chain_update(kind).chain_update([0]).chain_update(what.as_bytes()).finalize().into()
}

/// Whether git ignores a hook of this name.
fn is_inert(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".sample") || name.as_bytes().starts_with(SET_ASIDE)
}
