//! Station 3: may it run?

use super::fence::caught;
use super::record::OpenCall;
use super::report::{Denial, Exit};
use crate::catalog::Entry;
use crate::policy::{Facts, JUDGE_RULE, Judgement, Ruling, Trace, Verdict};
use crate::room::Toolroom;
use crate::tool::Arguments;

pub(super) fn verdict(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &mut OpenCall,
) -> Result<Verdict, Exit> {
    let verdict = decide(room, entry, arguments, call).map_err(Exit::Denied)?;
    call.rule = Some(verdict.rule.clone());
    Ok(verdict)
}

/// Switches, then policy, then the tool's own judgement. What cannot be decided is denied.
pub(super) fn decide(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &OpenCall,
) -> Result<Verdict, Denial> {
    let standing = call.standing()?;
    room.catalog.check_enabled(entry.spec(), &standing.switches, &call.request.context)?;
    let judgement = caught(|| entry.tool.judge(arguments))
        .map_err(|error| Denial::by_rule(JUDGE_RULE, "the tool's own judgement crashed").caused_by(error))?;
    let definition = entry.definition_hash();
    let facts = facts(entry, arguments, &definition, call);
    let judgement = match judgement {
        Judgement::Ask(_) if standing.answers.lifting(JUDGE_RULE, &facts).is_some() => Judgement::Allow,
        judgement => judgement,
    };
    let verdict = room.policy.verdict(&facts, &standing.answers).tightened(judgement);
    if verdict.ruling == Ruling::Deny {
        return Err(Denial::by_rule(verdict.rule, verdict.reason));
    }
    Ok(verdict)
}

/// The verdict, and every rule that was tried for it.
pub(super) fn explain(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &OpenCall,
) -> (Result<Verdict, Denial>, Option<Trace>) {
    let trace = call.standing().ok().map(|standing| {
        let definition = entry.definition_hash();
        room.policy.trace(&facts(entry, arguments, &definition, call), &standing.answers)
    });
    (decide(room, entry, arguments, call), trace)
}

fn facts<'a>(
    entry: &'a Entry,
    arguments: &'a Arguments,
    definition: &'a str,
    call: &'a OpenCall,
) -> Facts<'a> {
    Facts {
        spec: entry.spec(),
        arguments,
        scope: &call.request.scope,
        entrance: &call.request.entrance,
        thread: call.request.thread.as_deref(),
        provenance: call.request.provenance,
        definition,
    }
}
