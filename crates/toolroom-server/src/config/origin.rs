//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::problem::escaped;

/// Where a value of the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The file of the project one works in.
    Project {
        /// The file.
        path: PathBuf,
        /// Whether its owner said that it may loosen what the user's file says.
        trusted: bool,
    },
    /// An environment variable of that name.
    Environment(String),
    /// The command line.
    Flag,
}

impl Origin {
    /// Whether it may also loosen. What a person typed or exported is theirs; a project's file came with the project.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        match self {
            Self::Default | Self::User(_) | Self::Environment(_) | Self::Flag => true,
            Self::Project { trusted, .. } => *trusted,
        }
    }

    /// The place in words, with a line if it is in a file: `toolroom.toml:12`.
    pub(crate) fn place(&self, line: Option<usize>) -> String {
        let path = match self {
            Self::User(path) | Self::Project { path, .. } => escaped(&path.display().to_string()),
            Self::Default => return "default".to_owned(),
            Self::Environment(variable) => return escaped(variable),
            Self::Flag => return "--set".to_owned(),
        };
        match line {
            Some(line) => format!("{path}:{line}"),
            None => path,
        }
    }
}

/// Its kind, and which file or variable it is. A path that is no text is shown as well as it can be.
impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Default => map.serialize_entry("kind", "default")?,
            Self::User(path) => {
                map.serialize_entry("kind", "user")?;
                map.serialize_entry("path", &path.to_string_lossy())?;
            }
            Self::Project { path, trusted } => {
                map.serialize_entry("kind", "project")?;
                map.serialize_entry("path", &path.to_string_lossy())?;
                map.serialize_entry("trusted", trusted)?;
            }
            Self::Environment(variable) => {
                map.serialize_entry("kind", "environment")?;
                map.serialize_entry("variable", variable)?;
            }
            Self::Flag => map.serialize_entry("kind", "flag")?,
        }
        map.end()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.place(None))?;
        if self.is_trusted() { Ok(()) } else { formatter.write_str(" (not trusted)") }
    }
}
