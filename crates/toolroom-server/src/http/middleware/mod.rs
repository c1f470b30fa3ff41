//! The stages of [`pipeline`](super::pipeline), one file each.

pub(crate) mod authenticate;
pub(crate) mod client_address;
pub(crate) mod host_check;
pub(crate) mod idempotency;
pub(crate) mod permits;
pub(crate) mod rate_limit;
pub(crate) mod request_log;
pub(crate) mod revocation;
pub(crate) mod token_bucket;
