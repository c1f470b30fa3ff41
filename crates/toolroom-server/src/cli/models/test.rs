//! `toolroom models test`: asks a model a short question that needs a tool.

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

use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, GREEN, Output, one_line, table, visible};

/// Token limit of the answer, including reasoning.
const MAX_TOKENS: u32 = 2_000;

#[derive(Serialize)]
struct TestReport {
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

pub(super) async fn run(directory: &Directory, name: &ModelName, output: Output) -> anyhow::Result<Exit> {
    let OpenedModel { model, known } = directory.open(name)?;
    let began = Instant::now();
    let mut first_chunk = None;
    let mut chunks = 0_usize;
    let request = test_request();
    let answered = {
        let mut on_event = |_| {
            first_chunk.get_or_insert_with(|| began.elapsed());
            chunks += 1;
        };
        model.ask(&request, &mut on_event, &CancellationToken::new()).await
    };
    let took = began.elapsed();
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => return failed(&error, name, output),
    };
    let report = TestReport {
        model: name.clone(),
        answered_by: answer.model.clone(),
        first_ms: millis(first_chunk.unwrap_or(took)),
        total_ms: millis(took),
        streamed: chunks > 1,
        called_tool: answer.blocks.iter().any(|block| matches!(block, Block::Call { .. })),
        text: text(&answer),
        usage: answer.usage,
        cost_usd: known.facts.price.map(|price| price.cost(&answer.usage)),
        window: known.facts.window,
        window_assumed: known.assumed,
    };
    if output.is_json() {
        output.document(&report)?;
        return Ok(Exit::Done);
    }
    output.data(&table(&rows(&report)))?;
    Ok(Exit::Done)
}

fn rows(report: &TestReport) -> Vec<Vec<String>> {
    let line = |name: &str, value: String| vec![format!("{DIM}{name}{DIM:#}"), value];
    let assumed = if report.window_assumed { ", assumed" } else { "" };
    let calls = if report.called_tool { "called the test tool" } else { "did not call the test tool" };
    let said = match report.text.trim() {
        "" => "no text".to_owned(),
        text => visible(&one_line(text, 200)),
    };
    vec![
        line(
            "model",
            format!(
                "{GREEN}{}{GREEN:#}",
                visible(report.answered_by.as_deref().unwrap_or(report.model.as_str()))
            ),
        ),
        line("time", format!("{} ms to the first chunk, {} ms in total", report.first_ms, report.total_ms)),
        line("stream", if report.streamed { "in chunks" } else { "in one piece" }.to_owned()),
        line("tools", calls.to_owned()),
        line("answer", said),
        line("tokens", format!("{} input, {} output", report.usage.input, report.usage.output)),
        line("cost", report.cost_usd.map_or("unknown".to_owned(), |cost| Dollars(cost).to_string())),
        line("window", format!("{} tokens{assumed}", report.window)),
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

/// A question that needs the offered tool.
fn test_request() -> ModelRequest {
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
        max_tokens: Some(MAX_TOKENS),
        temperature: None,
    }
}

fn text(answer: &Answer) -> String {
    Message::assistant(answer.blocks.clone()).text()
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Advice for a model error, if there is any. The error message names the model.
pub(in crate::cli) const fn remedy(kind: ModelErrorKind) -> Option<&'static str> {
    match kind {
        ModelErrorKind::Auth => Some(
            "check the API key: `toolroom models` shows where it comes from, `toolroom models test` tests it",
        ),
        ModelErrorKind::Billing => Some("check your account with the vendor, or use another model"),
        ModelErrorKind::RateLimit | ModelErrorKind::Overloaded | ModelErrorKind::Server => {
            Some("try again later, or use another model")
        }
        ModelErrorKind::Network | ModelErrorKind::Timeout => {
            Some("check that it is running and its address is right: `toolroom models` shows the address")
        }
        ModelErrorKind::Protocol => {
            Some("check `base_url` and `wire` of the vendor: the response could not be read")
        }
        ModelErrorKind::NotFound => {
            Some("check the model name (`toolroom models list --all`) and the vendor's `base_url`")
        }
        ModelErrorKind::ContextOverflow => {
            Some("start a new conversation, or use a model with a larger context (`--model`)")
        }
        ModelErrorKind::Endless => Some("ask for a shorter answer, or use another model"),
        ModelErrorKind::ContentFilter | ModelErrorKind::BadRequest | ModelErrorKind::Cancelled => None,
    }
}
