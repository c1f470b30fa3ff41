//! Profiles by name, as in the configuration.

use std::fmt;
use std::str::FromStr;

use crate::net::{EgressRule, EgressRuleError};

/// The prefix of a list of hosts.
const NETWORK: &str = "network:";

/// A named profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedProfile {
    /// The workspace is writable; no network.
    Workspace,
    /// The workspace is read-only; no network.
    ReadOnly,
    /// The workspace is writable; these hosts are reachable.
    Network(Vec<EgressRule>),
    /// No sandbox.
    Off,
}

/// Why a profile name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileNameError {
    /// Unknown name.
    #[error("there is no profile `{0}`: use `workspace`, `read-only`, `network:HOST[:PORT],…` or `off`")]
    Unknown(String),
    /// A host of the list is invalid.
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
    fn a_name_is_displayed_as_written() {
        for name in ["workspace", "read-only", "off", "network:example.com", "network:a.b:22,10.0.0.1:80"] {
            assert_eq!(name.parse::<NamedProfile>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn an_unknown_profile_lists_the_valid_ones() {
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
