//! Confines programs by means of the operating system.
//!
//! A [`Profile`] says what is allowed. A [`Sandbox`] is the strongest confinement of this machine, found by trying it:
//! [`Level::Namespaces`] is bubblewrap with Landlock and seccomp inside, [`Level::Landlock`] is the latter two alone. It
//! turns a profile into a [`Confinement`] or fails: a program never gets less confinement than requested. An
//! [`Order`](crate::process::Order) with a confinement is started inside it.
//!
//! The steps, each in the process that becomes the program: no new privileges, limits, namespaces (by bubblewrap, whose
//! first process is a stage of our helper), change of the user (only as root), Landlock, seccomp, exec. If a step fails,
//! nothing is started.
//!
//! Files are an allow-list: system folders are readable, those of the profile as it says, all others are inaccessible. The
//! user's home, our data and folders of other users need not be listed.

mod bubblewrap;
mod confinement;
mod covered_file;
mod error;
mod find;
mod landlock;
mod level;
mod named_profile;
mod passwd;
mod profile;
mod protected;
mod seccomp;
mod system;
mod unconfirmed;
mod user;

pub(crate) use bubblewrap::PROXY;
pub use confinement::Confinement;
pub use error::SandboxError;
pub use find::{Sandbox, SandboxRequest};
pub use level::{Guarantee, Level};
pub use named_profile::{NamedProfile, ProfileNameError};
pub use profile::{Network, Profile};
pub(crate) use unconfirmed::UnconfirmedMarks;
pub use unconfirmed::{confirm, is_unconfirmed};
pub use user::{User, make_home};
