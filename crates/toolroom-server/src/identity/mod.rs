//! Who comes in over the network, and what they may do.
//!
//! A [`Caller`] is made by [`Doorkeeper::identify`] from what a request shows: a key, an end user's token, or the cookie
//! of a browser that was signed in. Nobody says who they are in any other way.

mod caller;
mod doorkeeper;
mod issue;
mod key;
mod origin;
mod permission;
mod project;
mod sign_in;
mod token;

pub(crate) use caller::{Caller, Who};
pub(crate) use doorkeeper::{Doorkeeper, Shown, Unidentified};
pub(crate) use issue::{IssueError, Issued, Rotation, find_key, make_key, make_token, rotate_key};
pub(crate) use key::{Environment, NewKey, holds};
pub(crate) use origin::{HostName, WebOrigin};
pub(crate) use permission::Permission;
pub(crate) use project::{NAME_PATTERN, Project, check_name, check_project_id, project, projects};
pub(crate) use sign_in::BROWSER_LASTS;
pub(crate) use token::TokenOrder;
