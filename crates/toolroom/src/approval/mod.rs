//! Questions to people: what a parked call stores, and how answers are taken.
//!
//! A call whose verdict asks is parked by the station `approve` and reported as pending; the kernel does not
//! wait. [`Toolroom::answer`](crate::Toolroom::answer) and [`Toolroom::edit`](crate::Toolroom::edit) record what a
//! person says and run nothing; [`Toolroom::resume`](crate::Toolroom::resume) runs approved calls, through
//! every station. [`Responder`] is the one rule for who may give which answer, over every channel; the ledger's
//! transaction checks it once more. Tools and their arguments cannot answer.

mod answer;
mod coverage;
mod edit;
mod question;
mod responder;
mod sealed;

pub use answer::{AnswerError, AnswerRequest};
pub use coverage::AnswerCoverage;
pub use edit::{EditError, EditRequest, Edited};
pub use question::{QuestionDetails, QuestionError};
pub use responder::Responder;
pub use sealed::purpose;
pub(crate) use sealed::{Lift, SealedRequest, seal_request};
