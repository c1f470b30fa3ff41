//! Station 5: a free place, an unused rate, and the *begun* row.

use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::fence::{Fenced, caught};
use super::record::{Beginning, OpenCall};
use super::report::{Denial, Exit};
use super::wait::{Stopped, until};
use crate::catalog::{Entry, Places};
use crate::clock::Timestamp;
use crate::ledger::{BeginCall, BeginError, CallRecord, CallStatus, Grant};
use crate::tool::{Arguments, Effect, ErrorKind, RaisedBy, Timeout, ToolError, ToolOutput};

/// A tool that takes its limit from an argument ends by itself and keeps what it has so far; the kernel's own
/// deadline is only for the case that it does not.
const GRACE: Duration = Duration::from_secs(2);

/// When to come back after finding all places taken.
const QUEUE_RETRY: Duration = Duration::from_secs(1);

/// The rule a call counts as that somebody else began with the same approval.
pub(super) const SPENT_RULE: &str = "approval.spent";

/// What an admitted call holds while it runs.
pub(super) struct Place {
    pub(super) deadline: Option<Instant>,
    pub(super) limit: Option<Duration>,
    /// Given back when the tool has really ended.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    /// The answer, if it was at hand: then nothing runs.
    pub(super) found: Option<Result<ToolOutput, ToolError>>,
}

pub(super) async fn begin(
    entry: &Entry,
    arguments: &Arguments,
    grant: Option<Grant>,
    call: &mut OpenCall,
) -> Result<Place, Exit> {
    let asked = call.request.timeout.or_else(|| entry.limits().timeout.limit(arguments));
    // Whoever calls may change the tool's own limit, and not the operator's.
    let limit = match (asked, entry.limits().max_timeout) {
        (Some(asked), Some(most)) => Some(asked.min(most)),
        (asked, most) => asked.or(most),
    };
    let grace = match entry.limits().timeout {
        Timeout::FromArgument { .. } if call.request.timeout.is_none() => GRACE,
        Timeout::After(_) | Timeout::FromArgument { .. } | Timeout::Never => Duration::ZERO,
    };
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit.saturating_add(grace)));
    // What few calls wait for is in a box each, and takes no room in the others.
    let permit = match &entry.places {
        Some(places) => Some(match places.try_take() {
            Some(place) => place,
            None => Box::pin(next_place(places, entry, deadline, call)).await?,
        }),
        None => None,
    };
    let writes = call.record.effect.is_none_or(Effect::writes);
    // What only counts calls counts those that began, and nobody is asked for anything here. A tool that cannot say
    // whether its answer is at hand has none.
    let found = match entry.limits().rates.is_empty() || call.resumed.is_some() || writes {
        true => None,
        false => {
            let looked = until(deadline, &call.request.cancellation, look(entry, arguments, call));
            match Box::pin(looked).await {
                Ok(Err(crash)) if crash.raised_by() == RaisedBy::Kernel => None,
                Ok(found) => found.transpose(),
                Err(Stopped::Cancelled) => return Err(call.cancelled()),
                Err(Stopped::Late) => return Err(call.late(limit)),
            }
        }
    };
    let place = Place { deadline, limit, permit, found };
    if place.found.is_none() {
        if call.request.cancellation.is_cancelled() {
            return Err(call.cancelled());
        }
        let now = call.now();
        let must_wait = writes || !entry.limits().rates.is_empty();
        if must_wait || grant.is_some() || call.record.run.is_some() {
            Box::pin(write_begun(entry, grant, now, must_wait, &place, call)).await?;
        } else {
            call.beginning = Beginning::Unsaid;
            call.record.begun_at = Some(now);
        }
    }
    Ok(place)
}

/// Whether the answer is at hand.
fn look<'a>(
    entry: &'a Entry,
    arguments: &'a Arguments,
    call: &'a OpenCall,
) -> Fenced<'a, Option<ToolOutput>> {
    match caught(|| entry.tool.at_hand(&call.request.scope, arguments)) {
        Ok(look) => Fenced::new(look),
        Err(crash) => Fenced::crashed(crash),
    }
}

/// Waiting counts against the deadline.
async fn next_place(
    places: &Places,
    entry: &Entry,
    deadline: Option<Instant>,
    call: &OpenCall,
) -> Result<OwnedSemaphorePermit, Exit> {
    match until(deadline, &call.request.cancellation, places.take()).await {
        Ok(Some(place)) => Ok(place),
        Err(Stopped::Cancelled) => Err(call.cancelled()),
        Ok(None) | Err(Stopped::Late) => {
            let text = format!("`{}` is busy: all its places are taken", entry.spec().id);
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(QUEUE_RETRY);
            Err(Exit::Failed(error.with_hint("call again later").by_kernel()))
        }
    }
}

/// Writes the row that says a call has begun. If the call must wait, the row is there before anything happens.
async fn write_begun(
    entry: &Entry,
    grant: Option<Grant>,
    now: Timestamp,
    must_wait: bool,
    &Place { deadline, limit, .. }: &Place,
    call: &mut OpenCall,
) -> Result<(), Exit> {
    let begun_at = Some(now);
    // It may have waited for a place: what counts is when the approval is used.
    let grant = grant.map(|grant| Grant { at: now, ..grant });
    let record =
        CallRecord { status: CallStatus::Begun, begun_at, rule: call.rule.clone(), ..call.record.clone() };
    let is_granted = grant.is_some();
    let rates = entry.limits().rates.clone();
    let begun = call.ledger.begin(BeginCall { record, rates, grant });
    let answer = if is_granted {
        // Whether the grant is ours is known only when the ledger has answered; walking away before that would
        // leave a call that began with nobody to run it.
        Ok(begun.await)
    } else if must_wait {
        // The row may still be written; the one that closes it comes behind it.
        until(deadline, &call.request.cancellation, begun).await
    } else {
        Ok(Ok(()))
    };
    match answer {
        Ok(Ok(())) => {
            call.beginning = Beginning::Said;
            call.record.begun_at = begun_at;
            Ok(())
        }
        Ok(Err(error)) => Err(refused(error, call)),
        Err(Stopped::Cancelled) => Err(call.cancelled()),
        Err(Stopped::Late) => Err(call.late(limit)),
    }
}

fn refused(error: BeginError, call: &mut OpenCall) -> Exit {
    match error {
        BeginError::RateLimited { limit, retry_after } => {
            // Rounded up: who comes back a moment too early is refused again.
            let seconds = retry_after.as_secs_f64().ceil().max(1.0);
            let text = format!("rate limit reached: {limit} at most, free again in {seconds} s");
            let error = ToolError::new(ErrorKind::RateLimited, text).with_retry_after(retry_after);
            Exit::Failed(error.with_hint(format!("call again in {seconds} s")).by_kernel())
        }
        BeginError::GrantSpent => {
            // The row is somebody else's: whoever used the approval first.
            call.settled = true;
            let reason = "the approval is used up or has expired; have the call approved again";
            Exit::Denied(Denial::by_rule(SPENT_RULE, reason))
        }
        BeginError::Ledger(error) => call.not_journaled(error),
    }
}
