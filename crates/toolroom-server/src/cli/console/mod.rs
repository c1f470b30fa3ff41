//! What all commands share: output, exit codes, prompts, redaction, input files, times.

pub(crate) mod exit;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod redaction;
pub(crate) mod time;
