//! Programs, found as a person at a terminal would find them.

use std::path::{Path, PathBuf};

use crate::environment::path_variable;

/// Folders below a home that hold more than one program: what lies beside it there is nobody's business.
const SHARED: [&str; 3] = [".local", ".config", ".cache"];

/// Files by which a folder shows that it is one project's.
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
    /// Where it is. No folder on the way is a link; the program itself may be one.
    pub path: PathBuf,
    /// What has to be readable for it to start: the folders it and what it leads to were installed in.
    pub folders: Vec<PathBuf>,
}

impl FoundProgram {
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

/// A file that is named with its whole path, where it really is; nothing if there is none. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: where a file is")]
pub fn named_file(path: &Path) -> Option<PathBuf> {
    let is_special = ["/proc", "/sys", "/dev", "/run"].iter().any(|own| path.starts_with(own));
    let is_named_whole = path.is_absolute() && !is_special && path.is_file();
    path.canonicalize().ok().filter(|_| is_named_whole)
}

/// What a script has to read beside itself: the folder it lies in, if that is one of a project, or that of all packages if
/// it is one of them. Nothing of a folder that may hold anything else, too. Blocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: whose folder it is")]
pub fn folder_of_script(script: &Path) -> Option<PathBuf> {
    let packages = script.ancestors().filter(|above| above.ends_with("node_modules")).last();
    let is_project = |folder: &&Path| PROJECT.iter().any(|mark| folder.join(mark).is_file());
    let folder = packages.or_else(|| script.parent().filter(is_project))?;
    is_narrow(folder).then(|| folder.to_owned())
}

/// Whether a folder may be opened to a program as a whole: it is no home, nothing above one, and none that many share.
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

/// The folder a program was installed in: the one above its `bin`, if that holds nothing else.
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
    fn a_folder_is_opened_as_a_whole_only_if_it_is_narrow() {
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
