//! The approval service: REST, AG-UI, MCP and the CLI answer questions about parked calls here.
//!
//! The kernel decides who may answer what, and records it. [`ApprovalService`] adds what all interfaces share: looking
//! questions up, telling refusals apart ([`ReplyError`]), and treating an earlier answer as the one that counts. It runs
//! nothing: direct calls are resumed through `calls/`, agent runs through `runs/`, which also takes results of client tools.

mod service;

pub(crate) use service::{ApprovalReply, ApprovalService, ReplyError};
