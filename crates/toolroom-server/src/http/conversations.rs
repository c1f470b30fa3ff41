//! Conversations: what was said.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::conversation::{
    AgentId, Conversation, ConversationFilter, ConversationId, Conversations as _, Entry, StepError,
};

use super::need::Need;
use super::paging::limit;
use super::problem::Problem;
use super::reading::{Document, Path, Query};
use super::route::Route;
use super::runs::choice;
use super::server::Server;
use crate::identity::{Caller, Permission};

/// So many conversations where nobody says.
const USUAL: u32 = 100;

/// The most conversations in one reply.
const MOST: u32 = 1_000;

pub(super) fn routes() -> Vec<Route> {
    let chat = Need::Permission(Permission::Chat);
    vec![
        Route::get("/v1/conversations", chat, "Lists conversations, the one last spoken in first.", list)
            .query::<ConversationsQuery>()
            .reply::<ConversationList>(200, "The conversations."),
        Route::get("/v1/conversations/{conversation}", chat, "Shows one conversation.", show)
            .reply::<Conversation>(200, "The conversation."),
        Route::get("/v1/conversations/{conversation}/messages", chat, "Reads what was said.", messages)
            .query::<MessagesQuery>()
            .reply::<MessageList>(200, "What was said, in order."),
        Route::delete(
            "/v1/conversations/{conversation}",
            chat,
            "Deletes a conversation with its runs.",
            delete,
        )
        .reply_of(204, "", "It is gone.")
        .refuse(409, "A run of it is being worked on."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationsQuery {
    /// Only this agent's.
    #[serde(default)]
    agent: Option<String>,
    /// Only those in whose title this stands.
    #[serde(default)]
    title: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessagesQuery {
    /// The number of the first entry.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
    from: u32,
}

#[derive(Serialize, JsonSchema)]
struct ConversationList {
    /// The conversations.
    conversations: Vec<Conversation>,
}

#[derive(Serialize, JsonSchema)]
struct MessageList {
    /// The entries.
    entries: Vec<Entry>,
}

async fn list(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ConversationsQuery>,
) -> Result<Document<ConversationList>, Problem> {
    let filter = ConversationFilter {
        agent: choice(&caller, query.agent, None)?.agent.as_deref().map(AgentId::new),
        title: query.title,
        limit: Some(limit(query.limit, USUAL, MOST)?),
        ..ConversationFilter::default()
    };
    let conversations = server.app.store.conversations(&caller.scope, filter).await?;
    Ok(Document(ConversationList { conversations }))
}

async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Document<Conversation>, Problem> {
    Ok(Document(find(&server, &caller, &id).await?))
}

async fn messages(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<MessagesQuery>,
) -> Result<Document<MessageList>, Problem> {
    let conversation = find(&server, &caller, &id).await?;
    let entries = server.app.store.entries(&caller.scope, &conversation.id, query.from.into()).await?;
    Ok(Document(MessageList { entries }))
}

async fn delete(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let conversation = find(&server, &caller, &id).await?;
    match server.app.delete_conversation(&caller.scope, &conversation.id).await {
        Ok(_) => {}
        Err(error @ StepError::Busy { .. }) => return Err(Problem::conflict(error.to_string())),
        Err(error) => return Err(Problem::failure(&error)),
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn find(server: &Server, caller: &Caller, id: &str) -> Result<Conversation, Problem> {
    let found = server.app.store.conversation(&caller.scope, &ConversationId::new(id)).await?;
    let theirs = found.filter(|conversation| caller.may_talk_to(&conversation.agent));
    theirs.ok_or_else(|| Problem::not_found(format!("there is no conversation `{id}`")))
}
