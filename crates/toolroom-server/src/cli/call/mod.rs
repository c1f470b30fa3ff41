//! `toolroom call`: one call, through every station, and what it takes to get it through.

pub(super) mod arguments;
mod report;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use report::{Document, print};
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
use super::approvals::resolve::{Beforehand, Patience, Settled, Settler};
use super::completions;
use super::console::exit::{Exit, Missing, Refused, Usage, is_broken_pipe};
use super::console::output::Output;
use super::console::time::{parse_limit, parse_span};
use super::policy::verdict::dry_run;
use crate::app::App;
use crate::documents::Judged;

/// Nobody waits for a shell while more than this is piped in; the kernel's own limit is the same.
const STDIN_MAX_BYTES: u64 = toolroom::schema::MAX_TEXT_BYTES as u64 + 1;

/// Where one-shot commands come from: what one of them read counts for the next ones.
const ONE_SHOT: &str = "cli";

const EXAMPLES: &str = "\
Examples:
  toolroom call calculator expression='2 + 2 * 3'
  toolroom call get_local_time timezone=Asia/Tokyo --json
  echo '{\"expression\": \"6 * 7\"}' | toolroom call calculator -
  toolroom call --resume call_0199…   runs a call that was approved
  toolroom tools show calculator      says which arguments a tool takes";

/// What belongs to a new call alone; a parked one has its own.
const NEW_CALL: [&str; 7] = ["tool", "arguments", "context", "timeout", "dry_run", "explain", "provenance"];

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallArgs {
    /// Tool: id, alias or name, e.g. `calculator`
    #[arg(add = completions::tools())]
    tool: Option<String>,
    /// key=value, key:=JSON, a JSON object, or - for an object on stdin
    #[arg(value_name = "ARGUMENT", add = completions::arguments())]
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
    #[command(flatten)]
    asked: AskedArgs,
    /// Run a call that was parked and approved: its id, the end of it, or `last`
    #[arg(long, value_name = "ID", conflicts_with_all = NEW_CALL)]
    resume: Option<String>,
    /// What was read or sent before this call: private, untrusted, outward (repeatable)
    #[arg(long, value_name = "FACT", value_delimiter = ',', value_parser = ["private", "untrusted", "outward"])]
    provenance: Vec<String>,
}

/// What to do if the call has to be approved.
#[derive(Args)]
struct AskedArgs {
    /// If the call has to be approved, answer "once" for its caller
    #[arg(long)]
    yes: bool,
    /// If the call has to be approved, wait for the answer and run it then; for ever, or e.g. 30, 5m
    #[arg(long, value_name = "SPAN", num_args = 0..=1)]
    wait: Option<Option<String>>,
    /// Never ask on the terminal
    #[arg(long)]
    no_input: bool,
}

impl CallArgs {
    /// How long to wait for a person. A word behind `--wait` that is no span belongs to the call.
    fn patience(&mut self) -> Result<Patience, Usage> {
        let word = match self.asked.wait.take() {
            None => return Ok(Patience::None),
            Some(None) => return Ok(Patience::Endless),
            Some(Some(word)) => word,
        };
        match parse_span(&word) {
            Ok(span) => Ok(Patience::of(span)),
            Err(problem)
                if self.resume.is_some() || word.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
            {
                Err(Usage(format!("--wait: {problem}")))
            }
            Err(_) => {
                self.take_back(word);
                Ok(Patience::Endless)
            }
        }
    }

    /// Puts a word where it would have been without `--wait` before it.
    fn take_back(&mut self, word: String) {
        match &self.tool {
            // What came after it has moved up by one.
            Some(taken) if arguments::is_argument(taken) && !arguments::is_argument(&word) => {
                self.arguments.extend(self.tool.replace(word));
            }
            None if !arguments::is_argument(&word) => self.tool = Some(word),
            Some(_) | None => self.arguments.push(word),
        }
    }

    fn beforehand(&self) -> Beforehand {
        match (self.asked.yes, self.asked.no_input) {
            (true, _) => Beforehand::Yes,
            (false, true) => Beforehand::Silent,
            (false, false) => Beforehand::Ask,
        }
    }
}

