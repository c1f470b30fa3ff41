//! Runs that belong to the server: they outlive the client that started them, can be watched by any number of
//! subscribers, and are resumed after a restart.
//!
//! [`Runs`] works on them. Each live run has a [`Feed`](feed::Feed), read by subscribers at their own pace. A
//! [`RunSubscriber`] continues at a [`Position`], from the store where the feed no longer reaches back. Large events are
//! encoded once for all subscribers: [`encoded::Encoded`].

mod encoded;
mod feed;
#[cfg(test)]
mod feed_tests;
mod position;
mod resume;
#[expect(clippy::module_inception, reason = "the module is named after its main type")]
mod runs;
mod subscriber;

pub(crate) use feed::MissedText;
pub(crate) use position::{Position, Segment};
pub(crate) use runs::{Runs, StartRunError, StartedRun};
pub(crate) use subscriber::{RunSubscriber, RunUpdate};
