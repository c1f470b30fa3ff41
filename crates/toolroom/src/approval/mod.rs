//! Questions to people: what a parked call keeps, and what happens when somebody answers.
//!
//! A call whose verdict asks is parked by the station `approve` and reported as pending; the kernel does not
//! wait. [`Toolroom::answer`](crate::Toolroom::answer) and [`Toolroom::edit`](crate::Toolroom::edit) record what a
//! person says and run nothing; [`Toolroom::resume`](crate::Toolroom::resume) runs what was said yes to, through
//! every station. Which answers are taken from whom is one rule ([`Responder`]), whatever channel they come through, and
//! is checked once more in the ledger's transaction; no argument of a tool and no tool can answer.

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
pub(crate) use sealed::{Lift, SealedRequest, keep};
