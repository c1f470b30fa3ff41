//! Shell command lines: parsing and judging.
//!
//! Everything here is pure: text in, verdict out. [`grammar`] parses a line as bash does, [`judge`] decides whether it may
//! run. The judge knows when to ask; what a program can do is enforced by its sandbox.

pub mod grammar;
pub mod judge;
