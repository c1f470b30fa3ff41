//! The doors of Toolroom to the outside: the only crate that reads the environment, touches files, opens connections,
//! starts programs, speaks to the terminal and asks the operating system about the machine and its processes.
//!
//! It knows no tool and no kernel type, so it can be audited alone: every use of a raw door carries the words
//! "this is the door".

pub mod archive;
pub mod background;
pub mod control_group;
pub mod descriptors;
pub mod desktop;
pub mod environment;
pub mod exchange;
pub mod files;
pub mod folders;
pub mod inbox;
pub mod interrupt;
pub mod listen;
pub mod machine;
mod mapped;
pub mod net;
pub mod notice;
pub mod occupancy;
mod owner;
pub mod picture_file;
pub mod presence;
pub mod process;
mod regular_file;
pub mod sandbox;
#[cfg(test)]
#[path = "../../toolroom/tests/it/scale.rs"]
mod scale;
pub mod seal;
mod sensitive;
pub mod service_manager;
pub mod shell;
pub mod sse;
pub mod ssh;
mod staged;
pub mod standard_streams;
pub mod terminal;
pub mod text_file;
mod trail;
pub mod work_folder;
