//! `toolroom call`: makes or resumes one call, with approval prompts and progress.

pub(super) mod arguments;
mod output;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use output::{CallOutput, print};
use serde_json::Value;
use toolroom::call::{
    CallReport, CallRequest, CancellationToken, Outcome, ProgressSink, ResumeError, ResumeRequest,
    UserLocation,
};
use toolroom::ledger::CallId;
use toolroom::policy::Provenance;
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;
use toolroom_host::interrupt::Interrupts;

use super::approvals::find_question;
use super::approvals::resolve::{ApprovalMode, ApprovalResolver, Resolution, WaitLimit};
use super::completions;
use super::console::exit::{Exit, Missing, Refused, Usage, is_broken_pipe};
use super::console::output::Output;
use super::console::time::{parse_limit, parse_span};
use super::policy::verdict::dry_run;
use crate::app::App;
use crate::documents::Judged;

/// Limit of standard input: one byte more than the kernel accepts, so that it reports the excess.
const STDIN_MAX_BYTES: u64 = toolroom::schema::MAX_TEXT_BYTES as u64 + 1;

/// Call source of one-shot commands. They share one provenance track.
const ONE_SHOT: &str = "cli";

const EXAMPLES: &str = "\
Examples:
  toolroom call calculator expression='2 + 2 * 3'
  toolroom call get_local_time timezone=Asia/Tokyo --json
  echo '{\"expression\": \"6 * 7\"}' | toolroom call calculator -
  toolroom call --resume call_0199…   run an approved call
  toolroom tools show calculator      show the arguments of a tool";

/// Arguments that only apply to a new call.
const NEW_CALL: [&str; 7] = ["tool", "arguments", "context", "timeout", "dry_run", "explain", "provenance"];

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallArgs {
    /// Tool id, alias or name, e.g. `calculator`
    #[arg(add = completions::tools())]
    tool: Option<String>,
    /// Arguments: key=value, key:=JSON, a JSON object, or - for an object on stdin
    #[arg(value_name = "ARGUMENT", add = completions::arguments())]
    arguments: Vec<String>,
    /// Runtime context for tools that need it (key=value or key:=JSON; repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    context: Vec<String>,
    /// Time limit instead of the tool's own, e.g. 500ms, 30s, 5m
    #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
    timeout: Option<Duration>,
    /// Only check arguments, switches and policy; runs and writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Explain on stderr how the call is judged
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    approval: ApprovalArgs,
    /// Run an approved call: its id, the ending of the id, or `last`
    #[arg(long, value_name = "ID", conflicts_with_all = NEW_CALL)]
    resume: Option<String>,
    /// Provenance of the call, what was read or sent before: private, untrusted, outward (repeatable)
    #[arg(long, value_name = "FACT", value_delimiter = ',', value_parser = ["private", "untrusted", "outward"])]
    provenance: Vec<String>,
}

#[derive(Args)]
struct ApprovalArgs {
    /// Approve once, as the caller, if the call needs approval
    #[arg(long)]
    yes: bool,
    /// If the call needs approval, wait for it and then run the call; without a limit, or e.g. 30, 5m
    #[arg(long, value_name = "SPAN", num_args = 0..=1)]
    wait: Option<Option<String>>,
    /// Never prompt on the terminal
    #[arg(long)]
    no_input: bool,
}

impl CallArgs {
    /// How long to wait for approval. A word after `--wait` that is not a span belongs to the call.
    fn wait_limit(&mut self) -> Result<WaitLimit, Usage> {
        let word = match self.approval.wait.take() {
            None => return Ok(WaitLimit::None),
            Some(None) => return Ok(WaitLimit::Forever),
            Some(Some(word)) => word,
        };
        match parse_span(&word) {
            Ok(span) => Ok(WaitLimit::after(span)),
            Err(problem)
                if self.resume.is_some() || word.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
            {
                Err(Usage(format!("--wait: {problem}")))
            }
            Err(_) => {
                self.take_back(word);
                Ok(WaitLimit::Forever)
            }
        }
    }

    /// Puts a word back where it would be without the `--wait` before it.
    fn take_back(&mut self, word: String) {
        match &self.tool {
            // The word after it was parsed as the tool.
            Some(parsed) if arguments::is_argument(parsed) && !arguments::is_argument(&word) => {
                self.arguments.extend(self.tool.replace(word));
            }
            None if !arguments::is_argument(&word) => self.tool = Some(word),
            Some(_) | None => self.arguments.push(word),
        }
    }

    fn approval_mode(&self) -> ApprovalMode {
        match (self.approval.yes, self.approval.no_input) {
            (true, _) => ApprovalMode::Yes,
            (false, true) => ApprovalMode::Silent,
            (false, false) => ApprovalMode::Ask,
        }
    }
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    mut args: CallArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let wait_limit = args.wait_limit()?;
    let runner = CallRunner::new(*output)?;
    let (report, explanation) = match &args.resume {
        Some(id) => {
            let id = find_question(app, &scope, id).await?.record.id;
            (resume(app, runner.resume(id, &scope), *output).await?, None)
        }
        None => {
            let request = request(app, &scope, &args)?;
            if args.dry_run {
                return dry_run(app, request, output).await;
            }
            let explanation = explain(app, &request, args.explain, *output).await;
            (runner.call(app, request).await, explanation)
        }
    };
    let resolver = ApprovalResolver {
        app,
        scope: &scope,
        mode: args.approval_mode(),
        wait_limit,
        stop: runner.stop(),
        output: *output,
    };
    let report = resume_while_answered(&resolver, report, &runner).await?;
    runner.end_on_next_signal();
    let printed = match output.is_json() {
        true => output.document(&CallOutput::new(&report, explanation)),
        false => print(&report, *output),
    };
    match (printed, &report.outcome) {
        // A closed pipe does not change the outcome of the call.
        (Err(error), _) if !is_broken_pipe(&error) => Err(error),
        // Interrupted while waiting for approval. The question stays open.
        (_, Outcome::Pending(_)) if runner.stop().is_cancelled() => Ok(Exit::Interrupted),
        (_, outcome) => Ok(Exit::of_outcome(outcome)),
    }
}

