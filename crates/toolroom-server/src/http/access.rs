//! What somebody has to be or have to use a route.

use toolroom::scope::LOCAL_PROJECT;

use crate::identity::{Caller, Permission, Who};

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Anybody.
    Nothing,
    /// Anybody on this machine, where we listen to it alone; a key that may read, elsewhere.
    Neighbour,
    /// Somebody who may do this.
    Permission(Permission),
    /// A caller who may answer: every call with [`Permission::Approve`], its own ones with [`Permission::Answer`].
    Answerer,
    /// Whoever may read; as an end user, for what was offered to them.
    Recipient,
    /// Whoever looks after this machine: its owner, or somebody who may manage the local project.
    Keeper,
    /// The owner of the installation.
    Owner,
}

impl Need {
    /// Its name in the OpenAPI document.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Neighbour => "neighbour",
            Self::Permission(permission) => permission.as_str(),
            Self::Answerer => "answerer",
            Self::Recipient => "recipient",
            Self::Keeper => "keeper",
            Self::Owner => "owner",
        }
    }

    /// Whether this caller has it.
    pub(crate) fn is_met_by(self, caller: &Caller) -> bool {
        match self {
            Self::Nothing => true,
            Self::Neighbour => caller.may(Permission::Read),
            Self::Permission(permission) => caller.may(permission),
            Self::Answerer => caller.may(Permission::Approve) || caller.may(Permission::Answer),
            Self::Recipient => caller.may(Permission::Read) || matches!(caller.who, Who::EndUser(_)),
            Self::Keeper => caller.manages_machine(),
            Self::Owner => caller.is_owner(),
        }
    }

    /// What is missing, in words.
    pub(crate) fn missing(self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Neighbour | Self::Recipient => missing(Permission::Read),
            Self::Permission(permission) => missing(permission),
            Self::Answerer => "this needs the scope `answer` for calls of its own, or `approve` for every call; `toolroom keys \
                               rotate KEY --scope answer` makes a key that has it"
                .to_owned(),
            Self::Keeper => format!(
                "this is about the whole machine: it needs the scope `manage` of the project `{LOCAL_PROJECT}`"
            ),
            Self::Owner => "only the owner of this installation may do this; sign in with the link that `toolroom serve` \
                            prints, or use the command line"
                .to_owned(),
        }
    }
}

fn missing(permission: Permission) -> String {
    format!(
        "this needs the scope `{permission}`; make a key that has it with `toolroom keys create --scope {permission}`"
    )
}
