//! Programs, found as a person at a terminal would find them.

use std::path::{Path, PathBuf};

use crate::environment::path_variable;

/// Folders below a home that hold more than one program: what lies beside it there is nobody's business.
const SHARED: [&str; 3] = [".local", ".config", ".cache"];

/// Where programs of other languages keep what they have fetched, below the home.
const PACKAGES: [&str; 4] = [".npm/_npx", ".cache/uv", ".local/share/uv", ".local/share/pipx"];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is. No folder on the way is a link; the program itself may be one.
    pub path: PathBuf,
    /// What has to be readable for it to start: the folders it and what it leads to were installed in.
    pub folders: Vec<PathBuf>,
}

impl Found {
    /// Looks for a program: a path, which may begin at `folder`, or a name in the `PATH` of our own. Blocks.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the door: where a program is")]
    pub fn find(name: &str, folder: &Path) -> Option<Self> {
        let candidates: Vec<PathBuf> = if name.contains('/') {
            vec![folder.join(name)]
        } else {
            let path = path_variable("PATH").unwrap_or_default();
            std::env::split_paths(&path)
                .filter(|place| place.is_absolute())
                .map(|place| place.join(name))
                .collect()
        };
        let found = candidates.into_iter().find(|path| path.is_file())?;
        let path = found.parent()?.canonicalize().ok()?.join(found.file_name()?);
        let real = found.canonicalize().ok()?;
        let home = path_variable("HOME");
        let mut folders: Vec<PathBuf> =
            [&path, &real].into_iter().filter_map(|path| installed_in(path, home.as_deref())).collect();
        folders.sort();
        folders.dedup();
        Some(Self { path, folders })
    }
}

/// The folder of a file that is named with its whole path; nothing if there is no such file. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: where a file is")]
pub fn folder_of_file(path: &Path) -> Option<PathBuf> {
    let is_named_whole = path.is_absolute() && path.is_file();
    path.parent().filter(|_| is_named_whole)?.canonicalize().ok()
}

/// Where other languages keep what they have fetched, as far as it is there. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: where packages are")]
pub fn package_folders() -> Vec<PathBuf> {
    let Some(home) = path_variable("HOME") else { return Vec::new() };
    PACKAGES.iter().map(|name| home.join(name)).filter(|folder| folder.is_dir()).collect()
}

/// The folder a program was installed in: the one above its `bin`, if that holds nothing else.
fn installed_in(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let folder = program.parent()?;
    let above = folder.parent().filter(|_| folder.ends_with("bin"));
    let is_narrow = |folder: &Path| {
        let is_shared = home.is_some_and(|home| {
            home.starts_with(folder) || SHARED.iter().any(|shared| folder == home.join(shared))
        });
        !is_shared && folder.components().count() > 2
    };
    let chosen = above.filter(|above| is_narrow(above)).unwrap_or(folder);
    Some(chosen.to_owned()).filter(|chosen| home.is_none_or(|home| !home.starts_with(chosen)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_never_opened_for_a_program_in_it() {
        let home = Path::new("/home/ann");
        let folder = |program: &str| {
            installed_in(Path::new(program), Some(home)).map(|folder| folder.display().to_string())
        };
        let check = |program: &str, expected: &str| assert_eq!(folder(program).as_deref(), Some(expected));
        check("/home/ann/.nvm/versions/node/v22/bin/npx", "/home/ann/.nvm/versions/node/v22");
        check("/home/ann/.local/bin/uvx", "/home/ann/.local/bin");
        check("/home/ann/bin/server", "/home/ann/bin");
        check("/home/ann/project/venv/bin/python", "/home/ann/project/venv");
        check("/srv/tools/server", "/srv/tools");
        check("/usr/bin/python3", "/usr/bin");
        assert_eq!(folder("/home/ann/server"), None);
        assert_eq!(folder("/home/server"), None);
    }
}
