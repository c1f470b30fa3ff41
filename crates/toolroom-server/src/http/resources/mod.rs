//! One file per resource: its routes, its handlers, and the documents they take and return.

pub(crate) mod agents;
pub(crate) mod agui;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod calls;
pub(crate) mod chat_completions;
pub(crate) mod conversations;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod memories;
pub(crate) mod policy;
pub(crate) mod projects;
pub(crate) mod runs;
pub(crate) mod sign_in;
pub(crate) mod switches;
pub(crate) mod tools;
pub(crate) mod vendors;
