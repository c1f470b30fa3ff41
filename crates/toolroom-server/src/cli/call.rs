//! `toolroom call`: one call, through every station.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallReport, CallRequest, CancellationToken, Explanation, Outcome};
use toolroom::policy::Ruling;
use toolroom::scope::Scope;
use toolroom::tool::{Arguments, ToolError};
use toolroom_host::interrupt::Interrupts;

use super::complete;
use super::exit::{Exit, is_broken_pipe};
use super::output::{BOLD, Output, visible};
use super::span::parse_limit;
use super::tools::remedy;
use super::words;
use crate::app::App;

/// Nobody waits for a shell while more than this is piped in; the kernel's own limit is the same.
const STDIN_MAX_BYTES: u64 = toolroom::schema::MAX_TEXT_BYTES as u64 + 1;

const EXAMPLES: &str = "\
Examples:
  toolroom call calculator expression='2 + 2 * 3'
  toolroom call get_local_time timezone=Asia/Tokyo --json
  echo '{\"expression\": \"6 * 7\"}' | toolroom call calculator -
  toolroom tools show calculator      says which arguments a tool takes";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallArgs {
    /// Tool: id, alias or name, e.g. `calculator`
    #[arg(add = complete::tools())]
    tool: String,
    /// key=value, key:=JSON, a JSON object, or - for an object on stdin
    #[arg(value_name = "ARGUMENT", add = complete::arguments())]
    arguments: Vec<String>,
    /// Facts about the caller for tools that need them (key=value or key:=JSON; repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    context: Vec<String>,
    /// Stop after this long instead of the tool's own limit, e.g. 500ms, 30s, 5m
    #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
    timeout: Option<Duration>,
    /// Check arguments, switches and policy; run nothing, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Say on stderr how the call is judged
    #[arg(long)]
    explain: bool,
}

pub(super) async fn run(app: &App, scope: Scope, args: CallArgs, output: &Output) -> anyhow::Result<Exit> {
    // Of a tool that does not exist nothing is known about its arguments.
    let entry = app.room.catalog().find(&scope.project, &args.tool).ok();
    let schema = entry.as_ref().map_or(&Value::Null, |entry| entry.spec().parameters.as_ref());
    let mut request = CallRequest::new(args.tool)
        .arguments(words::arguments(&args.arguments, schema, read_stdin)?)
        .scope(scope)
        .entrance("cli");
    request.context = words::context(&args.context)?;
    request.timeout = args.timeout;
    if args.dry_run {
        return dry_run(app, request, output).await;
    }
    let explanation = match args.explain {
        true => app.room.explain(request.clone()).await.ok().map(|explanation| Judged::of(&explanation)),
        false => None,
    };
    if let (Some(judged), false) = (&explanation, output.is_json()) {
        judged.tell(*output);
    }
    let report = call(app, request, *output).await?;
    let printed = match output.is_json() {
        true => output.document(&Document::of(&report, explanation)),
        false => print(&report, *output),
    };
    match printed {
        // Nobody reads the result; what came of the call is still true.
        Err(error) if !is_broken_pipe(&error) => Err(error),
        _ => Ok(Exit::of_outcome(&report.outcome)),
    }
}

fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(STDIN_MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Makes the call; the first signal stops it, the second one the process.
async fn call(app: &App, mut request: CallRequest, output: Output) -> std::io::Result<CallReport> {
    let stop = CancellationToken::new();
    request.cancellation = stop.clone();
    request.progress = Some(Arc::new(move |progress| {
        let share =
            progress.fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
        output.progress(&format!("{}{share}", progress.message));
    }));
    let interrupts = Interrupts::watch(move || stop.cancel())?;
    let report = app.room.call(request).await;
    // What is left is to print: whoever is in a hurry need not wait for a reader, nor for the database.
    interrupts.end_on_next();
    output.end_progress();
    Ok(report)
}

fn print(report: &CallReport, output: Output) -> anyhow::Result<()> {
    match &report.outcome {
        Outcome::Done(done) => {
            output.result(&done.value)?;
            if let Some(artifact) = &done.artifact {
                output.hint(&format!(
                    "shortened; read on with `toolroom call result_read artifact={artifact}`"
                ));
            }
        }
        Outcome::Failed(error) => {
            output.failure(error.for_model(), error.hint(), error.for_operator().as_deref());
        }
        Outcome::Denied(denial) => {
            let hint = denial.off.as_ref().map(remedy);
            let reason = format!("denied: {}", denial.reason);
            output.failure(&reason, hint.as_deref(), denial.cause().as_deref());
        }
        Outcome::Pending(pending) => {
            output.talk(format_args!("{} waits for approval: {}", report.call_id, visible(&pending.reason)));
        }
    }
    Ok(())
}

/// What `--json` prints of a call.
#[derive(Serialize)]
struct Document {
    outcome: &'static str,
    call_id: String,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Arc<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    duration_ms: f64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Judged>,
}

#[derive(Serialize)]
struct Failure {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<f64>,
}

impl Failure {
    fn of(error: &ToolError) -> Self {
        Self {
            kind: error.kind().as_str(),
            message: error.for_model().to_owned(),
            hint: error.hint().map(str::to_owned),
            retry_after: error.retry_after().map(|span| span.as_secs_f64()),
        }
    }
}

impl Document {
    fn of(report: &CallReport, explain: Option<Judged>) -> Self {
        let mut document = Self {
            outcome: report.outcome.name(),
            call_id: report.call_id.to_string(),
            tool: report.tool.clone(),
            result: None,
            message: None,
            error: None,
            // Whole microseconds: more digits would be noise.
            duration_ms: report.duration.as_micros() as f64 / 1000.0,
            truncated: false,
            artifact: None,
            rule: report.rule.as_ref().map(ToString::to_string),
            explain,
        };
        match &report.outcome {
            Outcome::Done(done) => {
                document.result = Some(done.value.clone());
                document.message.clone_from(&done.message);
                document.truncated = done.truncated;
                document.artifact = done.artifact.as_ref().map(ToString::to_string);
            }
            Outcome::Failed(error) => document.error = Some(Failure::of(error)),
            Outcome::Denied(denial) => {
                let message = format!("denied: {}", denial.reason);
                let hint = denial.off.as_ref().map(remedy);
                document.error =
                    Some(Failure { kind: "permission_denied", message, hint, retry_after: None });
            }
            Outcome::Pending(pending) => {
                document.message = Some(format!("waits for approval: {}", pending.reason));
            }
        }
        document
    }
}

/// How a call is judged before it is made.
#[derive(Serialize)]
struct Judged {
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
}

impl Judged {
    fn of(explanation: &Explanation) -> Self {
        let spec = explanation.entry.spec();
        let (ruling, rule, reason) = match &explanation.verdict {
            None => (None, None, None),
            Some(Ok(verdict)) => {
                let reason = Some(verdict.reason.clone()).filter(|reason| !reason.is_empty());
                (Some(verdict.ruling), Some(verdict.rule.to_string()), reason)
            }
            Some(Err(denial)) => {
                (Some(Ruling::Deny), Some(denial.rule.to_string()), Some(denial.reason.clone()))
            }
        };
        Self {
            tool: spec.id.to_string(),
            effect: spec.effective_effect().as_str(),
            capabilities: spec
                .effective_capabilities()
                .iter()
                .map(toolroom::tool::Capability::as_str)
                .collect(),
            risk: spec.risk.as_str(),
            arguments: explanation.arguments.as_ref().ok().cloned(),
            problem: explanation.arguments.as_ref().err().map(|error| error.for_model().to_owned()),
            ruling,
            rule,
            reason,
        }
    }

    fn tell(&self, output: Output) {
        let line = |name: &str, text: &str| {
            output.talk(format_args!("{BOLD}{name:<13}{BOLD:#}{}", visible(text)));
        };
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
    }
}

/// The whole way up to the limits and the effect, and not a step further.
async fn dry_run(app: &App, request: CallRequest, output: &Output) -> anyhow::Result<Exit> {
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
    let (would_be, exit) = match (&judged.problem, judged.ruling) {
        (Some(_), _) => ("failed", Exit::Failed),
        (None, Some(Ruling::Deny) | None) => ("denied", Exit::Denied),
        (None, Some(Ruling::Ask)) => ("pending", Exit::Pending),
        (None, Some(Ruling::Allow)) => ("done", Exit::Done),
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
