//! The list of names. Compared in lower case.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

/// Private SSH keys; a suffix may follow (`id_rsa.old`, `id_ed25519_work`).
const SSH_KEYS: [&str; 5] = ["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "id_xmss"];

/// Suffixes of `.env` files without values.
const BLANK_FORMS: [&str; 10] =
    ["defaults", "dist", "example", "examples", "md", "sample", "schema", "template", "tmpl", "tpl"];

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::read(include_str!("names.txt")));

/// The parsed list.
struct Names {
    credentials: Places,
    credentials_of_a_home: Places,
    credential_files: HashSet<&'static str>,
    makeable_credential_files: HashSet<&'static str>,
    credential_ends: Vec<&'static str>,
    start_files: Places,
    start_files_of_a_home: Places,
    changeable_start_files: Places,
    last_names_of_start_files: HashSet<&'static str>,
    start_file_ends: Vec<&'static str>,
}

/// The kind of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    File,
    Folder,
}

/// What changes a start file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedBy {
    /// A tool: files that programs may change in the sandbox count too.
    ByTool,
    /// A program in the sandbox.
    ByProgram,
}

impl Names {
    fn read(list: &'static str) -> Self {
        let mut sections: HashMap<&str, Vec<&'static str>> = HashMap::new();
        let mut section = "";
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => section = name,
                None => sections.entry(section).or_default().extend(line.split_whitespace()),
            }
        }
        let mut take = |name: &str| sections.remove(name).unwrap_or_default();
        Self {
            credentials: Places::new(take("credentials")),
            credentials_of_a_home: Places::new(take("credentials of a home")),
            credential_files: take("credential files").into_iter().collect(),
            makeable_credential_files: take("credential files that programs may make").into_iter().collect(),
            credential_ends: take("credential ends"),
            start_files: Places::new(take("start files")),
            start_files_of_a_home: Places::new(take("start files of a home")),
            changeable_start_files: Places::new(take("start files that programs may change")),
            last_names_of_start_files: take("start files by the last name").into_iter().collect(),
            start_file_ends: take("start file ends"),
        }
    }

    fn has_credential_end(&self, name: &str) -> bool {
        self.credential_ends.iter().any(|end| name.len() > end.len() && name.ends_with(end))
    }
}

/// Path patterns by their last name.
struct Places(HashMap<&'static str, Vec<&'static str>>);

impl Places {
    fn new(places: Vec<&'static str>) -> Self {
        let mut by_last: HashMap<&str, Vec<&str>> = HashMap::new();
        for place in places {
            by_last.entry(place.rsplit('/').next().unwrap_or(place)).or_default().push(place);
        }
        Self(by_last)
    }

    fn all(&self) -> impl Iterator<Item = &'static str> {
        self.0.values().flatten().copied()
    }

    /// The patterns that match the end of these names.
    fn at_the_end(&self, names: &[String]) -> impl Iterator<Item = &'static str> {
        let places = names.last().and_then(|last| self.0.get(last.as_str()));
        let are_there = |place: &&str| {
            let mut names = names.iter().rev();
            place.rsplit('/').all(|wanted| names.next().is_some_and(|name| name == wanted))
        };
        places.into_iter().flatten().copied().filter(are_there)
    }

    /// Whether these names lead to, or through, a listed path.
    fn are_on_the_way(&self, names: &[String]) -> bool {
        prefixes(names).any(|names| self.at_the_end(names).next().is_some())
    }

    /// Whether a listed path is inside the folder of these names.
    fn lie_in(&self, names: &[String]) -> bool {
        (0..names.len()).filter_map(|from| names.get(from..)).any(|names| self.lie_at(names))
    }

    /// Only for patterns that begin with the first name.
    fn lie_at(&self, names: &[String]) -> bool {
        let folder = names.join("/");
        let is_inside = |place: &str| place.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
        self.all().any(is_inside)
    }

    /// Whether these names lead to, or through, a listed path that begins with the first of them.
    fn begin(&self, names: &[String]) -> bool {
        prefixes(names)
            .any(|names| self.at_the_end(names).any(|place| place.split('/').count() == names.len()))
    }
}

fn prefixes(names: &[String]) -> impl Iterator<Item = &[String]> {
    (1..=names.len()).filter_map(|end| names.get(..end))
}

/// The names of a path in lower case. A name that is not UTF-8 matches nothing, but keeps its position.
pub(crate) fn in_lower_case(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    names.collect()
}

/// Whether these names lead to, or through, credentials. `below_home` are those below a home folder.
pub(crate) fn is_credential(names: &[String], below_home: Option<&[String]>, kind: PathKind) -> bool {
    NAMES.credentials.are_on_the_way(names)
        || below_home.is_some_and(|names| NAMES.credentials_of_a_home.begin(names))
        || (kind == PathKind::File && names.last().is_some_and(|name| is_credential_file(name)))
}

/// Number of names up to the credentials on this path, including the home folder if relevant. All but the last are
/// folders.
pub(super) fn length_of_place(names: &[String], below_home: Option<&[String]>) -> usize {
    let length = |place: &str| place.split('/').count();
    let anywhere = NAMES.credentials.at_the_end(names).map(length);
    let of_a_home = below_home.into_iter().flat_map(|names| {
        NAMES.credentials_of_a_home.at_the_end(names).map(length).filter(|length| *length == names.len())
    });
    anywhere.chain(of_a_home.map(|length| length + 1)).max().unwrap_or(1)
}

