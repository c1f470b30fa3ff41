//! Sessions of clients from before 2026-07-28, the requests they cancel, and subscriptions to changes of the lists.

pub(super) mod change_poller;
pub(super) mod running_requests;
pub(super) mod session;
pub(super) mod subscription;
