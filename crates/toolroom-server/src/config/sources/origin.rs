//! Origins of configuration values.

use std::fmt;
use std::path::PathBuf;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::config::check::problem::escaped;

/// Origin of a configuration value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Not set.
    Default,
    /// The user file.
    User(PathBuf),
    /// The project file.
    Project {
        /// Its path.
        path: PathBuf,
        /// Whether it may be more lenient than the user file.
        trusted: bool,
    },
    /// An environment variable of that name.
    Environment(String),
    /// The command line.
    Flag,
}

impl Origin {
    /// Whether it may be more lenient. Flags, variables and the user file belong to the user; a project file does not.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        match self {
            Self::Default | Self::User(_) | Self::Environment(_) | Self::Flag => true,
            Self::Project { trusted, .. } => *trusted,
        }
    }

    /// The origin as text, with a line if it is a file: `toolroom.toml:12`.
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

/// Serializes the kind with its path or variable. Non-UTF-8 paths are converted lossily.
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
