//! Station 5: a free place, an unused rate, and the *begun* row.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::record::OpenCall;
use super::report::{Denial, Exit};
use crate::catalog::{Entry, Places};
use crate::ledger::{BeginCall, BeginError, CallStatus};
use crate::tool::{Arguments, ErrorKind, Timeout, ToolError};

/// A tool that takes its limit from an argument ends by itself and keeps what it has so far; the kernel's own
/// deadline is only for the case that it does not.
const GRACE: Duration = Duration::from_secs(2);

/// When to come back after finding all places taken.
const QUEUE_RETRY: Duration = Duration::from_secs(1);

/// What an admitted call holds while it runs.
pub(super) struct Place {
    pub(super) deadline: Option<Instant>,
    pub(super) limit: Option<Duration>,
    /// Given back when the tool has really ended.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

pub(super) async fn begin(entry: &Entry, arguments: &Arguments, call: &mut OpenCall) -> Result<Place, Exit> {
    let limit = call.request.timeout.or_else(|| entry.spec().timeout.limit(arguments));
    let grace = match entry.spec().timeout {
        Timeout::FromArgument { .. } if call.request.timeout.is_none() => GRACE,
        Timeout::After(_) | Timeout::FromArgument { .. } | Timeout::Never => Duration::ZERO,
    };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit.saturating_add(grace)));
    let permit = match &entry.places {
        Some(places) => Some(place(places, entry, deadline, call).await?),
        None => None,
    };
    write_begun(entry, call).await?;
    Ok(Place { deadline, limit, permit })
}

/// Waiting counts against the deadline.
async fn place(
    places: &Places,
    entry: &Entry,
    deadline: Option<Instant>,
    call: &OpenCall,
) -> Result<OwnedSemaphorePermit, Exit> {
    let in_time = async {
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, places.take()).await.ok().flatten(),
            None => places.take().await,
        }
    };
    tokio::select! {
        biased;
        () = call.request.cancellation.cancelled() => Err(call.cancelled()),
        place = in_time => place.ok_or_else(|| {
            let text = format!("`{}` is busy: all its places are taken", entry.spec().id);
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(QUEUE_RETRY);
            Exit::Failed(error.with_hint("call again later").by_kernel())
        }),
    }
}

async fn write_begun(entry: &Entry, call: &mut OpenCall) -> Result<(), Exit> {
    if call.request.cancellation.is_cancelled() {
        return Err(call.cancelled());
    }
    let spec = entry.spec();
    call.record.status = CallStatus::Begun;
    call.record.begun_at = Some(call.now());
    call.record.rule = call.rule.as_ref().map(ToString::to_string);
    let must_wait = spec.effective_effect().must_sync() || !spec.rates.is_empty();
    let begin = BeginCall { record: call.record.clone(), rates: spec.rates.clone(), grant: None };
    let begun = call.ledger.begin(begin);
    call.begun = true;
    if must_wait && let Err(error) = begun.await {
        call.begun = false;
        call.record.begun_at = None;
        return Err(refused(error, call));
    }
    Ok(())
}

fn refused(error: BeginError, call: &mut OpenCall) -> Exit {
    match error {
        BeginError::RateLimited { limit, retry_after } => {
            let seconds = retry_after.as_secs().max(1);
            let text = format!("rate limit reached: {limit} at most, free again in {seconds} s");
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(retry_after);
            Exit::Failed(error.with_hint(format!("call again in {seconds} s")).by_kernel())
        }
        BeginError::GrantSpent => Exit::Denied(Denial {
            rule: "approval.spent".into(),
            reason: "the approval is used up or has expired".into(),
            remedy: Some("make the call again and have it approved again".into()),
        }),
        BeginError::Ledger(error) => call.not_journaled(error),
    }
}
