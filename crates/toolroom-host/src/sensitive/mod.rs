//! Protected files, recognized by name: credentials, and *start files*, which run code for their owner later (settings of
//! shells, editors, agents, git). The file tools and the sandbox share one list (`names.txt`).
//!
//! If only some files of a name are secret (`server.pem`), the file tools also check the content.

mod home;
mod names;
mod survey;

pub(crate) use home::{below_home, holds_a_home, is_a_home};
pub(crate) use names::{
    ChangedBy, PathKind, holds_credentials, holds_start_files, in_lower_case, is_credential, is_start_file,
    watched,
};
pub(crate) use survey::{SensitiveFiles, Survey};
