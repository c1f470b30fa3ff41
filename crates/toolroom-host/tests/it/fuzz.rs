//! Fuzz targets of this crate; see `mutants.rs`.

use std::path::Path;

use toolroom_host::files::{Asked, Judge, Role};

use crate::mutants::fuzz;

#[test]
fn path() {
    let judge = Judge::new(Some("/srv/ann".into()));
    fuzz("path", |text| {
        let Ok(asked) = Asked::parse(text) else { return };
        assert!(!text.contains(char::is_control) && text.len() <= 4_096);
        assert!(asked.names().iter().all(|name| !name.contains('/') && !matches!(*name, "" | ".")));
        let path = format!("/{}", asked.names().join("/"));
        let root = Path::new("/w");
        for role in [Role::File, Role::Folder] {
            let verdict = judge.place(Path::new(&path), root, role);
            let upper = judge.credentials(Path::new(&path.to_ascii_uppercase()), role);
            let lower = judge.credentials(Path::new(&path.to_ascii_lowercase()), role);
            // Homes are told by the exact names of folders above them.
            if !["home", "root", "users", "srv"].iter().any(|name| path.to_ascii_lowercase().contains(name)) {
                assert_eq!(upper, lower, "case makes no difference: {path}");
            }
            // What lies in a refused folder is refused too.
            if role == Role::Folder && verdict.is_err() {
                assert!(judge.place(&Path::new(&path).join("x"), root, Role::File).is_err(), "{path}");
            }
        }
    });
}
