//! Long responses: event streams, artifact bodies, and work that ends when its client disconnects.

pub(crate) mod artifact_body;
pub(crate) mod cancel_on_disconnect;
pub(crate) mod events;
