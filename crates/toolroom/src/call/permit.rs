//! Station 3: may it run?

use super::fence::catch_panic;
use super::open_call::OpenCall;
use super::report::{Denial, Exit};
use crate::catalog::Entry;
use crate::policy::{CHOICE_RULE, Facts, JUDGE_RULE, Judgement, Ruling, Trace, Verdict};
use crate::tool::{Arguments, ToolSpec};
use crate::toolroom::Toolroom;

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
    call: &mut OpenCall,
) -> Result<Verdict, Denial> {
    let spec = described(entry, arguments)?;
    call.record.effect = Some(spec.effective_effect());
    let standing = call.standing()?;
    if call.request.choice.as_ref().is_some_and(|choice| !choice.includes(entry.spec())) {
        let reason = format!("`{}` is not among the tools of this agent", entry.spec().id);
        return Err(Denial::by_rule(CHOICE_RULE, reason));
    }
    room.catalog.check_enabled(entry.spec(), &standing.switches, &call.request.context)?;
    let judgement = catch_panic(|| entry.tool.judge(arguments))
        .map_err(|error| Denial::by_rule(JUDGE_RULE, "the tool's own judgement crashed").caused_by(error))?;
    let definition = entry.definition_hash();
    let facts = facts(spec, arguments, &definition, call);
    let judgement = match judgement.asks() {
        Some(by) if standing.answers.lifting(JUDGE_RULE, by, &facts).is_some() => Judgement::Allow,
        _ => judgement,
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
    call: &mut OpenCall,
) -> (Result<Verdict, Denial>, Option<Trace>) {
    let judged = described(entry, arguments).ok().zip(call.standing().ok());
    let trace = judged.map(|(spec, standing)| {
        let definition = entry.definition_hash();
        room.policy.trace(&facts(spec, arguments, &definition, call), &standing.answers)
    });
    (decide(room, entry, arguments, call), trace)
}

/// What a call with these arguments counts as.
pub(crate) fn described<'a>(entry: &'a Entry, arguments: &Arguments) -> Result<&'a ToolSpec, Denial> {
    let spec = catch_panic(|| entry.tool.spec_for(arguments)).map_err(|error| {
        Denial::by_rule(JUDGE_RULE, "the tool crashed when asked what the call would do").caused_by(error)
    })?;
    match spec.is_as_strict_as(entry.spec()) {
        true => Ok(spec),
        false => {
            let reason = "the tool declares less for this call than in its definition";
            Err(Denial::by_rule(JUDGE_RULE, reason))
        }
    }
}

fn facts<'a>(
    spec: &'a ToolSpec,
    arguments: &'a Arguments,
    definition: &'a str,
    call: &'a OpenCall,
) -> Facts<'a> {
    let history = call.history.as_deref();
    Facts {
        spec,
        arguments,
        scope: &call.request.scope,
        entrance: &call.request.entrance,
        thread: call.request.thread.as_deref(),
        provenance: history.map_or(call.request.provenance, |history| history.judged),
        origin: history.and_then(|history| history.origin.as_deref()),
        destination: history.and_then(|history| history.destination.as_deref()),
        definition,
    }
}
