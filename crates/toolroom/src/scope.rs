//! Whose data something is. Every record has a [`Scope`], and every read takes one: there is no query that
//! sees another project's rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text_id::text_id;

/// The project a fresh installation works in.
pub const LOCAL_PROJECT: &str = "local";

text_id! {
    /// A project: the wall between two owners' tools, calls and data.
    ProjectId
}

text_id! {
    /// A user inside a project, as the surface that authenticated them knows them.
    UserId
}

impl Default for ProjectId {
    fn default() -> Self {
        Self::new(LOCAL_PROJECT)
    }
}

/// Project and, where something is owned by one, user. Set by the entrance that authenticated the caller,
/// never by an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// The project.
    pub project: ProjectId,
    /// The user; `None` for what belongs to the whole project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
}

impl Scope {
    /// A whole project.
    #[must_use]
    pub fn project(id: &str) -> Self {
        Self { project: ProjectId::new(id), user: None }
    }

    /// One user of a project.
    #[must_use]
    pub fn user(project: &str, user: &str) -> Self {
        Self { project: ProjectId::new(project), user: Some(UserId::new(user)) }
    }

    /// Whether a reader with this scope may see what `owner` owns: the same project, and the same user
    /// unless the reader speaks for the whole project.
    #[must_use]
    pub fn covers(&self, owner: &Self) -> bool {
        self.project == owner.project && (self.user.is_none() || self.user == owner.user)
    }
}
