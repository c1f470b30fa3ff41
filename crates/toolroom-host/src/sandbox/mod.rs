//! What a program may touch, held by the operating system.
//!
//! A [`Profile`] says what is allowed. A [`Sandbox`] is the strongest confinement this machine has, found by trying it:
//! [`Level::Namespaces`] is bubblewrap with Landlock and seccomp inside, [`Level::Landlock`] is the latter two alone. It
//! makes a [`Confinement`] of a profile, or says why it cannot: nothing is ever held less than was asked for. An
//! [`Order`](crate::process::Order) with a confinement is started inside it.
//!
//! The order of the steps, each in the process that becomes the program: no new privileges, limits, namespaces (by
//! bubblewrap, whose first process is a stage of our helper), another user (only if we are root), Landlock, seccomp, and
//! then the program. A step that fails starts nothing.
//!
//! Files are allowed, not forbidden: the system's folders are there to be read, those of the profile as it says, and
//! nothing else. Home, our data and other people's folders need not be named to be out of reach.

mod bubblewrap;
mod confinement;
mod covered_file;
mod error;
mod find;
mod home;
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
pub use home::make_home;
pub use level::{Guarantee, Level};
pub use named_profile::{NamedProfile, ProfileNameError};
pub use profile::{Network, Profile};
pub(crate) use unconfirmed::UnconfirmedMarks;
pub use unconfirmed::{confirm, is_unconfirmed};
pub use user::User;
