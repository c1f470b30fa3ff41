//! MCP: official suites and clients, and hostile ones, against the real server.

mod approvals;
mod lasting;
mod messages;
pub(crate) mod place;
mod stdio;
mod suites;
mod talks;
mod tasks;
