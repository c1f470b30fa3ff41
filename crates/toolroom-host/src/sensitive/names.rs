//! The list, read once, and the questions it answers. Names are compared in lower case.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

/// Private keys of SSH; what belongs to a name may follow (`id_rsa.old`, `id_ed25519_work`).
const SSH_KEYS: [&str; 5] = ["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "id_xmss"];

/// Words behind `.env` that say that there is nothing in it yet.
const BLANK_FORMS: [&str; 10] =
    ["defaults", "dist", "example", "examples", "md", "sample", "schema", "template", "tmpl", "tpl"];

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::read(include_str!("names.txt")));

/// The sections of the list.
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

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathKind {
    File,
    Folder,
}

/// Who changes a start file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedBy {
    /// A tool: also what programs may change in the sandbox is asked about.
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

/// Names in a row, by the last of them.
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

    /// The places that these names end in.
    fn at_the_end(&self, names: &[String]) -> impl Iterator<Item = &'static str> {
        let places = names.last().and_then(|last| self.0.get(last.as_str()));
        let are_there = |place: &&str| {
            let mut names = names.iter().rev();
            place.rsplit('/').all(|wanted| names.next().is_some_and(|name| name == wanted))
        };
        places.into_iter().flatten().copied().filter(are_there)
    }

    /// Whether these names lead to, or through, a place.
    fn are_on_the_way(&self, names: &[String]) -> bool {
        prefixes(names).any(|names| self.at_the_end(names).next().is_some())
    }

    /// Whether a place lies in the folder that these names lead to.
    fn lie_in(&self, names: &[String]) -> bool {
        (0..names.len()).filter_map(|from| names.get(from..)).any(|names| self.lie_at(names))
    }

    /// The same for places that begin with the first name.
    fn lie_at(&self, names: &[String]) -> bool {
        let folder = names.join("/");
        let is_inside = |place: &str| place.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
        self.all().any(is_inside)
    }

    /// Whether these names lead to, or through, a place that begins with the first of them.
    fn begin(&self, names: &[String]) -> bool {
        prefixes(names)
            .any(|names| self.at_the_end(names).any(|place| place.split('/').count() == names.len()))
    }
}

fn prefixes(names: &[String]) -> impl Iterator<Item = &[String]> {
    (1..=names.len()).filter_map(|end| names.get(..end))
}

/// The names of a path in lower case. What is not UTF-8 is no name we know, and keeps its place.
pub(crate) fn in_lower_case(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    names.collect()
}

/// Whether these names lead to, or through, a place of credentials. `below_home` are those below a home.
pub(crate) fn is_credential(names: &[String], below_home: Option<&[String]>, kind: PathKind) -> bool {
    NAMES.credentials.are_on_the_way(names)
        || below_home.is_some_and(|names| NAMES.credentials_of_a_home.begin(names))
        || (kind == PathKind::File && names.last().is_some_and(|name| is_credential_file(name)))
}

/// How many names make the place of credentials that these names lead to, counted with the home for one of a home. Every
/// other name than the last is that of a folder.
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

/// Whether places of credentials lie in the folder that these names lead to.
pub(crate) fn holds_credentials(names: &[String], below_home: Option<&[String]>) -> bool {
    NAMES.credentials.lie_in(names)
        || below_home.is_some_and(|names| NAMES.credentials_of_a_home.lie_at(names))
}

/// Whether places of start files lie in the folder that these names lead to.
pub(crate) fn holds_start_files(names: &[String], below_home: Option<&[String]>) -> bool {
    NAMES.start_files.lie_in(names)
        || below_home.is_some_and(|names| NAMES.start_files_of_a_home.lie_at(names))
}

/// Whether a file of that name (in lower case) holds credentials, wherever it lies.
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

/// `.env` and its kin (`.env.local`, `.env~`), without blank forms (`.env.example`) and other words (`.envrc`).
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    let is_kin = rest.is_empty() || rest.starts_with(['.', '-', '_', '~']);
    let last = rest.rsplit(['.', '-', '_']).next().unwrap_or_default();
    is_kin && !BLANK_FORMS.contains(&last)
}

/// Whether a name (in lower case) ends any place of the list, or is that of a credential file: few are, so that only they
/// need a closer look.
pub(super) fn is_worth_a_look(name: &str) -> bool {
    let Names { credentials, credentials_of_a_home, start_files, start_files_of_a_home, .. } = &*NAMES;
    let places = [credentials, credentials_of_a_home, start_files, start_files_of_a_home];
    places.iter().any(|places| places.0.contains_key(name)) || is_credential_file(name)
}

/// What nothing may appear as in a folder that programs may change: start files, and credentials that other programs obey.
/// A file such as `.env` may be made.
pub(crate) fn watched(folder: &Path, is_home: bool) -> Vec<PathBuf> {
    let at_home =
        [&NAMES.credentials_of_a_home, &NAMES.start_files_of_a_home].into_iter().filter(|_| is_home);
    let places = [&NAMES.credentials, &NAMES.start_files].into_iter().chain(at_home).flat_map(Places::all);
    let files = NAMES.credential_files.iter().copied();
    let around = in_lower_case(folder);
    let mut watched: Vec<PathBuf> =
        places.chain(files).flat_map(|place| rests(place, &around)).map(|rest| folder.join(rest)).collect();
    watched.sort_unstable();
    // Whatever lies below another one is watched with it.
    watched.dedup_by(|inner, outer| inner.starts_with(outer));
    watched
}

/// A place as it is written in a folder: whole, and its rest where the folder is the beginning of it.
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
    fn the_list_is_in_lower_case_and_names_nothing_twice() {
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
    fn a_folder_that_begins_a_place_has_the_rest_of_it_watched() {
        let watched = watched(Path::new("/home/ann/.config"), false);
        for name in ["fish", "gcloud", ".config/fish", ".npmrc", ".bashrc"] {
            assert!(watched.contains(&Path::new("/home/ann/.config").join(name)), "{name}");
        }
        assert!(!watched.iter().any(|path| path.ends_with(".env") || path.ends_with(".docker")));
    }
}
