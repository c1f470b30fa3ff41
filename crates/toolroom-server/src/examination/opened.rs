//! The folders that are opened to tools: whether they are there, and can be used.

use tokio::time::Instant;
use toolroom::scope::LOCAL_PROJECT;
use toolroom_host::files::{Projects, RootProblem, RootReport, RootState};

use super::facts::{FolderFacts, FolderState, FolderTrouble};
use super::gather::{aside, told};

/// Looks at the workspace of the own project, and at what is opened besides. Makes nothing.
pub(super) async fn look(
    projects: Result<Projects, String>,
    deadline: Instant,
) -> Result<Vec<FolderFacts>, String> {
    let workspace = projects?.workspace(LOCAL_PROJECT);
    let seen = aside(deadline, move || workspace.survey()).await?;
    Ok(seen.into_iter().map(facts).collect())
}

fn facts(RootReport { path, state, .. }: RootReport) -> FolderFacts {
    let state = match state {
        RootState::Open => FolderState::Open,
        RootState::NotMade => FolderState::NotMade,
        RootState::Unwritable(error) => FolderState::Closed(FolderTrouble::Unwritable, told(error)),
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
