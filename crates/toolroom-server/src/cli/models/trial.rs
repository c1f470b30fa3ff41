//! One short question to a model, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolroom::model::{
    Answer, Block, Dollars, Message, ModelError, ModelErrorKind, ModelRequest, OfferedTool, SystemPrompt,
    ToolUse, Usage,
};
use toolroom_models::directory::{Directory, OpenedModel};
use toolroom_models::vendor::ModelName;

use super::remedy::remedy;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, GREEN, Output, one_line, table, visible};

/// The longest answer to a trial. Thoughts count, too.
const TRIAL_TOKENS: u32 = 2_000;

/// What came of a trial.
#[derive(Serialize)]
struct Trial {
    model: ModelName,
    answered_by: Option<String>,
    first_ms: u64,
    total_ms: u64,
    streamed: bool,
    called_tool: bool,
    text: String,
    usage: Usage,
    cost_usd: Option<f64>,
    window: u64,
    window_assumed: bool,
}

pub(super) async fn test(directory: &Directory, name: &ModelName, output: Output) -> anyhow::Result<Exit> {
    let OpenedModel { model, known } = directory.open(name)?;
    let began = Instant::now();
    let mut first = None;
    let mut pieces = 0_usize;
    let request = trial();
    let answered = {
        let mut heard = |_| {
            first.get_or_insert_with(|| began.elapsed());
            pieces += 1;
        };
        model.ask(&request, &mut heard, &CancellationToken::new()).await
    };
    let took = began.elapsed();
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => return failed(&error, name, output),
    };
    let trial = Trial {
        model: name.clone(),
        answered_by: answer.model.clone(),
        first_ms: millis(first.unwrap_or(took)),
        total_ms: millis(took),
        streamed: pieces > 1,
        called_tool: answer.blocks.iter().any(|block| matches!(block, Block::Call { .. })),
        text: text(&answer),
        usage: answer.usage,
        cost_usd: known.facts.price.map(|price| price.cost(&answer.usage)),
        window: known.facts.window,
        window_assumed: known.assumed,
    };
    if output.is_json() {
        output.document(&trial)?;
        return Ok(Exit::Done);
    }
    output.data(&table(&report(&trial)))?;
    Ok(Exit::Done)
}

fn report(trial: &Trial) -> Vec<Vec<String>> {
    let line = |name: &str, value: String| vec![format!("{DIM}{name}{DIM:#}"), value];
    let assumed = if trial.window_assumed { ", assumed" } else { "" };
    let calls =
        if trial.called_tool { "called the tool it was given" } else { "did not call the tool it was given" };
    let said = match trial.text.trim() {
        "" => "nothing besides".to_owned(),
        text => visible(&one_line(text, 200)),
    };
    vec![
        line(
            "model",
            format!(
                "{GREEN}{}{GREEN:#}",
                visible(trial.answered_by.as_deref().unwrap_or(trial.model.as_str()))
            ),
        ),
        line("time", format!("{} ms until the first piece, {} ms in all", trial.first_ms, trial.total_ms)),
        line("stream", if trial.streamed { "came in pieces" } else { "came at once" }.to_owned()),
        line("tools", calls.to_owned()),
        line("said", said),
        line("tokens", format!("{} read, {} written", trial.usage.input, trial.usage.output)),
        line("cost", trial.cost_usd.map_or("unknown".to_owned(), |cost| Dollars(cost).to_string())),
        line("window", format!("{} tokens{assumed}", trial.window)),
    ]
}

fn failed(error: &ModelError, name: &ModelName, output: Output) -> anyhow::Result<Exit> {
    let hint = remedy(error.kind);
    if output.is_json() {
        let retry_after_ms = error.retry_after.map(millis);
        output.document(&json!({
            "model": name, "error": error.message, "kind": error.kind, "status": error.status,
            "retry_after_ms": retry_after_ms, "hint": hint,
        }))?;
    } else {
        output.failure(&format!("{}: {}", error.kind, error.message), hint, None);
    }
    Ok(match error.kind {
        ModelErrorKind::Timeout => Exit::Timeout,
        ModelErrorKind::NotFound => Exit::NotFound,
        _ => Exit::Failed,
    })
}

/// One short question that a tool would answer.
fn trial() -> ModelRequest {
    let parameters = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "description": "The city" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    let tool = OfferedTool {
        name: "local_time".to_owned(),
        description: "Tells what time it is in a city.".to_owned(),
        parameters: Arc::new(parameters),
    };
    ModelRequest {
        system: SystemPrompt { lasting: "Answer in one short sentence.".into(), changing: "".into() },
        messages: vec![Arc::new(Message::user("What time is it in Oslo? Use the tool."))],
        tools: [tool].into(),
        tool_use: ToolUse::Free,
        max_tokens: Some(TRIAL_TOKENS),
        temperature: None,
    }
}

fn text(answer: &Answer) -> String {
    Message::assistant(answer.blocks.clone()).text()
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
