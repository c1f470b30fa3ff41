//! Who may use a route.

use toolroom::scope::LOCAL_PROJECT;

use crate::identity::{Caller, Permission, Who};

/// The access rule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every client.
    Public,
    /// Every process on this machine while the server listens on loopback only; otherwise callers who may read.
    Local,
    /// Callers with this permission.
    Permission(Permission),
    /// Callers who may answer: every call with [`Permission::Approve`], their own with [`Permission::Answer`].
    Answerer,
    /// Callers who may read, and end users. The handler limits end users to what was offered to them.
    Recipient,
    /// The owner of this machine, and callers who may manage the local project.
    Keeper,
    /// The owner of the installation.
    Owner,
}

impl Access {
    /// Its name in the OpenAPI document.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "nothing",
            Self::Local => "local",
            Self::Permission(permission) => permission.as_str(),
            Self::Answerer => "answerer",
            Self::Recipient => "recipient",
            Self::Keeper => "keeper",
            Self::Owner => "owner",
        }
    }

    /// Whether it lets this caller in.
    pub(crate) fn allows(self, caller: &Caller) -> bool {
        match self {
            Self::Public => true,
            Self::Local => caller.may(Permission::Read),
            Self::Permission(permission) => caller.may(permission),
            Self::Answerer => caller.may(Permission::Approve) || caller.may(Permission::Answer),
            Self::Recipient => caller.may(Permission::Read) || matches!(caller.who, Who::EndUser(_)),
            Self::Keeper => caller.manages_machine(),
            Self::Owner => caller.is_owner(),
        }
    }

    /// What a refused caller is told.
    pub(crate) fn missing(self) -> String {
        match self {
            Self::Public => String::new(),
            Self::Local | Self::Recipient => missing(Permission::Read),
            Self::Permission(permission) => missing(permission),
            Self::Answerer => "this needs the scope `answer` for the caller's own calls, or `approve` for every call; `toolroom keys \
                               rotate KEY --scope answer` creates a key with it"
                .to_owned(),
            Self::Keeper => format!(
                "this concerns the whole machine: it needs the scope `manage` in the project `{LOCAL_PROJECT}`"
            ),
            Self::Owner => "only the owner of this installation may do this; sign in with the link that `toolroom serve` \
                            prints, or use the command line"
                .to_owned(),
        }
    }
}

fn missing(permission: Permission) -> String {
    format!(
        "this needs the scope `{permission}`; create a key with `toolroom keys create --scope {permission}`"
    )
}
