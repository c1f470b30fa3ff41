//! Station 3: may it run?

use super::fence::caught;
use super::record::OpenCall;
use super::report::{Denial, Exit};
use crate::catalog::Entry;
use crate::policy::{self, Ruling, Verdict};
use crate::room::Toolroom;
use crate::tool::Arguments;

pub(super) async fn verdict(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &mut OpenCall,
) -> Result<Verdict, Exit> {
    let verdict = decide(room, entry, arguments, call).await.map_err(Exit::Denied)?;
    call.rule = Some(verdict.rule.clone());
    Ok(verdict)
}

/// Switches, then policy, then the tool's own judgement. What cannot be decided is denied.
pub(super) async fn decide(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &OpenCall,
) -> Result<Verdict, Denial> {
    let switches = room.switchboard.switches(&call.request.scope.project).await.map_err(|error| {
        Denial::by_rule("switches.unreadable", "whether the tool is switched on cannot be found out")
            .caused_by(error)
    })?;
    room.catalog.check_enabled(entry.spec(), &switches, &call.request.context)?;

    let judgement = caught(|| entry.tool.judge(arguments)).map_err(|error| {
        Denial::by_rule("tool.judge", "the tool's own judgement crashed").caused_by(error)
    })?;
    let verdict = policy::verdict(entry.spec(), arguments).tightened(judgement);
    if verdict.ruling == Ruling::Deny {
        return Err(Denial::by_rule(verdict.rule, verdict.reason));
    }
    Ok(verdict)
}
