//! `toolroom policy explain -- COMMAND`: how a command line would be judged, and why.

use serde::Serialize;
use toolroom::policy::Ruling;
use toolroom_tools::shell::judge::{CommandVerdict, PlannedCommand, Security, judge, judge_argv};

use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, visible};

#[derive(Serialize)]
struct ExplainedCommand<'j> {
    security: Security,
    #[serde(flatten)]
    judged: &'j CommandVerdict,
}

/// Judges one word as a shell command line, several words as a program with arguments.
pub(super) fn run(app: &App, words: &[String], output: Output) -> anyhow::Result<Exit> {
    let settings = app.config.config.policy.judging();
    let security = settings.security;
    let judged = match words {
        [line] => judge(line, &settings),
        [program, arguments @ ..] => judge_argv(program, arguments, &settings),
        [] => return Ok(Exit::Usage),
    };
    match output.is_json() {
        true => output.document(&ExplainedCommand { security, judged: &judged })?,
        false => output.data(&text(&judged, security))?,
    }
    Ok(match judged.verdict {
        Ruling::Allow => Exit::Done,
        Ruling::Ask => Exit::Pending,
        Ruling::Deny => Exit::Denied,
    })
}

fn text(judged: &CommandVerdict, security: Security) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, text: &str| lines.push(format!("{BOLD}{name:<13}{BOLD:#}{text}"));
    if let Some(printed) = &judged.printed {
        line("runs", &visible(printed).replace('\n', &format!("\n{:13}", "")));
    }
    line("verdict", &format!("{} (exec_security {})", judged.verdict.as_str(), security.as_str()));
    for reason in &judged.reasons {
        let about = visible(&reason.command);
        line(
            reason.verdict.as_str(),
            &format!("{}: {about} {DIM}(byte {}){DIM:#}", visible(&reason.why), reason.at),
        );
    }
    if !judged.commands.is_empty() {
        lines.push(format!("\n{BOLD}commands{BOLD:#}"));
        lines.extend(judged.commands.iter().map(command));
    }
    lines.join("\n")
}

/// Renders a command; one started by a wrapper is indented.
fn command(run: &PlannedCommand) -> String {
    let program = run.program.as_deref().unwrap_or("…");
    let words: Vec<String> =
        std::iter::once(program).chain(run.arguments.iter().map(String::as_str)).map(visible).collect();
    let indent = if run.is_wrapped { "    " } else { "  " };
    format!("{indent}{}", words.join(" "))
}
