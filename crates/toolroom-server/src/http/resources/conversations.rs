//! Conversations: what was said.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom::conversation::{
    AgentId, Conversation, ConversationEntry, ConversationFilter, ConversationId, Conversations as _,
    StepError,
};

use crate::http::access::Need;
use crate::http::extract::body::Document;
use crate::http::extract::body::Path;
use crate::http::extract::body::Query;
use crate::http::extract::paging::Page;
use crate::http::extract::paging::not_ours;
use crate::http::problem::Problem;
use crate::http::resources::runs::choice;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
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
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page before ended: its `next_cursor`.
    #[serde(default)]
    cursor: Option<String>,
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
    /// Where the next page begins, if there is one.
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
    Extension(caller): Extension<Caller>,
    Query(query): Query<ConversationsQuery>,
) -> Result<Document<ConversationList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let filter = ConversationFilter {
        agent: choice(&caller, query.agent, None)?.agent.as_deref().map(AgentId::new),
        title: query.title,
        behind: page.after.as_deref().map(place).transpose()?,
        limit: Some(page.and_one_more()),
        ..ConversationFilter::default()
    };
    let mut conversations = server.app.store.conversations(&caller.scope, filter).await?;
    let next_cursor =
        page.cut(&mut conversations, |last| format!("{} {}", last.updated_at.as_micros(), last.id));
    Ok(Document(ConversationList { conversations, next_cursor }))
}

/// Where a page ended. What is said in a conversation meanwhile moves it, so its id alone does not tell.
fn place(text: &str) -> Result<(Timestamp, ConversationId), Problem> {
    let (at, id) = text.split_once(' ').ok_or_else(not_ours)?;
    let at = at.parse().map_err(|_| not_ours())?;
    Ok((Timestamp::from_micros(at), ConversationId::new(id)))
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
    theirs.ok_or_else(|| {
        Problem::not_found(format!("there is no conversation `{id}`; see `GET /v1/conversations`"))
    })
}
