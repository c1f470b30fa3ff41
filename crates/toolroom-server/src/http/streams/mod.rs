//! Responses that last: event streams, artifact bodies, and work that ends with its client.

pub(crate) mod artifact_body;
pub(crate) mod cancel_on_disconnect;
pub(crate) mod events;
