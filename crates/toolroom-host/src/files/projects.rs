//! The workspaces of projects.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::protected::Protected;
use super::root::Access;
use super::workspace::Workspace;
use crate::folders::Folders;

/// Longer project names, or names with other characters, are encoded.
const MAX_PLAIN: usize = 64;

/// The workspaces of all projects. Opens and creates nothing before a workspace is used.
#[derive(Debug, Clone)]
pub struct Projects {
    folders: Folders,
    /// The project of the machine's owner.
    own: String,
    chosen: Option<PathBuf>,
    roots: Vec<(PathBuf, Access)>,
    home: Option<PathBuf>,
    protected: Protected,
    programs_read: Vec<String>,
}

impl Projects {
    /// Workspaces in the data folder. `own` is the project of the machine's owner: only it can have another workspace and
    /// further folders. `files` are our own files.
    #[must_use]
    pub fn new(folders: &Folders, own: &str, files: Vec<PathBuf>) -> Self {
        let protected = Protected { folders: vec![folders.config.clone(), folders.data.clone()], files };
        let folders = folders.clone();
        Self {
            folders,
            own: own.to_owned(),
            chosen: None,
            roots: Vec::new(),
            home: None,
            protected,
            programs_read: Vec::new(),
        }
    }

    /// Sets the user's home folder, whose credentials are off limits.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// Uses this folder as the workspace of the owner's project.
    #[must_use]
    pub fn with_workspace(mut self, folder: PathBuf) -> Self {
        self.chosen = Some(folder);
        self
    }

    /// Opens another folder to the owner's project. For trusted configuration only.
    #[must_use]
    pub fn with_root(mut self, folder: PathBuf, access: Access) -> Self {
        self.roots.push((folder, access));
        self
    }

    /// Lets programs of the owner's project read these credentials. For trusted configuration only.
    #[must_use]
    pub fn with_programs_read(mut self, names: Vec<String>) -> Self {
        self.programs_read = names;
        self
    }

    /// The workspace of a project.
    #[must_use]
    pub fn workspace(&self, project: &str) -> Workspace {
        let data = &self.folders.data;
        let workspace = match &self.chosen {
            _ if project != self.own => {
                Workspace::in_data_folder(data.join("workspaces").join(folder_name(project)))
            }
            Some(folder) => Workspace::new(folder.clone()),
            None => Workspace::in_data_folder(data.join("workspace")),
        };
        let roots = if project == self.own { self.roots.as_slice() } else { &[] };
        let programs_read = if project == self.own { self.programs_read.clone() } else { Vec::new() };
        let open = |workspace: Workspace, (folder, access): &(PathBuf, Access)| {
            workspace.with_root(folder.clone(), *access)
        };
        let workspace = roots.iter().fold(workspace, open).with_programs_read(programs_read);
        workspace.with_home(self.home.clone()).with_protected(self.protected.clone())
    }
}

/// The folder name of a project. Two projects never share one.
fn folder_name(project: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    match project.bytes().all(is_plain) && (1..=MAX_PLAIN).contains(&project.len()) {
        true => project.to_owned(),
        // No plain name contains a `=`.
        false => format!("={}", hex::encode(Sha256::digest(project.as_bytes()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projects() -> Projects {
        let folders = Folders { config: "/c".into(), data: "/d".into() };
        Projects::new(&folders, "local", vec!["/d/toolroom.db".into()])
    }

    #[test]
    fn each_project_has_a_workspace_of_its_own() {
        let path = |project: &str| projects().workspace(project).path().to_str().unwrap().to_owned();
        assert_eq!(path("local"), "/d/workspace");
        assert_eq!(path("shop-2"), "/d/workspaces/shop-2");
        let odd = ["", "..", "a/b", "Shop", "shop 2", "=x", "\u{202e}", &"x".repeat(65)];
        let mut folders: Vec<String> = odd.iter().map(|project| path(project)).collect();
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), odd.len());
        for folder in folders {
            assert_eq!(folder.strip_prefix("/d/workspaces/=").unwrap().len(), 64, "{folder}");
        }
    }

    #[test]
    fn configured_folders_are_open_to_the_owners_project_only() {
        let projects = projects()
            .with_workspace("/home/ann/work".into())
            .with_root("/srv/data".into(), Access::ReadOnly);
        assert_eq!(projects.workspace("local").path().to_str(), Some("/home/ann/work"));
        assert_eq!(projects.workspace("shop").path().to_str(), Some("/d/workspaces/shop"));
        let outside = projects.workspace("shop").list("/srv/data", 1).unwrap_err().to_string();
        assert!(outside.contains("outside the workspace"), "{outside}");
    }
}
