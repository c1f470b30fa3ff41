//! The check `files`: whether the workspace and the other open folders can be used.

use std::path::PathBuf;

use tokio::time::Instant;
use toolroom::scope::LOCAL_PROJECT;
use toolroom_host::files::{Projects, RootProblem, RootReport, RootState};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{counted, one, quoted, unexamined};
use crate::doctor::gather::{blocking, one_line};

/// Shows the open folders and which configuration opens them.
const SHOW: &str = "toolroom config show --origin";

/// A folder that the configuration opens to tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderFacts {
    pub(crate) path: PathBuf,
    pub(crate) state: FolderState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FolderState {
    Open,
    /// Created on first use.
    NotMade,
    /// Unusable, with the cause.
    Closed(FolderTrouble, String),
}

/// Why a folder cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderTrouble {
    Missing,
    NotAFolder,
    /// The configuration must not open it.
    Refused,
    Unwritable,
    Unreadable,
}

/// The workspace of the project `local`, then the other open folders. Creates nothing.
pub(crate) async fn gather(
    projects: Result<Projects, String>,
    deadline: Instant,
) -> Result<Vec<FolderFacts>, String> {
    let workspace = projects?.workspace(LOCAL_PROJECT);
    let seen = blocking(deadline, move || workspace.survey()).await?;
    Ok(seen.into_iter().map(facts).collect())
}

fn facts(RootReport { path, state, .. }: RootReport) -> FolderFacts {
    let state = match state {
        RootState::Open => FolderState::Open,
        RootState::NotMade => FolderState::NotMade,
        RootState::Unwritable(error) => FolderState::Closed(FolderTrouble::Unwritable, one_line(error)),
        RootState::Closed(trouble) => {
            let kind = match &trouble {
                RootProblem::Missing => FolderTrouble::Missing,
                RootProblem::NotAFolder => FolderTrouble::NotAFolder,
                RootProblem::Refused(_) | RootProblem::Ours | RootProblem::NotAbsolute => {
                    FolderTrouble::Refused
                }
                RootProblem::System(_) => FolderTrouble::Unreadable,
            };
            FolderState::Closed(kind, trouble.to_string())
        }
    };
    FolderFacts { path, state }
}

pub(crate) fn check(facts: Option<&Result<Vec<FolderFacts>, String>>) -> Check {
    let folders = match facts {
        None => return unexamined("files.unexamined", "config"),
        Some(Err(cause)) => return one(Finding::error("files.unreadable", cause, SHOW)),
        Some(Ok(folders)) => folders,
    };
    let Some((workspace, further)) = folders.split_first() else {
        return one(Finding::error("files.unreadable", "no workspace", SHOW));
    };
    // Without the workspace no file tool works; a missing other folder affects only itself.
    let of_workspace = trouble(workspace, "the workspace", Finding::error);
    let of_further =
        further.iter().filter_map(|folder| trouble(folder, "the opened folder", Finding::warning));
    let found = of_workspace.into_iter().chain(of_further).collect();
    let made = if workspace.state == FolderState::NotMade { "; created on first use" } else { "" };
    let mut details = format!("workspace `{}`{made}", workspace.path.display());
    if !further.is_empty() {
        details.push_str(&format!("; {} opened", counted(further.len(), "other folder")));
    }
    Check::new(details, found)
}

fn trouble(
    folder: &FolderFacts,
    what: &str,
    finding: impl Fn(&'static str, String, String) -> Finding,
) -> Option<Finding> {
    let FolderState::Closed(trouble, cause) = &folder.state else { return None };
    let path = quoted(&folder.path);
    let (code, remedy) = match trouble {
        FolderTrouble::Missing => ("files.missing", format!("mkdir -p {path}")),
        FolderTrouble::NotAFolder => ("files.not_a_folder", format!("ls -ld {path}")),
        FolderTrouble::Refused => ("files.refused", SHOW.to_owned()),
        FolderTrouble::Unwritable => ("files.read_only", format!("chmod u+rwx {path}")),
        FolderTrouble::Unreadable => ("files.unreadable", format!("ls -ld {path}")),
    };
    let cannot = if *trouble == FolderTrouble::Unwritable { "written to" } else { "opened" };
    let details = format!("{what} `{}` cannot be {cannot}: {cause}", folder.path.display());
    Some(finding(code, details, remedy))
}
