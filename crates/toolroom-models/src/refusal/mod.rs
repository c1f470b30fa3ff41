//! What vendors say when they do not answer.

mod window;

pub(crate) use window::window_in;
