//! Files that tools and programs are kept from by their names: credentials, and *start files*, which run code for their
//! owner later (settings of shells, editors, agents, git). One list (`names.txt`) for the file tools and for the sandbox.
//!
//! Where only some files of a name are secret (`server.pem`), the content decides, for the file tools alone.

mod home;
mod names;
mod survey;

pub(crate) use home::{below_home, holds_a_home, is_a_home};
pub(crate) use names::{
    ChangedBy, PathKind, holds_credentials, holds_start_files, in_lower_case, is_credential, is_start_file,
    watched,
};
pub(crate) use survey::{SensitiveFiles, Survey};
