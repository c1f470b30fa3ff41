//! Chat completion replies.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::model::Usage as Tokens;

use crate::documents::OfferDocument;

/// An answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletion")]
pub(crate) struct Completion {
    /// The run.
    pub(crate) id: String,
    pub(crate) object: &'static str,
    /// Seconds since the Unix epoch.
    pub(crate) created: i64,
    /// The agent.
    pub(crate) model: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) usage: Usage,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionChoice")]
pub(crate) struct Choice {
    pub(crate) index: u32,
    pub(crate) message: Reply,
    pub(crate) finish_reason: FinishReason,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionReply")]
pub(crate) struct Reply {
    pub(crate) role: &'static str,
    /// The text. `None` if it only calls tools.
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCallPart>,
    /// Offers of tools: open a URL, show or save a file. An extension of OpenAI's format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) offers: Vec<OfferDocument>,
}

/// A call that the client has to execute.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionToolCall")]
pub(crate) struct ToolCallPart {
    /// Its index among the calls, in chunks of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<usize>,
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: FunctionCall,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionFunctionCall")]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    /// JSON, as text.
    pub(crate) arguments: String,
}

/// Why the answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinishReason {
    /// It is complete.
    Stop,
    /// The client has to execute tools.
    ToolCalls,
}

/// Token usage.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionUsage")]
pub(crate) struct Usage {
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    pub(crate) total_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let (prompt_tokens, completion_tokens) = (tokens.input, tokens.output);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    }
}

/// A chunk of a streamed answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionChunk")]
pub(crate) struct Chunk<'a> {
    pub(crate) id: &'a str,
    pub(crate) object: &'static str,
    pub(crate) created: i64,
    pub(crate) model: &'a str,
    pub(crate) choices: Vec<ChunkChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionChunkChoice")]
pub(crate) struct ChunkChoice {
    pub(crate) index: u32,
    pub(crate) delta: Delta,
    pub(crate) finish_reason: Option<FinishReason>,
}

/// What a chunk adds.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionDelta")]
pub(crate) struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCallPart>,
    /// Offers of tools: open a URL, show or save a file. An extension of OpenAI's format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) offers: Vec<OfferDocument>,
}

/// Why there is no answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionError")]
pub(crate) struct ErrorReply<'a> {
    pub(crate) error: ErrorPart<'a>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChatCompletionErrorPart")]
pub(crate) struct ErrorPart<'a> {
    pub(crate) message: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) code: &'a str,
    /// The invalid field; always null.
    pub(crate) param: Option<&'a str>,
}

/// An item of a stream. An error comes last.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ChatCompletionPiece")]
pub(crate) enum Piece<'a> {
    Chunk(Chunk<'a>),
    Error(ErrorReply<'a>),
}

impl Completion {
    pub(crate) const OBJECT: &'static str = "chat.completion";
    pub(crate) const PIECE: &'static str = "chat.completion.chunk";

    /// A complete answer.
    pub(crate) fn new(
        id: String,
        created: i64,
        model: String,
        text: String,
        tool_calls: Vec<ToolCallPart>,
        offers: Vec<OfferDocument>,
        usage: Usage,
    ) -> Self {
        let finish_reason = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let content = (!text.is_empty() || tool_calls.is_empty()).then_some(text);
        let message = Reply { role: "assistant", content, tool_calls, offers };
        let choices = vec![Choice { index: 0, message, finish_reason }];
        Self { id, object: Self::OBJECT, created, model, choices, usage }
    }
}
