//! The doors of Toolroom to the outside: the only crate that reads the environment, accesses files, opens connections,
//! starts programs, talks to the terminal and asks the operating system about the machine and its processes.
//!
//! It knows neither tools nor kernel types, so it can be audited alone: every use of a raw door carries the words
//! "this is the door".

pub mod archive;
mod atomic_file;
pub mod background;
pub mod change_counter;
pub mod control_group;
pub mod descriptors;
pub mod desktop;
pub mod environment;
pub mod files;
pub mod folder_lock;
pub mod folders;
pub mod interrupt;
pub mod listen;
pub mod machine;
mod memory_map;
pub mod net;
mod owner;
mod path_with_links;
pub mod picture_file;
pub mod process;
pub mod process_identity;
mod regular_file;
pub mod replacement;
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
pub mod standard_streams;
pub mod terminal;
pub mod text_file;
pub mod work_folder;
pub mod write_ahead_file;
