//! The doors of Toolroom to the outside: the only crate that reads the environment, touches files and asks the
//! operating system about processes.
//!
//! It knows no tool and no kernel type, so it can be audited alone: every use of a raw door carries the words
//! "this is the door". The network client, rooted files, the process supervisor and sealed secrets are planned
//! rooms of this crate.

pub mod environment;
pub mod folders;
pub mod interrupt;
pub mod presence;
