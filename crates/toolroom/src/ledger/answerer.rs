//! Who may answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::Scope;

/// Who may answer: decided by the rule that asked, checked where the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// The caller of the call.
    Caller,
    /// The operator, who may also answer for a caller.
    Operator,
    /// The client that brought the tool, by sending the result: no person answers in its place.
    #[schemars(skip)]
    Client,
}

impl Answerer {
    /// Every answerer.
    pub const ALL: [Self; 3] = [Self::Caller, Self::Operator, Self::Client];

    /// The answerer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answerer| answerer.as_str() == name)
    }

    /// Whether a responder of `scope` who answers as `self` may answer a question about a call of `owner`: the operator for all
    /// calls in scope, callers and clients for their own calls only.
    #[must_use]
    pub fn may_answer_call_of(self, scope: &Scope, owner: &Scope) -> bool {
        match self {
            Self::Operator => scope.covers(owner),
            Self::Caller | Self::Client => scope == owner,
        }
    }

    /// Whether a responder who answers as `self` may answer a question for `wanted`.
    #[must_use]
    pub fn may_answer_for(self, wanted: Self) -> bool {
        match (self, wanted) {
            // Only the client can deliver its result, and it can answer nothing else.
            (Self::Client, _) | (_, Self::Client) => self == wanted,
            (Self::Operator, _) => true,
            (Self::Caller, wanted) => wanted == Self::Caller,
        }
    }

    /// The error of a call that waited for this answerer until it expired.
    #[must_use]
    pub const fn expiry_reason(self) -> &'static str {
        match self {
            Self::Caller | Self::Operator => "not answered in time, or the answer was not used in time",
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
    fn a_client_answers_for_its_own_caller_only() {
        let ana = Scope::user("p", "ana");
        assert!(Answerer::Client.may_answer_call_of(&ana, &ana));
        assert!(!Answerer::Client.may_answer_call_of(&Scope::project("p"), &ana));
        assert!(!Answerer::Client.may_answer_call_of(&Scope::user("p", "ben"), &ana));
    }
}
