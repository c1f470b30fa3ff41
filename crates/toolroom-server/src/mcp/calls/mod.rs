//! `tools/call`: making calls, asking for approval, tasks, and how results are written.

pub(super) mod approval;
mod approval_form;
mod artifacts;
pub(super) mod content;
pub(super) mod dialogue;
pub(super) mod parked;
pub(super) mod progress;
mod request_state;
pub(super) mod tasks;
pub(super) mod tool_call;
pub(super) mod undelivered_results;
