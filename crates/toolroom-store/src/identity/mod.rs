//! Who may come in over the network: projects, their keys, and browsers that were signed in. What a permission means,
//! and how a key looks, is the server's business; here are rows.

mod change;
mod key;
mod project;
mod reply;
mod sign_in;

pub(crate) use change::IdentityChange;
pub use key::{KeyRecord, Retired};
pub(crate) use key::{Keys, read_keys};
pub use project::ProjectRecord;
pub(crate) use project::read_projects;
pub use reply::{ClaimedReply, KeptReply, ReplyName};
pub use sign_in::SignInKind;
