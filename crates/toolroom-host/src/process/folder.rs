//! Where a program may start.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ProcessError;

/// The folder `asked` for, inside `root`, links followed. Relative ones start at `root`.
///
/// A program can go wherever it likes once it runs. This keeps honest callers honest; the sandbox keeps programs in.
#[expect(clippy::disallowed_methods, reason = "this is the door: where a folder leads")]
pub fn start_folder(root: &Path, asked: &Path) -> Result<PathBuf, ProcessError> {
    let whole = |folder: &Path| {
        let unusable =
            |source: io::Error| ProcessError::Folder { folder: folder.to_owned(), source: Arc::new(source) };
        folder.canonicalize().map_err(unusable)
    };
    let root = whole(root)?;
    let folder = whole(&root.join(asked))?;
    match folder.starts_with(&root) {
        true => Ok(folder),
        false => Err(ProcessError::OutsideRoot { folder, root }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests make folders")]
    fn only_what_is_inside_is_given() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir(place.path().join("root2")).unwrap();
        std::os::unix::fs::symlink("..", root.join("up")).unwrap();
        std::os::unix::fs::symlink("sub", root.join("down")).unwrap();
        let whole = root.canonicalize().unwrap();
        let inside = root.join("sub");
        for (asked, found) in [(".", whole.clone()), ("sub/..", whole.clone()), ("down", whole.join("sub"))] {
            assert_eq!(start_folder(&root, Path::new(asked)).unwrap(), found);
        }
        assert_eq!(start_folder(&root, &inside).unwrap(), whole.join("sub"));
        for asked in ["..", "up", "up/root2", "../root2", "/", "/etc"] {
            let refused = start_folder(&root, Path::new(asked)).unwrap_err().to_string();
            assert!(refused.contains("lies outside"), "{asked}: {refused}");
        }
        let missing = start_folder(&root, Path::new("missing")).unwrap_err();
        assert!(
            matches!(&missing, ProcessError::Folder { source, .. } if source.kind() == io::ErrorKind::NotFound)
        );
    }
}
