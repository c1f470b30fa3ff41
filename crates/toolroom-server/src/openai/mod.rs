//! Agents in the words of OpenAI's Chat Completions, for programs that speak nothing else.
//!
//! Such a program sends the whole conversation each time and keeps nothing with us. So a message begins a conversation
//! with what was said before it; tools that the program brings are client tools, and their results go on with the run
//! that asked for them, which is found by the ids of the calls.

mod completion;
mod request;

pub(crate) use completion::{
    Chunk, ChunkChoice, Completion, Delta, ErrorPart, ErrorReply, FinishReason, FunctionCall, Piece,
    ToolCallPart, Usage,
};
pub(crate) use request::{ChatInput, ChatRequest, ChatRequestError};
