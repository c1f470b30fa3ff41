//! Profiles by their names, as people write them.

use std::fmt;
use std::str::FromStr;

use crate::net::{EgressRule, EgressRuleError};

/// What stands in front of a list of hosts.
const NETWORK: &str = "network:";

/// A profile by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedProfile {
    /// May change the workspace; no network.
    Workspace,
    /// May read the workspace and change nothing; no network.
    ReadOnly,
    /// May change the workspace and reach these hosts.
    Network(Vec<EgressRule>),
    /// No sandbox at all.
    Off,
}

/// Why a name means no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileNameError {
    /// There is no such profile.
    #[error("there is no profile `{0}`: use `workspace`, `read-only`, `network:HOST[:PORT],…` or `off`")]
    Unknown(String),
    /// A host of the list is none.
    #[error("a host of the profile cannot be used")]
    Host(#[from] EgressRuleError),
    /// The list is empty.
    #[error("`network:` names no host: write `network:example.com`, several with commas, or use `workspace`")]
    NoHost,
}

impl FromStr for NamedProfile {
    type Err = ProfileNameError;

    fn from_str(text: &str) -> Result<Self, ProfileNameError> {
        match (text, text.strip_prefix(NETWORK)) {
            ("workspace", _) => Ok(Self::Workspace),
            ("read-only", _) => Ok(Self::ReadOnly),
            ("off", _) => Ok(Self::Off),
            (_, Some("")) => Err(ProfileNameError::NoHost),
            (_, Some(hosts)) => {
                let hosts: Result<Vec<EgressRule>, EgressRuleError> =
                    hosts.split(',').map(|host| host.trim().parse()).collect();
                Ok(Self::Network(hosts?))
            }
            (_, None) => Err(ProfileNameError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for NamedProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workspace => formatter.write_str("workspace"),
            Self::ReadOnly => formatter.write_str("read-only"),
            Self::Off => formatter.write_str("off"),
            Self::Network(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                write!(formatter, "{NETWORK}{}", hosts.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_written() {
        for name in ["workspace", "read-only", "off", "network:example.com", "network:a.b:22,10.0.0.1:80"] {
            assert_eq!(name.parse::<NamedProfile>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn what_is_no_profile_says_which_there_are() {
        for (name, says) in [
            ("", "there is no profile ``"),
            ("Workspace", "use `workspace`"),
            ("network", "use `workspace`"),
            ("network:", "names no host"),
            ("network:*.com", "a host of the profile"),
            ("network:a.b,", "a host of the profile"),
        ] {
            let error = name.parse::<NamedProfile>().unwrap_err();
            assert!(error.to_string().contains(says), "{name}: {error}");
        }
    }
}
