//! What the folders that are opened to tools mean.

use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{FolderFacts, FolderState, FolderTrouble};
use super::wording::{counted, quoted};
use super::{one, unexamined};

/// Where somebody sees which folders are opened, and who said so.
const SHOW: &str = "toolroom config show --origin";

pub(super) fn files(facts: Option<&Result<Vec<FolderFacts>, String>>) -> Check {
    let folders = match facts {
        None => return unexamined("files.unexamined", "config"),
        Some(Err(cause)) => return one(Finding::error("files.unreadable", cause, SHOW)),
        Some(Ok(folders)) => folders,
    };
    let Some((workspace, further)) = folders.split_first() else {
        return one(Finding::error("files.unreadable", "there is no workspace", SHOW));
    };
    // Without a workspace no file tool works; without another folder all others do.
    let of_workspace = trouble(workspace, "the workspace", Finding::error);
    let of_further =
        further.iter().filter_map(|folder| trouble(folder, "the opened folder", Finding::warning));
    let found = of_workspace.into_iter().chain(of_further).collect();
    let made = if workspace.state == FolderState::NotMade { ", made when it is first used" } else { "" };
    let mut details = format!("workspace `{}`{made}", workspace.path.display());
    if !further.is_empty() {
        details.push_str(&format!("; {} opened besides", counted(further.len(), "folder")));
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
