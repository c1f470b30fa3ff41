//! Command lines: what they say, and whether they may run.
//!
//! Everything here is pure: text in, verdict out. [`grammar`] reads a line as bash reads it, [`judge`] decides. The
//! judge is a courtesy that knows when to ask; what a program can do is decided by the sandbox it runs in.

pub mod grammar;
pub mod judge;
