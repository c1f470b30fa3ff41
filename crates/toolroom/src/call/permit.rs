//! Station 3: may it run?

use super::fence::caught;
use super::record::OpenCall;
use super::report::{Denial, Exit};
use crate::catalog::{Entry, Off};
use crate::policy::{self, Judgement, Ruling, Verdict};
use crate::room::Toolroom;
use crate::tool::Arguments;

pub(super) async fn verdict(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &mut OpenCall,
) -> Result<Verdict, Exit> {
    let verdict = decide(room, entry, arguments, call).await;
    let verdict =
        verdict.inspect_err(|denial| call.rule = Some(denial.rule.clone())).map_err(Exit::Denied)?;
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
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "switches cannot be read, the call is denied"
        );
        Denial {
            rule: "switches.unreadable".into(),
            reason: "whether the tool is switched on cannot be found out".into(),
            remedy: Some("see what is wrong with the database, then call again".into()),
        }
    })?;
    room.catalog.check_enabled(entry.spec(), &switches, &call.request.context).map_err(|off| denied(&off))?;

    let judgement = caught(|| entry.tool.judge(arguments)).unwrap_or_else(|error| {
        tracing::error!(tool = %entry.spec().id, cause = error.for_operator(), "a judgement crashed, the call is denied");
        Judgement::Deny("the tool's own judgement crashed".to_owned())
    });
    let verdict = policy::verdict(entry.spec(), arguments).tightened(judgement);
    if verdict.ruling == Ruling::Deny {
        return Err(Denial { rule: verdict.rule, reason: verdict.reason, remedy: None });
    }
    Ok(verdict)
}

fn denied(off: &Off) -> Denial {
    Denial { rule: off.rule().into(), reason: off.to_string(), remedy: Some(off.remedy()) }
}
