//! Station 4: what asks is parked.

use std::time::Duration;

use serde_json::Value;

use super::record::OpenCall;
use super::report::{Exit, Pending};
use crate::catalog::{Entry, hash_of};
use crate::ledger::{Approval, CallStatus, ParkCall};
use crate::policy::{Ruling, Verdict};
use crate::room::Toolroom;
use crate::tool::Arguments;

/// How long a question stays open. After that the answer is no.
const APPROVAL_LIFETIME: Duration = Duration::from_secs(24 * 3600);

pub(super) async fn pass(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    verdict: Verdict,
    call: &mut OpenCall,
) -> Result<(), Exit> {
    if verdict.ruling == Ruling::Allow {
        return Ok(());
    }
    let expires_at = room.clock.now().after(APPROVAL_LIFETIME);
    let approval = Approval {
        call: call.record.id.clone(),
        arguments_hash: hash_of(&mut Value::Object(arguments.clone())),
        definition_hash: entry.definition_hash(),
        by: verdict.by,
        reason: verdict.reason.clone(),
        expires_at,
    };
    let mut record = call.record.clone();
    record.status = CallStatus::Pending;
    record.rule = Some(verdict.rule.clone());
    // From here on the row is the ledger's, also if the caller does not wait for it.
    call.settled = true;
    room.ledger.park(ParkCall { record, approval }).await.map_err(|error| call.not_journaled(error))?;
    Err(Exit::Pending(Pending { rule: verdict.rule, reason: verdict.reason, by: verdict.by, expires_at }))
}
