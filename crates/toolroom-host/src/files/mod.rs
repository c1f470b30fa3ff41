//! Files of a project, accessed through descriptors of the folders opened for it.
//!
//! A [`Workspace`] is a list of roots. The kernel follows a path below one of them (`openat2`, decision 12); it cannot
//! leave the root even if links are swapped concurrently. The file that was found is judged, never the requested path:
//! its kind, real path and identity. Only then it is opened. Written files replace old ones atomically.
//!
//! Every call blocks. Reading and listing are bounded for any folder content.

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
