//! Permissions, called scopes in every interface.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scope of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Permission {
    /// See tools, agents, models, calls and conversations of the project.
    Read,
    /// Call tools.
    Call,
    /// Talk to agents.
    Chat,
    /// Answer questions about its own calls, one call at a time. New keys have it only if it is named.
    Answer,
    /// Create tokens for end users.
    Mint,
    /// Change switches, agents, memories and keys of the project.
    Manage,
    /// Answer every question as the operator, also for later calls. New keys have it only if it is named.
    Approve,
}

impl Permission {
    /// All permissions.
    pub(crate) const ALL: [Self; 7] =
        [Self::Read, Self::Call, Self::Chat, Self::Answer, Self::Mint, Self::Manage, Self::Approve];

    /// Permissions of a new key unless others are named.
    pub(crate) const DEFAULT: [Self; 3] = [Self::Read, Self::Call, Self::Chat];

    /// Its public name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Call => "call",
            Self::Chat => "chat",
            Self::Answer => "answer",
            Self::Mint => "mint",
            Self::Manage => "manage",
            Self::Approve => "approve",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Call => 2,
            Self::Chat => 4,
            Self::Mint => 8,
            Self::Manage => 16,
            Self::Approve => 32,
            Self::Answer => 64,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Not a permission.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; scopes are read, call, chat, answer, mint, manage and approve")]
pub(crate) struct UnknownPermission(String);

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(name: &str) -> Result<Self, UnknownPermission> {
        let known = Self::ALL.into_iter().find(|permission| permission.as_str() == name);
        known.ok_or_else(|| UnknownPermission(name.to_owned()))
    }
}

/// A set of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Permissions(u8);

impl Permissions {
    pub(crate) const fn has(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_parsed_from_its_name_only() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(permission));
            let others = Permission::ALL.into_iter().filter(|other| *other != permission);
            assert!(others.collect::<Permissions>().has(permission).eq(&false), "{permission}");
            assert!(Permissions::from_iter([permission]).has(permission));
        }
        assert!("Read".parse::<Permission>().is_err());
        let named_only = [Permission::Answer, Permission::Approve];
        assert!(named_only.iter().all(|permission| !Permission::DEFAULT.contains(permission)));
    }
}