pub(super) async fn run(
    app: &App,
    scope: Scope,
    mut args: CallArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    let patience = args.patience()?;
    let hand = Hand::take(*output)?;
    let (report, explanation) = match &args.resume {
        Some(id) => {
            let id = find_question(app, &scope, id).await?.record.id;
            (resume(app, hand.resume(id, &scope), *output).await?, None)
        }
        None => {
            let request = request(app, &scope, &args)?;
            if args.dry_run {
                return dry_run(app, request, output).await;
            }
            let explanation = explain(app, &request, args.explain, *output).await;
            (hand.call(app, request).await, explanation)
        }
    };
    let beforehand = args.beforehand();
    let settler = Settler { app, scope: &scope, beforehand, patience, stop: hand.stop(), output: *output };
    let report = settled(&settler, report, &hand).await?;
    hand.put_down();
    let printed = match output.is_json() {
        true => output.document(&Document::of(&report, explanation)),
        false => print(&report, *output),
    };
    match (printed, &report.outcome) {
        // Nobody reads the result; what came of the call is still true.
        (Err(error), _) if !is_broken_pipe(&error) => Err(error),
        // Whoever has stopped the command did not wait for the answer. The question stays.
        (_, Outcome::Pending(_)) if hand.stop().is_cancelled() => Ok(Exit::Interrupted),
        (_, outcome) => Ok(Exit::of_outcome(outcome)),
    }
}

/// Goes on with a call that asks as long as there are answers.
async fn settled(settler: &Settler<'_>, mut report: CallReport, hand: &Hand) -> anyhow::Result<CallReport> {
    let go_on = |call| resume(settler.app, hand.resume(call, settler.scope), settler.output);
    while let Outcome::Pending(pending) = &report.outcome {
        match settler.settle(&report.call_id, pending.by).await? {
            Settled::Answered(call) => report = go_on(call).await?,
            Settled::Parked(call) if call == report.call_id => break,
            // What is told is how the call stands that took its place.
            Settled::Parked(call) => return go_on(call).await,
        }
    }
    Ok(report)
}

fn request(app: &App, scope: &Scope, args: &CallArgs) -> anyhow::Result<CallRequest> {
    let tool = args.tool.clone().ok_or_else(|| Usage("which tool? see `toolroom tools`".to_owned()))?;
    let mut request = worded(app, scope, tool, &args.arguments, &args.context)?;
    request.timeout = args.timeout;
    request.provenance = provenance(&args.provenance);
    Ok(request)
}

/// The request that the words of a command line amount to.
pub(super) fn worded(
    app: &App,
    scope: &Scope,
    tool: String,
    arguments: &[String],
    context: &[String],
) -> anyhow::Result<CallRequest> {
    // Of a tool that does not exist nothing is known about its arguments.
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

/// The facts that were named.
pub(super) fn provenance(facts: &[String]) -> Provenance {
    let has = |name: &str| facts.iter().any(|fact| fact == name);
    Provenance {
        private: has("private"),
        untrusted: has("untrusted"),
        outward: has("outward"),
        ..Provenance::NONE
    }
}

async fn explain(app: &App, request: &CallRequest, wanted: bool, output: Output) -> Option<Judged> {
    if !wanted {
        return None;
    }
    let judged = app.room.explain(request.clone()).await.ok().map(|explanation| Judged::of(&explanation))?;
    if !output.is_json() {
        judged.tell(output);
    }
    Some(judged)
}

pub(super) fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(STDIN_MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// The hand on the running call: the first signal stops it, the second one the process.
struct Hand {
    stop: CancellationToken,
    interrupts: Interrupts,
    output: Output,
}

impl Hand {
    fn take(output: Output) -> std::io::Result<Self> {
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

    /// What is left is to print: whoever is in a hurry need not wait for a reader, nor for the database.
    fn put_down(&self) {
        self.output.end_progress();
        self.interrupts.end_on_next();
    }
}

/// Runs it. If its arguments were edited, the call that took its place is the one to run.
pub(super) async fn resume(
    app: &App,
    mut request: ResumeRequest,
    output: Output,
) -> anyhow::Result<CallReport> {
    loop {
        match app.room.resume(request.clone()).await {
            Ok(report) => return Ok(report),
            Err(ResumeError::Replaced { of, by }) => {
                output.talk(format_args!("the arguments of {of} were edited; {by} takes its place"));
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
