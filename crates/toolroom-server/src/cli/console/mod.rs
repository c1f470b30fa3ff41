//! Shared by all commands: output, exit codes, prompts, redaction, input and times.

pub(crate) mod exit;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod redaction;
pub(crate) mod time;
