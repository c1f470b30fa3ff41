//! Questions to people: what a parked call keeps, and what happens when somebody answers.
//!
//! A call whose verdict asks is parked by the station `approve` and reported as pending; the kernel does not
//! wait. [`Toolroom::answer`](crate::Toolroom::answer) and [`Toolroom::edit`](crate::Toolroom::edit) record what a
//! person says and run nothing; [`Toolroom::resume`](crate::Toolroom::resume) runs what was said yes to, through
//! every station. Who may answer is checked where the answer is written, in the ledger's transaction, whatever
//! channel it came through; no argument of a tool and no tool can answer.

mod answer;
mod asked;
mod edit;
mod reach;
mod sealed;

pub use answer::{AnswerError, AnswerRequest};
pub use asked::{Asked, AskedError};
pub use edit::{EditError, EditRequest, Edited};
pub use reach::Reach;
pub use sealed::purpose;
pub(crate) use sealed::{Lift, SealedRequest, keep};