/// Resumes the call as long as it is pending and gets answered.
async fn resume_while_answered(
    resolver: &ApprovalResolver<'_>,
    mut report: CallReport,
    runner: &CallRunner,
) -> anyhow::Result<CallReport> {
    let resume_call = |call| resume(resolver.app, runner.resume(call, resolver.scope), resolver.output);
    while let Outcome::Pending(pending) = &report.outcome {
        match resolver.resolve(&report.call_id, pending.by).await? {
            Resolution::Answered(call) => report = resume_call(call).await?,
            Resolution::Parked(call) if call == report.call_id => break,
            // Reports the state of the call that replaced it.
            Resolution::Parked(call) => return resume_call(call).await,
        }
    }
    Ok(report)
}

fn request(app: &App, scope: &Scope, args: &CallArgs) -> anyhow::Result<CallRequest> {
    let tool = args.tool.clone().ok_or_else(|| Usage("no tool given; see `toolroom tools`".to_owned()))?;
    let mut request = parse_request(app, scope, tool, &args.arguments, &args.context)?;
    request.timeout = args.timeout;
    request.provenance = provenance(&args.provenance);
    Ok(request)
}

/// Builds a request from the words of a command line.
pub(super) fn parse_request(
    app: &App,
    scope: &Scope,
    tool: String,
    arguments: &[String],
    context: &[String],
) -> anyhow::Result<CallRequest> {
    // An unknown tool has no schema; the kernel reports it.
    let entry = app.room.catalog().find(&scope.project, &tool).ok();
    let schema = entry.as_ref().map_or(&Value::Null, |entry| entry.spec().parameters.as_ref());
    let mut request = CallRequest::new(tool)
        .arguments(arguments::arguments(arguments, schema, read_stdin)?)
        .scope(scope.clone())
        .entrance("cli")
        .source(CallSource::Caller(ONE_SHOT.into()))
        .user_location(UserLocation::Local);
    request.context = arguments::context(context)?;
    Ok(request)
}

pub(super) fn provenance(facts: &[String]) -> Provenance {
    let has = |name: &str| facts.iter().any(|fact| fact == name);
    Provenance {
        private: has("private"),
        untrusted: has("untrusted"),
        outward: has("outward"),
        ..Provenance::NONE
    }
}

async fn explain(app: &App, request: &CallRequest, is_enabled: bool, output: Output) -> Option<Judged> {
    if !is_enabled {
        return None;
    }
    let judged = app.room.explain(request.clone()).await.ok().map(|explanation| Judged::of(&explanation))?;
    if !output.is_json() {
        judged.print(output);
    }
    Some(judged)
}

pub(super) fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(STDIN_MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Runs calls with progress. The first signal cancels the call, the second one ends the process.
struct CallRunner {
    stop: CancellationToken,
    interrupts: Interrupts,
    output: Output,
}

impl CallRunner {
    fn new(output: Output) -> std::io::Result<Self> {
        let stop = CancellationToken::new();
        let cancelled = stop.clone();
        let interrupts = Interrupts::watch(move || cancelled.cancel())?;
        Ok(Self { stop, interrupts, output })
    }

    fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    fn progress(&self) -> ProgressSink {
        let output = self.output;
        Arc::new(move |progress| {
            let share =
                progress.fraction.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
            output.progress(&format!("{}{share}", progress.message));
        })
    }

    async fn call(&self, app: &App, mut request: CallRequest) -> CallReport {
        request.cancellation = self.stop.clone();
        request.progress = Some(self.progress());
        let report = app.room.call(request).await;
        self.output.end_progress();
        report
    }

    fn resume(&self, call: CallId, scope: &Scope) -> ResumeRequest {
        let mut request = ResumeRequest::new(call, scope.clone());
        request.source = Some(CallSource::Caller(ONE_SHOT.into()));
        request.cancellation = self.stop.clone();
        request.progress = Some(self.progress());
        request
    }

    /// Lets the next signal end the process: only printing and closing are left.
    fn end_on_next_signal(&self) {
        self.output.end_progress();
        self.interrupts.end_on_next();
    }
}

/// Resumes a call. If its arguments were edited, resumes the call that replaced it.
pub(super) async fn resume(
    app: &App,
    mut request: ResumeRequest,
    output: Output,
) -> anyhow::Result<CallReport> {
    loop {
        match app.room.resume(request.clone()).await {
            Ok(report) => return Ok(report),
            Err(ResumeError::Replaced { of, by }) => {
                output.talk(format_args!("The arguments of {of} were edited; replaced by {by}"));
                request.call = by;
            }
            Err(error @ ResumeError::NotFound(_)) => {
                return Err(Missing(format!("{error}; see `toolroom approvals` and `toolroom log`")).into());
            }
            Err(error @ (ResumeError::Over { .. } | ResumeError::Unrepeatable { .. })) => {
                let hint = format!("see `toolroom log {}`", request.call);
                return Err(Refused(format!("{error}; {hint}")).into());
            }
            Err(
                error @ (ResumeError::NotKept(_)
                | ResumeError::Broken(_)
                | ResumeError::Sealed(_)
                | ResumeError::Ledger(_)),
            ) => return Err(error.into()),
        }
    }
}
