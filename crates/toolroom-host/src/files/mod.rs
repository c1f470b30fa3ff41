//! Files of a project, reached through descriptors of the folders that were opened for it.
//!
//! A [`Workspace`] is a list of roots. A path is followed by the kernel below one of them (`openat2`, decision 12) and
//! cannot leave it, whoever swaps links meanwhile. What was found is judged, never the path that was asked for: its
//! kind, its real name, its identity. Only then it is opened. What was written takes its place whole.
//!
//! Every call here blocks. Reading and listing are bounded whatever lies in a folder.

mod beneath;
mod error;
mod judge;
mod list;
mod locate;
mod media;
mod path_handle;
mod private_key;
mod projects;
mod protected;
mod read;
mod requested_path;
mod root;
mod stamp;
mod survey;
mod workspace;
mod write;

pub use error::{FileError, RootProblem};
pub use judge::{Judge, PathRefusal, Role};
pub use list::{Entry, EntryKind, Listing};
pub use locate::LocatedFile;
pub use projects::Projects;
pub use protected::Protected;
pub use read::{Lines, MAX_WHOLE_BYTES, Page};
pub use requested_path::RequestedPath;
pub use root::Access;
pub use survey::{RootReport, RootState};
pub use workspace::Workspace;
pub use write::{Parents, WriteOutcome};
