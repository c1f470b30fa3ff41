//! How a call is judged: what `--explain`, `--dry-run` and `policy explain` tell.

use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallRequest, Explanation, Outcome};
use toolroom::ledger::Answerer;
use toolroom::policy::{Finding, Ruling, Tried};
use toolroom::tool::{Arguments, Capability};

use super::exit::Exit;
use super::output::{BOLD, DIM, Output, table, visible};
use super::sheet::who;
use crate::app::App;
use crate::documents::Failure;

/// How a call is judged before it is made.
#[derive(Serialize)]
pub(super) struct Judged {
    tool: String,
    effect: &'static str,
    capabilities: Vec<&'static str>,
    risk: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<Ruling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Who may answer, if it asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Answerer>,
    /// Every rule, and what came of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<Tried>,
}

impl Judged {
    pub(super) fn of(explanation: &Explanation) -> Self {
        let spec = explanation.spec();
        let (ruling, rule, reason, by) = match &explanation.verdict {
            None => (None, None, None, None),
            Some(Ok(verdict)) => {
                let reason = Some(verdict.reason.clone()).filter(|reason| !reason.is_empty());
                let by = (verdict.ruling == Ruling::Ask).then_some(verdict.by);
                (Some(verdict.ruling), Some(verdict.rule.to_string()), reason, by)
            }
            Some(Err(denial)) => {
                (Some(Ruling::Deny), Some(denial.rule.to_string()), Some(denial.reason.clone()), None)
            }
        };
        let mut tried = explanation.trace.as_ref().map(|trace| trace.tried.clone()).unwrap_or_default();
        if let (Some(rule), Some(ruling)) = (&rule, ruling) {
            decide_by(&mut tried, rule, ruling);
        }
        Self {
            tool: spec.id.to_string(),
            effect: spec.effective_effect().as_str(),
            capabilities: spec.effective_capabilities().iter().map(Capability::as_str).collect(),
            risk: spec.risk.as_str(),
            arguments: explanation.arguments.as_ref().ok().cloned(),
            problem: explanation.arguments.as_ref().err().map(|error| error.for_model().to_owned()),
            ruling,
            rule,
            reason,
            by,
            tried,
        }
    }

    /// How a process ends that only judges.
    pub(super) fn exit(&self) -> Exit {
        match (&self.problem, self.ruling) {
            (Some(_), _) => Exit::Failed,
            (None, Some(Ruling::Deny) | None) => Exit::Denied,
            (None, Some(Ruling::Ask)) => Exit::Pending,
            (None, Some(Ruling::Allow)) => Exit::Done,
        }
    }

    /// A line for each thing there is to say, without the rules that were tried.
    pub(super) fn text(&self) -> String {
        let mut lines = Vec::new();
        let mut line =
            |name: &str, text: &str| lines.push(format!("{BOLD}{name:<13}{BOLD:#}{}", visible(text)));
        line("tool", &self.tool);
        if let Some(arguments) = &self.arguments {
            line("arguments", &Value::Object(arguments.clone()).to_string());
        }
        if let Some(problem) = &self.problem {
            line("problem", problem);
        }
        line("effect", self.effect);
        let able =
            if self.capabilities.is_empty() { "none".to_owned() } else { self.capabilities.join(", ") };
        line("capabilities", &able);
        line("risk", self.risk);
        if let (Some(ruling), Some(rule)) = (self.ruling, &self.rule) {
            line("verdict", &format!("{} (rule {rule})", ruling.as_str()));
        }
        if let Some(reason) = &self.reason {
            line("reason", reason);
        }
        if let Some(by) = self.by {
            line("may answer", who(by));
        }
        lines.join("\n")
    }

    /// Every rule that was tried, in the order in which that was done.
    pub(super) fn table(&self) -> String {
        let row = |tried: &Tried| {
            let style = if tried.finding == Finding::Fired { BOLD } else { DIM };
            vec![
                format!("  {style}{}{style:#}", visible(&tried.rule)),
                tried.effect.as_str().to_owned(),
                visible(&tried.finding.to_string()),
            ]
        };
        table(&self.tried.iter().map(row).collect::<Vec<_>>())
    }

    /// Tells it beside a call: of the rules that were tried only those that had something to say.
    pub(super) fn tell(&self, output: Output) {
        output.talk(self.text());
        let decided = |tried: &&Tried| Some(&tried.rule) == self.rule.as_ref();
        for tried in self.tried.iter().filter(|tried| !decided(tried) && had_a_say(&tried.finding)) {
            let (rule, effect) = (visible(&tried.rule), tried.effect.as_str());
            let finding = visible(&tried.finding.to_string());
            output.talk(format_args!("{BOLD}{:<13}{BOLD:#}{rule} ({effect}): {finding}", "also"));
        }
    }
}

/// Switches and the tool's own judgement come beside the policy: where one of them decided, it beat the rule that
/// would have.
fn decide_by(tried: &mut Vec<Tried>, rule: &str, effect: Ruling) {
    if tried.iter().any(|tried| tried.rule == rule) {
        return;
    }
    for other in tried.iter_mut().filter(|tried| tried.finding == Finding::Fired) {
        other.finding = Finding::BeatenBy(rule.to_owned());
    }
    tried.push(Tried { rule: rule.to_owned(), effect, finding: Finding::Fired });
}

fn had_a_say(finding: &Finding) -> bool {
    match finding {
        Finding::OtherTool
        | Finding::OtherCaller
        | Finding::OtherConversation
        | Finding::OtherDefinition
        | Finding::ConditionFalse
        | Finding::Unneeded => false,
        Finding::Fired
        | Finding::BeatenBy(_)
        | Finding::LiftedBy(_)
        | Finding::Lifts(_)
        | Finding::MayNotLift(_)
        | Finding::Failed(_) => true,
    }
}

/// The whole way up to the limits and the effect, and not a step further.
pub(super) async fn dry_run(app: &App, request: CallRequest, output: &Output) -> anyhow::Result<Exit> {
    let judged = match app.room.explain(request).await {
        Ok(explanation) => Judged::of(&explanation),
        Err(error) => {
            if output.is_json() {
                let document = DryRun {
                    dry_run: true,
                    would_be: "failed",
                    explain: None,
                    error: Some(Failure::of(&error)),
                };
                output.document(&document)?;
            } else {
                output.failure(error.for_model(), error.hint(), None);
            }
            return Ok(Exit::of_outcome(&Outcome::Failed(error)));
        }
    };
    let exit = judged.exit();
    let would_be = match exit {
        Exit::Done => "done",
        Exit::Pending => "pending",
        Exit::Denied => "denied",
        Exit::Failed
        | Exit::Usage
        | Exit::NotFound
        | Exit::Timeout
        | Exit::Interrupted
        | Exit::Program(_) => "failed",
    };
    if output.is_json() {
        output.document(&DryRun { dry_run: true, would_be, explain: Some(judged), error: None })?;
    } else {
        judged.tell(*output);
        output.talk(match exit {
            Exit::Done => "would run; nothing was run",
            _ => "would not run; nothing was run",
        });
    }
    Ok(exit)
}

/// What `--dry-run --json` prints.
#[derive(Serialize)]
struct DryRun {
    dry_run: bool,
    would_be: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Judged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}
