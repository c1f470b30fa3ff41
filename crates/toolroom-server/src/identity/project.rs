//! Projects and the rules for their names.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::scope::{LOCAL_PROJECT, ProjectId};
use toolroom_store::{ProjectRecord, Store, StoreError};

/// Longest id.
const ID_CHARS: usize = 64;

/// Longest name.
const NAME_CHARS: usize = 100;

/// A project, as interfaces show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Project {
    /// Its id.
    pub(crate) id: ProjectId,
    /// Display name.
    pub(crate) name: String,
    /// Whether its callers may use host tools.
    pub(crate) host_tools: bool,
    /// When it was created: microseconds since the Unix epoch. Absent for `local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<Timestamp>,
}

impl Project {
    /// The project of the owner of the machine. It always exists and has host tools.
    fn local(name: Option<String>) -> Self {
        Self {
            id: ProjectId::default(),
            name: name.unwrap_or_else(|| LOCAL_PROJECT.to_owned()),
            host_tools: true,
            created_at: None,
        }
    }

    fn from_record(record: &ProjectRecord) -> Self {
        match record.id.as_str() {
            LOCAL_PROJECT => Self::local(Some(record.name.clone())),
            _ => Self {
                id: record.id.clone(),
                name: record.name.clone(),
                host_tools: record.host_tools,
                created_at: Some(record.created_at),
            },
        }
    }

    /// Its stored record.
    pub(crate) fn record(self, now: Timestamp) -> ProjectRecord {
        let Self { id, name, host_tools, created_at } = self;
        ProjectRecord { id, name, host_tools, created_at: created_at.unwrap_or(now) }
    }
}

/// Every project by id, including `local`.
pub(crate) async fn projects(store: &Store) -> Result<Vec<Project>, StoreError> {
    let mut projects: Vec<Project> = store.projects().await?.iter().map(Project::from_record).collect();
    if !projects.iter().any(|project| project.id.as_str() == LOCAL_PROJECT) {
        projects.push(Project::local(None));
    }
    projects.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(projects)
}

/// The project of this id.
pub(crate) async fn project(store: &Store, id: &str) -> Result<Option<Project>, StoreError> {
    Ok(projects(store).await?.into_iter().find(|project| project.id.as_str() == id))
}

/// Whether this is a valid id, which is part of paths and names.
pub(crate) fn check_project_id(id: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    match !id.is_empty() && id.len() <= ID_CHARS && id.chars().all(is_letter) {
        true => Ok(()),
        false => Err(format!(
            "`{id}` is not a project id; use up to {ID_CHARS} lower-case letters, digits, `-` and `_`"
        )),
    }
}

/// Pattern of a name: one line, not blank.
pub(crate) const NAME_PATTERN: &str =
    r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

/// Whether this is a valid name of a key or a project.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_one_line = !name.trim().is_empty() && !name.chars().any(char::is_control);
    match is_one_line && name.chars().nth(NAME_CHARS).is_none() {
        true => Ok(()),
        false => Err(format!("a name must be one line of up to {NAME_CHARS} characters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_and_names_are_one_line() {
        for id in ["shop", "shop-2", "a_b", "1"] {
            assert!(check_project_id(id).is_ok(), "{id}");
        }
        for id in ["", "Shop", "a b", "../x", "a/b", "ä", &"x".repeat(65)] {
            assert!(check_project_id(id).is_err(), "{id}");
        }
        assert!(check_name("The shop around the corner").is_ok());
        for name in ["", "  ", "two\nlines", &"x".repeat(101)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
