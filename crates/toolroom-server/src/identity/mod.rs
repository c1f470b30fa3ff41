//! Callers over the network and their permissions.
//!
//! [`Authenticator::identify`] makes a [`Caller`] from an API key, an end user's token, or the cookie of a signed-in
//! browser. Nothing else in a request identifies the caller.

mod authenticator;
mod caller;
mod issue;
mod key;
mod origin;
mod permission;
mod project;
mod token;

pub(crate) use authenticator::{AuthenticationError, Authenticator, BROWSER_LIFETIME, Credentials};
pub(crate) use caller::{Caller, Who};
pub(crate) use issue::{IssueError, Issued, Rotation, find_key, make_key, make_token, rotate_key};
pub(crate) use key::{Environment, NewKey, holds};
pub(crate) use origin::{HostName, WebOrigin};
pub(crate) use permission::Permission;
pub(crate) use project::{NAME_PATTERN, Project, check_name, check_project_id, project, projects};
pub(crate) use token::TokenOrder;
