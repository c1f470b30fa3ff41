//! Waiting that ends: with what was waited for, at the deadline, or when the caller has had enough.

use std::future::Future;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a wait ended without its result.
pub(super) enum Stopped {
    /// The caller stopped the call.
    Cancelled,
    /// The deadline was reached.
    Late,
}

pub(super) async fn until<T>(
    deadline: Option<Instant>,
    cancellation: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Stopped> {
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(Stopped::Late);
    }
    let in_time = async {
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, work).await.map_err(|_| Stopped::Late),
            None => Ok(work.await),
        }
    };
    tokio::select! {
        biased;
        () = cancellation.cancelled() => Err(Stopped::Cancelled),
        result = in_time => result,
    }
}
