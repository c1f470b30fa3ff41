//! Somebody who came in, and may do certain things.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::approval::Responder;
use toolroom::conversation::AgentId;
use toolroom::provenance::CallSource;
use toolroom::scope::{LOCAL_PROJECT, Scope};
use toolroom_store::KeyRecord;
use toolroom_tools::builtin::doctor::MANAGES_MACHINE;

use super::permission::{Permission, Permissions};
use super::token::EndUser;

/// Who a request is from. Made by the doorkeeper alone.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Whose data they see and make.
    pub(crate) scope: Scope,
    /// Who they are.
    pub(crate) who: Who,
    permissions: Permissions,
}

/// The kinds of callers.
#[derive(Debug, Clone)]
pub(crate) enum Who {
    /// The owner of this installation, in a browser that was signed in.
    Owner,
    /// A program with a key.
    Key(Arc<KeyRecord>),
    /// A user of somebody's app, with a token that a key made.
    EndUser(Arc<EndUser>),
}

impl Caller {
    pub(super) fn new(scope: Scope, who: Who, permissions: Permissions) -> Self {
        Self { scope, who, permissions }
    }

    pub(crate) const fn may(&self, permission: Permission) -> bool {
        self.permissions.has(permission)
    }

    /// All that they may do.
    pub(crate) const fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// Whether they may talk to this agent, and hear what it said. A token names the only one.
    pub(crate) fn may_talk_to(&self, agent: &AgentId) -> bool {
        match &self.who {
            Who::EndUser(user) => user.agent == *agent,
            Who::Owner | Who::Key(_) => true,
        }
    }

    /// Whether this installation is theirs.
    pub(crate) const fn is_owner(&self) -> bool {
        matches!(self.who, Who::Owner)
    }

    /// Where direct calls of this caller come from.
    pub(crate) fn source(&self) -> CallSource {
        CallSource::Caller(self.call_owner())
    }

    /// Caller name stored with a call. For an end user it names only the agent, so that a renewed token of the same user
    /// still matches.
    pub(crate) fn call_owner(&self) -> Arc<str> {
        match &self.who {
            Who::EndUser(user) => ["user:", user.agent.as_str()].concat().into(),
            Who::Owner | Who::Key(_) => self.name().into(),
        }
    }

    /// With which rights they answer where operators do.
    pub(crate) fn responder(&self) -> Responder {
        match self.responder_as_caller() {
            Responder::Approver => Responder::Operator,
            other => other,
        }
    }

    /// With which rights they answer on the wire over which the call came: what the operator has to answer stays open there.
    pub(crate) fn responder_as_caller(&self) -> Responder {
        match (self.may(Permission::Approve), self.may(Permission::Answer)) {
            (true, _) => Responder::Approver,
            (false, true) => Responder::Caller(self.call_owner()),
            (false, false) => Responder::Observer,
        }
    }

    /// Whether they may manage the local project, and with it what is about the whole machine.
    pub(crate) fn manages_machine(&self) -> bool {
        self.may(Permission::Manage) && self.scope.project.as_str() == LOCAL_PROJECT
    }

    /// What tools are told of their rights: a tool tells a caller no more than the caller's own requests would.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let manages_machine = self.manages_machine().then(|| (MANAGES_MACHINE.to_owned(), Value::Bool(true)));
        manages_machine.into_iter().collect()
    }

    /// Who it is, for what is counted and kept by caller.
    pub(crate) fn name(&self) -> String {
        match &self.who {
            Who::Owner => "owner".to_owned(),
            Who::Key(key) => ["key:", &key.id].concat(),
            Who::EndUser(user) => ["user:", &user.key, ":", user.user.as_str()].concat(),
        }
    }
}
