//! Accepting connections and serving HTTP/1 on them.

pub(crate) mod accept;
pub(crate) mod runtime;
pub(crate) mod write_timeout;
