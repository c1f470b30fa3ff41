//! Conversations and their messages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom::conversation::{
    AgentId, Conversation, ConversationEntry, ConversationFilter, ConversationId, Conversations as _,
    StepError,
};

use crate::http::access::Access;
use crate::http::extract::paging::invalid_cursor;
use crate::http::extract::{Json, Page, Path, Query};
use crate::http::problem::Problem;
use crate::http::resources::runs::choice;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let chat = Access::Permission(Permission::Chat);
    vec![
        Route::get("/v1/conversations", chat, "Lists conversations, the most recently used first.", list)
            .query::<ConversationsQuery>()
            .reply::<ConversationList>(200, "The conversations."),
        Route::get("/v1/conversations/{conversation}", chat, "Shows one conversation.", show)
            .reply::<Conversation>(200, "The conversation."),
        Route::get(
            "/v1/conversations/{conversation}/messages",
            chat,
            "Lists the messages of a conversation.",
            messages,
        )
        .query::<MessagesQuery>()
        .reply::<MessageList>(200, "The messages, in order."),
        Route::delete(
            "/v1/conversations/{conversation}",
            chat,
            "Deletes a conversation with its runs.",
            delete,
        )
        .response(204, "", "Deleted.")
        .problem(409, "A run of the conversation is active."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConversationsQuery {
    /// Only conversations with this agent.
    #[serde(default)]
    agent: Option<String>,
    /// Only conversations whose title contains this.
    #[serde(default)]
    title: Option<String>,
    /// Maximum number of entries.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessagesQuery {
    /// Number of the first entry.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
    from: u32,
}

#[derive(Serialize, JsonSchema)]
struct ConversationList {
    /// The conversations.
    conversations: Vec<Conversation>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct MessageList {
    /// The entries.
    entries: Vec<ConversationEntry>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<ConversationsQuery>,
) -> Result<Json<ConversationList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let filter = ConversationFilter {
        agent: choice(&caller, query.agent, None)?.agent.as_deref().map(AgentId::new),
        title: query.title,
        behind: page.after.as_deref().map(position).transpose()?,
        limit: Some(page.lookahead()),
        ..ConversationFilter::default()
    };
    let mut conversations = server.app.store.conversations(&caller.scope, filter).await?;
    let next_cursor =
        page.truncate(&mut conversations, |last| format!("{} {}", last.updated_at.as_micros(), last.id));
    Ok(Json(ConversationList { conversations, next_cursor }))
}

/// The position of a cursor. New messages move a conversation, so its id alone is not enough.
fn position(text: &str) -> Result<(Timestamp, ConversationId), Problem> {
    let (at, id) = text.split_once(' ').ok_or_else(invalid_cursor)?;
    let at = at.parse().map_err(|_| invalid_cursor())?;
    Ok((Timestamp::from_micros(at), ConversationId::new(id)))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Conversation>, Problem> {
    Ok(Json(find(&server, &caller, &id).await?))
}

async fn messages(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<MessagesQuery>,
) -> Result<Json<MessageList>, Problem> {
    let conversation = find(&server, &caller, &id).await?;
    let entries = server.app.store.entries(&caller.scope, &conversation.id, query.from.into()).await?;
    Ok(Json(MessageList { entries }))
}

async fn delete(
    State(server): State<Arc<Server>>,
    caller: Caller,
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
    theirs.ok_or_else(|| {
        Problem::not_found(format!("there is no conversation `{id}`; see `GET /v1/conversations`"))
    })
}
