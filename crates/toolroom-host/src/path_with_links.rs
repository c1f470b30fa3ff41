//! Resolves a path and records every symbolic link on the way.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The kernel's limit.
const MAX_LINKS: usize = 40;

/// A resolved path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PathWithLinks {
    /// The links on the way, in order.
    pub(crate) links: Vec<PathBuf>,
    /// The path without links. It need not exist.
    pub(crate) end: PathBuf,
}

impl PathWithLinks {
    /// Follows links of the last component only.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where a path of a repository leads")]
    pub(crate) fn resolve_last(path: &Path) -> Self {
        match path.is_symlink() {
            true => Self::resolve(path),
            false => Self { links: Vec::new(), end: path.to_owned() },
        }
    }

    /// Follows an absolute path. With too many links it ends at the last one followed.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where a path of a repository leads")]
    pub(crate) fn resolve(path: &Path) -> Self {
        let mut trail = Self { links: Vec::new(), end: PathBuf::from("/") };
        let mut rest = parts(path);
        while let Some(part) = rest.pop() {
            match Path::new(&part).components().next() {
                Some(Component::RootDir) => trail.end = PathBuf::from("/"),
                Some(Component::ParentDir) => drop(trail.end.pop()),
                Some(Component::Normal(name)) => {
                    trail.end.push(name);
                    let Ok(target) = std::fs::read_link(&trail.end) else { continue };
                    trail.links.push(trail.end.clone());
                    if trail.links.len() > MAX_LINKS {
                        break;
                    }
                    trail.end.pop();
                    rest.extend(parts(&target));
                }
                Some(Component::CurDir | Component::Prefix(_)) | None => {}
            }
        }
        trail
    }
}

/// The components, last one first.
fn parts(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_through_every_link() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(here.join("a/b")).unwrap();
        symlink("a/b", here.join("one")).unwrap();
        symlink(here.join("one/../file"), here.join("two")).unwrap();
        symlink("loop", here.join("loop")).unwrap();
        let trail = PathWithLinks::resolve(&here.join("./one/../../two"));
        assert_eq!(trail.end, here.join("a/file"));
        assert_eq!(trail.links, [here.join("one"), here.join("two"), here.join("one")]);
        assert_eq!(
            PathWithLinks::resolve(&here.join("a/../x/y")),
            PathWithLinks { links: Vec::new(), end: here.join("x/y") }
        );
        assert_eq!(PathWithLinks::resolve(&here.join("loop")).end, here.join("loop"));
    }
}
