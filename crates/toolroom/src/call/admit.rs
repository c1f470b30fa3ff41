//! Station 5: a permit to run, the rate limits, and the *begun* row.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::deadline::{WaitError, until};
use super::fence::{Fenced, catch_panic};
use super::open_call::{BeginState, OpenCall};
use super::report::{Denial, Exit};
use crate::catalog::{ConcurrencyLimit, Entry};
use crate::clock::Timestamp;
use crate::ledger::{BeginCall, BeginError, CallRecord, CallStatus, Grant};
use crate::tool::{Arguments, Effect, ErrorKind, RaisedBy, Timeout, ToolError, ToolOutput};

/// Added to the kernel's deadline of a tool that takes its time limit from an argument: such a tool ends by itself and
/// returns what it has so far.
const GRACE: Duration = Duration::from_secs(2);

/// When to retry a call that found the concurrency limit reached.
const QUEUE_RETRY: Duration = Duration::from_secs(1);

/// The rule of a call whose approval another call has used up.
pub(super) const SPENT_RULE: &str = "approval.spent";

/// What an admitted call holds while it runs.
pub(super) struct Admission {
    pub(super) deadline: Option<Instant>,
    pub(super) limit: Option<Duration>,
    /// Released when the tool has really ended.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    /// The result, if the tool had it at hand: then nothing runs.
    pub(super) at_hand: Option<Result<ToolOutput, ToolError>>,
}

pub(super) async fn begin(
    entry: &Entry,
    arguments: &Arguments,
    grant: Option<Grant>,
    call: &mut OpenCall,
) -> Result<Admission, Exit> {
    let requested = call.request.timeout.or_else(|| entry.limits().timeout.limit(arguments));
    // The caller may change the tool's own limit, but not the operator's.
    let limit = match (requested, entry.limits().max_timeout) {
        (Some(requested), Some(most)) => Some(requested.min(most)),
        (requested, most) => requested.or(most),
    };
    let grace = match entry.limits().timeout {
        Timeout::FromArgument { .. } if call.request.timeout.is_none() => GRACE,
        Timeout::After(_) | Timeout::FromArgument { .. } | Timeout::Never => Duration::ZERO,
    };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit.saturating_add(grace)));
    // Rare waits are boxed, so that they do not enlarge the future of every call.
    let permit = match &entry.concurrency {
        Some(concurrency) => Some(match concurrency.try_acquire() {
            Some(permit) => permit,
            None => Box::pin(wait_for_permit(concurrency, entry, deadline, call)).await?,
        }),
        None => None,
    };
    let writes = call.record.effect.is_none_or(Effect::writes);
    // Only a tool with rate limits is asked, as it saves counting the call. A tool that fails to say whether it has the
    // result at hand does not have it.
    let at_hand = match entry.limits().rates.is_empty() || call.resumed.is_some() || writes {
        true => None,
        false => {
            let looked = until(deadline, &call.request.cancellation, look(entry, arguments, call));
            match Box::pin(looked).await {
                Ok(Err(crash)) if crash.raised_by() == RaisedBy::Kernel => None,
                Ok(result) => result.transpose(),
                Err(WaitError::Cancelled) => return Err(call.cancelled()),
                Err(WaitError::DeadlineReached) => return Err(call.late(limit)),
            }
        }
    };
    let admission = Admission { deadline, limit, permit, at_hand };
    if admission.at_hand.is_none() {
        if call.request.cancellation.is_cancelled() {
            return Err(call.cancelled());
        }
        let now = call.now();
        let must_wait = writes || !entry.limits().rates.is_empty();
        if must_wait || grant.is_some() || call.record.run.is_some() {
            Box::pin(write_begun(entry, grant, now, must_wait, &admission, call)).await?;
        } else {
            call.begin = BeginState::Unwritten;
            call.record.begun_at = Some(now);
        }
    }
    Ok(admission)
}

/// Asks the tool whether it has the result at hand.
fn look<'a>(
    entry: &'a Entry,
    arguments: &'a Arguments,
    call: &'a OpenCall,
) -> Fenced<'a, Option<ToolOutput>> {
    match catch_panic(|| entry.tool.at_hand(&call.request.scope, arguments)) {
        Ok(look) => Fenced::new(look),
        Err(crash) => Fenced::crashed(crash),
    }
}

/// Waiting counts against the deadline.
async fn wait_for_permit(
    concurrency: &ConcurrencyLimit,
    entry: &Entry,
    deadline: Option<Instant>,
    call: &OpenCall,
) -> Result<OwnedSemaphorePermit, Exit> {
    match until(deadline, &call.request.cancellation, concurrency.acquire()).await {
        Ok(Some(permit)) => Ok(permit),
        Err(WaitError::Cancelled) => Err(call.cancelled()),
        Ok(None) | Err(WaitError::DeadlineReached) => {
            let text = format!("`{}` is busy: it runs as many calls at once as it may", entry.spec().id);
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(QUEUE_RETRY);
            Err(Exit::Failed(error.with_hint("call again later").by_kernel()))
        }
    }
}

/// Writes the *begun* row. If the call must wait, the row is committed before the tool starts.
async fn write_begun(
    entry: &Entry,
    grant: Option<Grant>,
    now: Timestamp,
    must_wait: bool,
    &Admission { deadline, limit, .. }: &Admission,
    call: &mut OpenCall,
) -> Result<(), Exit> {
    let begun_at = Some(now);
    // The call may have waited for a permit: the approval counts as used now.
    let grant = grant.map(|grant| Grant { at: now, ..grant });
    let record =
        CallRecord { status: CallStatus::Begun, begun_at, rule: call.rule.clone(), ..call.record.clone() };
    let is_granted = grant.is_some();
    let rates = entry.limits().rates.clone();
    let begun = call.ledger.begin(BeginCall { record, rates, grant });
    let answer = if is_granted {
        // Only the ledger's answer tells whether the grant is ours. Giving up before it would leave a begun call that
        // does not run.
        Ok(begun.await)
    } else if must_wait {
        // If the wait is given up, the row may still be written; the closing row is queued behind it.
        until(deadline, &call.request.cancellation, begun).await
    } else {
        Ok(Ok(()))
    };
    match answer {
        Ok(Ok(())) => {
            call.begin = BeginState::Written;
            call.record.begun_at = begun_at;
            Ok(())
        }
        Ok(Err(error)) => Err(refused(error, call)),
        Err(WaitError::Cancelled) => Err(call.cancelled()),
        Err(WaitError::DeadlineReached) => Err(call.late(limit)),
    }
}

fn refused(error: BeginError, call: &mut OpenCall) -> Exit {
    match error {
        BeginError::RateLimited { limit, retry_after } => {
            // Rounded up, as a call that is retried a moment too early is refused again.
            let seconds = retry_after.as_secs_f64().ceil().max(1.0);
            let text = format!("rate limit reached: {limit} at most, free again in {seconds} s");
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(retry_after);
            Exit::Failed(error.with_hint(format!("call again in {seconds} s")).by_kernel())
        }
        BeginError::GrantSpent => {
            // The row belongs to the call that used the approval first.
            call.settled = true;
            let reason = "the approval is used up or has expired; have the call approved again";
            Exit::Denied(Denial::by_rule(SPENT_RULE, reason))
        }
        BeginError::Ledger(error) => call.not_journaled(error),
    }
}
