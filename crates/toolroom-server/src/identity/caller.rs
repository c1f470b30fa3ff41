//! The caller of a request and its permissions.

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

/// The caller of a request. Only the authenticator makes one.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Project and user of the data it may use.
    pub(crate) scope: Scope,
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
    /// A user of an app, with a token that a key created.
    EndUser(Arc<EndUser>),
}

impl Caller {
    pub(super) fn new(scope: Scope, who: Who, permissions: Permissions) -> Self {
        Self { scope, who, permissions }
    }

    pub(crate) const fn may(&self, permission: Permission) -> bool {
        self.permissions.has(permission)
    }

    pub(crate) const fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// Whether it may use this agent and read its runs. A token names the only one.
    pub(crate) fn may_talk_to(&self, agent: &AgentId) -> bool {
        match &self.who {
            Who::EndUser(user) => user.agent == *agent,
            Who::Owner | Who::Key(_) => true,
        }
    }

    /// Whether it is the owner of the installation.
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

    /// Its rights to answer approvals.
    pub(crate) fn responder(&self) -> Responder {
        match self.responder_as_caller() {
            Responder::Approver => Responder::Operator,
            other => other,
        }
    }

    /// Its rights to answer on the connection of the call, where questions for the operator stay open.
    pub(crate) fn responder_as_caller(&self) -> Responder {
        match (self.may(Permission::Approve), self.may(Permission::Answer)) {
            (true, _) => Responder::Approver,
            (false, true) => Responder::Caller(self.call_owner()),
            (false, false) => Responder::Observer,
        }
    }

    /// Whether it may manage the local project, and with it the whole machine.
    pub(crate) fn manages_machine(&self) -> bool {
        self.may(Permission::Manage) && self.scope.project.as_str() == LOCAL_PROJECT
    }

    /// Its rights, for tools: a tool tells a caller no more than its own requests would.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let manages_machine = self.manages_machine().then(|| (MANAGES_MACHINE.to_owned(), Value::Bool(true)));
        manages_machine.into_iter().collect()
    }

    /// A name for records and counters.
    pub(crate) fn name(&self) -> String {
        match &self.who {
            Who::Owner => "owner".to_owned(),
            Who::Key(key) => ["key:", &key.id].concat(),
            Who::EndUser(user) => ["user:", &user.key, ":", user.user.as_str()].concat(),
        }
    }
}
