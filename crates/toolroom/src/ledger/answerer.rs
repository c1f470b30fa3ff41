//! Who may answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::Scope;

/// Who may answer: decided by the rule that asked, checked where the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// Whoever made the call.
    Caller,
    /// The operator, who may also answer for a caller.
    Operator,
    /// The client that brought the tool, by sending the result: no person answers in its place.
    #[schemars(skip)]
    Client,
}

impl Answerer {
    /// Everybody who may have to answer.
    pub const ALL: [Self; 3] = [Self::Caller, Self::Operator, Self::Client];

    /// The name's answerer.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answerer| answerer.as_str() == name)
    }

    /// Whether somebody of `scope` who answers as `self` may answer a question about a call of `owner`: the operator for
    /// everybody in sight, a caller and their client for their own calls alone.
    #[must_use]
    pub fn may_answer_call_of(self, scope: &Scope, owner: &Scope) -> bool {
        match self {
            Self::Operator => scope.covers(owner),
            Self::Caller | Self::Client => scope == owner,
        }
    }

    /// Whether somebody who answers as `self` may answer what `wanted` has to answer.
    #[must_use]
    pub fn may_answer_for(self, wanted: Self) -> bool {
        match (self, wanted) {
            // What a client does is done, or is not: nobody can say it for the client, nor it for anybody else.
            (Self::Client, _) | (_, Self::Client) => self == wanted,
            (Self::Operator, _) => true,
            (Self::Caller, wanted) => wanted == Self::Caller,
        }
    }

    /// What the row of a call says that waited for this one until its time was over.
    #[must_use]
    pub const fn expiry_reason(self) -> &'static str {
        match self {
            Self::Caller | Self::Operator => "nobody answered, or used the answer, in time",
            Self::Client => "the client sent no result in time",
        }
    }

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Operator => "operator",
            Self::Client => "client",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_answer_for_whom() {
        use Answerer::{Caller, Client, Operator};
        for (who, wanted, may) in [
            (Caller, Caller, true),
            (Caller, Operator, false),
            (Caller, Client, false),
            (Operator, Caller, true),
            (Operator, Operator, true),
            (Operator, Client, false),
            (Client, Caller, false),
            (Client, Operator, false),
            (Client, Client, true),
        ] {
            assert_eq!(who.may_answer_for(wanted), may, "{who:?} for {wanted:?}");
        }
        for who in Answerer::ALL {
            assert_eq!(Answerer::from_name(who.as_str()), Some(who));
        }
    }

    #[test]
    fn a_client_is_at_home_with_its_own_caller_alone() {
        let ana = Scope::user("p", "ana");
        assert!(Answerer::Client.may_answer_call_of(&ana, &ana));
        assert!(!Answerer::Client.may_answer_call_of(&Scope::project("p"), &ana));
        assert!(!Answerer::Client.may_answer_call_of(&Scope::user("p", "ben"), &ana));
    }
}
