//! What somebody has to be or have to use a route.

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
    /// Whoever may answer: as the operator with [`Permission::Approve`], or for their own calls as an end user.
    Answerer,
    /// The owner of the installation.
    Owner,
}

impl Need {
    /// Whether this caller has it.
    pub(crate) fn is_met_by(self, caller: &Caller) -> bool {
        match self {
            Self::Nothing => true,
            Self::Neighbour => caller.may(Permission::Read),
            Self::Permission(permission) => caller.may(permission),
            Self::Answerer => caller.may(Permission::Approve) || matches!(caller.who, Who::EndUser(_)),
            Self::Owner => caller.is_owner(),
        }
    }

    /// What is missing, in words.
    pub(crate) fn missing(self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Neighbour => missing(Permission::Read),
            Self::Permission(permission) => missing(permission),
            Self::Answerer => missing(Permission::Approve),
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