/// Whether these names lead to, or through, a start file.
pub(crate) fn is_start_file(names: &[String], below_home: Option<&[String]>, changes: ChangedBy) -> bool {
    let is_for_tools = || {
        let ends = &NAMES.start_file_ends;
        NAMES.changeable_start_files.are_on_the_way(names)
            || names.last().is_some_and(|last| NAMES.last_names_of_start_files.contains(last.as_str()))
            || names.iter().any(|name| ends.iter().any(|end| name.len() > end.len() && name.ends_with(end)))
    };
    NAMES.start_files.are_on_the_way(names)
        || below_home.is_some_and(|names| NAMES.start_files_of_a_home.begin(names))
        || (changes == ChangedBy::ByTool && is_for_tools())
}

/// Whether credentials are inside the folder of these names.
pub(crate) fn holds_credentials(names: &[String], below_home: Option<&[String]>) -> bool {
    NAMES.credentials.lie_in(names)
        || below_home.is_some_and(|names| NAMES.credentials_of_a_home.lie_at(names))
}

/// Whether start files are inside the folder of these names.
pub(crate) fn holds_start_files(names: &[String], below_home: Option<&[String]>) -> bool {
    NAMES.start_files.lie_in(names)
        || below_home.is_some_and(|names| NAMES.start_files_of_a_home.lie_at(names))
}

/// Whether a file of this name (in lower case) holds credentials in any folder.
fn is_credential_file(name: &str) -> bool {
    let is_ssh_key = |key: &str| {
        let rest = name.strip_prefix(key);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) && !rest.ends_with(".pub"))
    };
    NAMES.credential_files.contains(name)
        || NAMES.makeable_credential_files.contains(name)
        || NAMES.has_credential_end(name)
        || SSH_KEYS.iter().any(|key| is_ssh_key(key))
        || (name.starts_with("client_secret") && name.ends_with(".json"))
        || is_environment(name)
}

/// `.env` files (`.env.local`, `.env~`), except templates (`.env.example`) and other words (`.envrc`).
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    let is_kin = rest.is_empty() || rest.starts_with(['.', '-', '_', '~']);
    let last = rest.rsplit(['.', '-', '_']).next().unwrap_or_default();
    is_kin && !BLANK_FORMS.contains(&last)
}

/// Whether a name (in lower case) ends any listed path, or is a credential file. A fast filter before closer checks.
pub(super) fn is_worth_a_look(name: &str) -> bool {
    let Names { credentials, credentials_of_a_home, start_files, start_files_of_a_home, .. } = &*NAMES;
    let places = [credentials, credentials_of_a_home, start_files, start_files_of_a_home];
    places.iter().any(|places| places.0.contains_key(name)) || is_credential_file(name)
}

/// Files that must not appear in a writable folder: start files, and credentials that other programs obey. Files such as
/// `.env` may be created.
pub(crate) fn watched(folder: &Path, is_home: bool) -> Vec<PathBuf> {
    let at_home =
        [&NAMES.credentials_of_a_home, &NAMES.start_files_of_a_home].into_iter().filter(|_| is_home);
    let places = [&NAMES.credentials, &NAMES.start_files].into_iter().chain(at_home).flat_map(Places::all);
    let files = NAMES.credential_files.iter().copied();
    let around = in_lower_case(folder);
    let mut watched: Vec<PathBuf> =
        places.chain(files).flat_map(|place| rests(place, &around)).map(|rest| folder.join(rest)).collect();
    watched.sort_unstable();
    // A path below another one is watched with it.
    watched.dedup_by(|inner, outer| inner.starts_with(outer));
    watched
}

/// A listed path relative to a folder: complete, and its rest if the folder is its beginning.
fn rests<'a>(place: &'a str, around: &[String]) -> Vec<&'a str> {
    let cut = place.match_indices('/').filter_map(|(at, _)| {
        let (above, rest) = (place.get(..at)?, place.get(at + 1..)?);
        let mut names = around.iter().rev();
        above.rsplit('/').all(|wanted| names.next().is_some_and(|name| name == wanted)).then_some(rest)
    });
    std::iter::once(place).chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_lower_case_without_duplicates() {
        let list = include_str!("names.txt");
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        let mut section = "";
        let mut seen = HashSet::new();
        for line in lines {
            if line.starts_with('[') {
                section = line;
            }
            for name in line.split_whitespace().filter(|_| !line.starts_with('[')) {
                assert!(name == name.to_lowercase() && !name.starts_with('/'), "{name}");
                assert!(seen.insert((section, name)), "{section} {name}");
            }
        }
        let Names { credentials, start_files, makeable_credential_files, start_file_ends, .. } = &*NAMES;
        assert!(credentials.all().count() > 150 && start_files.all().count() > 150);
        assert!(makeable_credential_files.len() > 60 && start_file_ends.len() == 2);
    }

    #[test]
    fn a_folder_that_begins_a_listed_path_watches_its_rest() {
        let watched = watched(Path::new("/home/ann/.config"), false);
        for name in ["fish", "gcloud", ".config/fish", ".npmrc", ".bashrc"] {
            assert!(watched.contains(&Path::new("/home/ann/.config").join(name)), "{name}");
        }
        assert!(!watched.iter().any(|path| path.ends_with(".env") || path.ends_with(".docker")));
    }
}
