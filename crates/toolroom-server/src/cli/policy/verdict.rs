//! Prints how a call is judged, for `--explain`, `--dry-run` and `policy explain`.

use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallRequest, Outcome};
use toolroom::policy::{Finding, Ruling, Tried};

use crate::app::App;
use crate::cli::approvals::question_view::approver;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};
use crate::documents::{Failure, Judged};

impl Judged {
    /// The exit code of a command that only judges.
    pub(crate) fn exit(&self) -> Exit {
        match (&self.problem, self.ruling) {
            (Some(_), _) => Exit::Failed,
            (None, Some(Ruling::Deny) | None) => Exit::Denied,
            (None, Some(Ruling::Ask)) => Exit::Pending,
            (None, Some(Ruling::Allow)) => Exit::Done,
        }
    }

    /// The verdict as text, without the rules that were tried.
    pub(crate) fn text(&self) -> String {
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
            line("approver", approver(by));
        }
        lines.join("\n")
    }

    /// All rules in the order in which they were tried.
    pub(crate) fn table(&self) -> String {
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

    /// Prints the verdict next to a call, with only those rules that applied.
    pub(crate) fn print(&self, output: Output) {
        output.talk(self.text());
        let decided = |tried: &&Tried| Some(&tried.rule) == self.rule.as_ref();
        for tried in self.tried.iter().filter(|tried| !decided(tried) && applied(&tried.finding)) {
            let (rule, effect) = (visible(&tried.rule), tried.effect.as_str());
            let finding = visible(&tried.finding.to_string());
            output.talk(format_args!("{BOLD}{:<13}{BOLD:#}{rule} ({effect}): {finding}", "also"));
        }
    }
}

fn applied(finding: &Finding) -> bool {
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

/// Runs all stations before admission and prints the verdict.
pub(crate) async fn dry_run(app: &App, request: CallRequest, output: &Output) -> anyhow::Result<Exit> {
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
        judged.print(*output);
        output.talk(match exit {
            Exit::Done => "Would run; nothing was run",
            _ => "Would not run; nothing was run",
        });
    }
    Ok(exit)
}

#[derive(Serialize)]
struct DryRun {
    dry_run: bool,
    would_be: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Judged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}
