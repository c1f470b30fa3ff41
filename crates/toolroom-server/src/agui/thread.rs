//! Threads: their conversations and runs, and their messages in the client's format.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolroom::catalog::WireNames;
use toolroom::conversation::{Content as EntryContent, ConversationEntry, ConversationId, RunId};
use toolroom::model::{Block, Message as ModelMessage, Role as ModelRole};
use toolroom::scope::{Scope, UserId};

use super::calls::CLIENT;
use super::message::{Content, Message, Role, ToolCall};

/// Runs per message: a failed run is followed by another attempt.
pub(super) const ATTEMPTS: u32 = 50;

/// The conversation of a thread. Clients choose thread ids, so the id is hashed with project and user: it never leads to
/// the conversation of another user.
pub(crate) fn conversation_of(scope: &Scope, thread: &str) -> ConversationId {
    let user = scope.user.as_ref().map(UserId::as_str);
    ConversationId::new(&format!("thread_{}", digest(&[Some(scope.project.as_str()), user, Some(thread)])))
}

/// The run that answers a message, the same one each time the message is sent.
pub(super) fn run_of(conversation: &ConversationId, message: &Message, attempt: u32) -> RunId {
    let content = serde_json::to_string(&message.content).unwrap_or_default();
    let attempt = attempt.to_string();
    let parts = [Some(conversation.as_str()), Some(&message.id), Some(&content), Some(&attempt)];
    RunId::new(&format!("run_{}", digest(&parts)))
}

/// Half of a SHA-256 over length-prefixed parts.
fn digest(parts: &[Option<&str>]) -> String {
    let mut hash = Sha256::new_with_prefix("toolroom ag-ui");
    for part in parts {
        hash.update([u8::from(part.is_some())]);
        let part = part.unwrap_or_default();
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The id of an answer in a run, counted from 1.
pub(super) fn answer_id(run: &str, answer: u32) -> String {
    format!("{run}-{answer}")
}

/// The id of the message that holds the result of a call.
pub(super) fn result_id(run: &str, call: &str) -> String {
    format!("{run}-{call}")
}

/// The thread for the client: its own messages if they are complete, else the stored ones with its new messages.
pub(super) fn merge_thread(
    conversation: &ConversationId,
    entries: &[ConversationEntry],
    client_messages: &[Message],
) -> MergedThread {
    let stored = messages(conversation, entries, client_messages);
    let known: HashSet<&str> = client_messages.iter().map(|message| message.id.as_str()).collect();
    let mut ours = stored.iter().filter(|(message, is_before)| !is_before && message.role != Role::User);
    let is_whole = ours.all(|(message, _)| known.contains(message.id.as_str()));
    if is_whole {
        return MergedThread { messages: client_messages.to_vec(), is_whole };
    }
    let is_instruction = |message: &&Message| matches!(message.role, Role::System | Role::Developer);
    let mut messages: Vec<Message> = client_messages.iter().filter(is_instruction).cloned().collect();
    messages.extend(stored.into_iter().map(|(message, _)| message));
    let sent: HashSet<String> = messages.iter().map(|message| message.id.clone()).collect();
    let new = client_messages.iter().rev().take_while(|message| !sent.contains(&message.id));
    let mut new: Vec<Message> =
        new.filter(|message| matches!(message.role, Role::User | Role::Tool)).cloned().collect();
    new.reverse();
    messages.extend(new);
    MergedThread { messages, is_whole }
}

/// A thread, and whether the client has all of it.
pub(super) struct MergedThread {
    pub(super) messages: Vec<Message>,
    pub(super) is_whole: bool,
}

/// The stored messages, with the client's ids where known, and whether each came with the history of a request.
fn messages(
    conversation: &ConversationId,
    entries: &[ConversationEntry],
    client_messages: &[Message],
) -> Vec<(Message, bool)> {
    let (users, results) = known_ids(conversation, client_messages);
    let said: Vec<(&RunId, &ModelMessage)> = entries
        .iter()
        .filter_map(|entry| match &entry.content {
            EntryContent::Message(message) => Some((&entry.run, message.as_ref())),
            EntryContent::Summary(_) => None,
        })
        .collect();
    // The last user message of a run started it; earlier ones came with its history.
    let persons = said.iter().enumerate().filter(|(_, (_, message))| is_user_message(message));
    let begins: HashMap<&RunId, usize> = persons.map(|(place, (run, _))| (*run, place)).collect();
    let mut answers: HashMap<&RunId, u32> = HashMap::new();
    let mut stored = Vec::new();
    for (place, (run, message)) in said.iter().enumerate() {
        let begin = begins.get(run).copied().unwrap_or_default();
        let is_before = place < begin;
        let id = match message.role {
            _ if is_before => format!("{run}-before-{place}"),
            ModelRole::User => users.get(*run).map_or_else(|| format!("{run}-user"), |id| (*id).to_owned()),
            ModelRole::Assistant => {
                let answer = answers.entry(run).or_default();
                *answer += 1;
                answer_id(run.as_str(), *answer)
            }
        };
        match message.role {
            ModelRole::User if is_user_message(message) => {
                stored.push((Message::user(id, content(message)), is_before));
            }
            ModelRole::User => {
                let answered = message.blocks.iter().filter_map(|block| result(run, block, &results));
                stored.extend(answered.map(|message| (message, is_before)));
            }
            ModelRole::Assistant => {
                let calls = message.blocks.iter().filter_map(call).collect();
                stored.push((Message::assistant(id, &message.text(), calls), is_before));
            }
        }
    }
    stored
}

type KnownIds<'a> = (HashMap<RunId, &'a str>, HashMap<&'a str, &'a str>);

/// The client's ids of messages that started runs, and of results by call.
fn known_ids<'a>(conversation: &ConversationId, client_messages: &'a [Message]) -> KnownIds<'a> {
    let mut known: KnownIds<'a> = (HashMap::new(), HashMap::new());
    for message in client_messages {
        let id = message.id.as_str();
        match (message.role, &message.tool_call_id) {
            (Role::User, _) => {
                known.0.extend((0..3).map(|attempt| (run_of(conversation, message, attempt), id)));
            }
            (Role::Tool, Some(call)) => drop(known.1.insert(call, id)),
            _ => {}
        }
    }
    known
}

