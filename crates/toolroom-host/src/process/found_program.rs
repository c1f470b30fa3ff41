//! Finds programs as a shell would.

use std::path::{Path, PathBuf};

use crate::environment::path_variable;

/// Shared folders in a home: a program in one of them gets no access to its siblings.
const SHARED: [&str; 3] = [".local", ".config", ".cache"];

/// Files that mark a project folder.
const PROJECT: [&str; 10] = [
    "package.json",
    "deno.json",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "Pipfile",
    "uv.lock",
    "Gemfile",
    "composer.json",
    "cpanfile",
];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its path. No folder on the way is a link; the program itself may be one.
    pub path: PathBuf,
    /// The installation folders of the program and its link target, which must be readable for it to start.
    pub folders: Vec<PathBuf>,
}

impl FoundProgram {
    /// Finds a program by path, relative to `folder`, or by name in our own `PATH`. Blocks.
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

/// The real path of a file with an absolute path; `None` if it does not exist. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: where a file is")]
pub fn named_file(path: &Path) -> Option<PathBuf> {
    let is_special = ["/proc", "/sys", "/dev", "/run"].iter().any(|own| path.starts_with(own));
    let is_named_whole = path.is_absolute() && !is_special && path.is_file();
    path.canonicalize().ok().filter(|_| is_named_whole)
}

/// The folder a script needs besides itself: the project or package folder it is in. `None` if the folder may contain
/// anything else. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: whose folder it is")]
pub fn folder_of_script(script: &Path) -> Option<PathBuf> {
    let packages = script.ancestors().filter(|above| above.ends_with("node_modules")).last();
    let is_project = |folder: &&Path| PROJECT.iter().any(|mark| folder.join(mark).is_file());
    let folder = packages.or_else(|| script.parent().filter(is_project))?;
    is_narrow(folder).then(|| folder.to_owned())
}

/// Whether a folder can be opened to a program: not a home folder, a parent of one, or a shared folder.
#[must_use]
pub fn is_narrow(folder: &Path) -> bool {
    is_narrow_below(folder, path_variable("HOME").as_deref())
}

fn is_narrow_below(folder: &Path, home: Option<&Path>) -> bool {
    let is_shared = home.is_some_and(|home| {
        home.starts_with(folder) || SHARED.iter().any(|shared| folder == home.join(shared))
    });
    !is_shared && folder.components().count() > 2
}

/// The installation folder of a program: the parent of its `bin`, if that contains nothing else.
fn installed_in(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let folder = program.parent()?;
    let above = folder.parent().filter(|_| folder.ends_with("bin"));
    let chosen = above.filter(|above| is_narrow_below(above, home)).unwrap_or(folder);
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
    #[test]
    fn only_a_narrow_folder_is_opened_as_a_whole() {
        let home = Some(Path::new("/home/ann"));
        for narrow in ["/home/ann/project", "/srv/server", "/opt/x/y", "/home/ann/.local/share"] {
            assert!(is_narrow_below(Path::new(narrow), home), "{narrow}");
        }
        for wide in ["/", "/home", "/home/ann", "/home/ann/.config", "/home/ann/.local", "/srv", "/tmp"] {
            assert!(!is_narrow_below(Path::new(wide), home), "{wide}");
        }
        let of = |script: &str| folder_of_script(Path::new(script));
        assert_eq!(of("/srv/a/node_modules/x/node_modules/y/z.js"), Some("/srv/a/node_modules".into()));
        assert_eq!(of("/srv/server/index.js"), None, "nothing says that it is one project's");
        assert_eq!(of("/x.js"), None);
    }
}
