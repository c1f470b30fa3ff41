//! Who comes in over the network, and what they may do.
//!
//! A [`Caller`] is made by [`Doorkeeper::identify`] from what a request shows: a key, an end user's token, or the cookie
//! of a browser that was signed in. Nobody says who they are in any other way.

mod caller;
mod doorkeeper;
mod key;
mod origin;
mod permission;
mod sign_in;
mod token;

pub(crate) use caller::{Caller, Who};
pub(crate) use doorkeeper::{Doorkeeper, Shown, Unidentified};
pub(crate) use key::{Environment, NewKey, holds, key_of};
pub(crate) use origin::{HostName, WebOrigin};
pub(crate) use permission::{Permission, Permissions};
pub(crate) use sign_in::{BROWSER_LASTS, LINK_LASTS};
pub(crate) use token::{EndUser, TokenOrder};