fn is_user_message(message: &ModelMessage) -> bool {
    message.role == ModelRole::User
        && !message.blocks.iter().any(|block| matches!(block, Block::Result { .. }))
}

fn content(message: &ModelMessage) -> Content {
    let has_pictures = message.blocks.iter().any(|block| matches!(block, Block::Image(_)));
    if !has_pictures {
        return Content::Text(message.text());
    }
    let parts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(json!({"type": "text", "text": text})),
        Block::Image(image) => {
            let source = json!({"type": "data", "value": image.base64, "mimeType": image.media_type});
            Some(json!({"type": "image", "source": source}))
        }
        _ => None,
    });
    Content::Parts(parts.collect())
}

fn call(block: &Block) -> Option<ToolCall> {
    let Block::Call { id, name, arguments, .. } = block else { return None };
    let tool = WireNames::read(name);
    let name = tool.strip_prefix(CLIENT).unwrap_or(&tool);
    Some(ToolCall::new(id.as_str(), name, arguments.to_string()))
}

fn result(run: &RunId, block: &Block, client_messages: &HashMap<&str, &str>) -> Option<Message> {
    let Block::Result { id, content, is_error, .. } = block else { return None };
    let text = match content.as_ref() {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let own = client_messages.get(id.as_str()).map(|id| (*id).to_owned());
    let mut message =
        Message::tool(own.unwrap_or_else(|| result_id(run.as_str(), id.as_str())), id.as_str(), text);
    if *is_error {
        message.error = content.get("error").and_then(Value::as_str).map(str::to_owned);
    }
    Some(message)
}

#[cfg(test)]
#[path = "thread_tests.rs"]
mod tests;
