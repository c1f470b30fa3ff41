//! `toolroom doctor` and the tool `doctor`: whether this installation is in order.
//!
//! [`Doctor`] gathers [`Facts`](gather::Facts) and never fails as a whole: what cannot be read is a fact, too. `checks/`
//! turns them into a report, with one file for each subject.

mod checks;
mod gather;

pub(crate) use gather::Doctor;
