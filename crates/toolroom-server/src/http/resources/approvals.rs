//! Questions about calls, and answers to them.
//!
//! A caller with the scope `approve` answers every question of the project as the operator, one with `answer` those about
//! calls of its own and as their caller. The kernel holds both to it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolroom::approval::{AnswerError, AnswerRequest, Asked, EditError, EditRequest};
use toolroom::ledger::{Answer, CallId, DecideError, Inbox, Question, SealError};
use toolroom::policy::Ruling;

use crate::documents::{
    AnswerDocument, EditDocument, ListedQuestion, QuestionDocument, ReachDocument, standing,
};
use crate::http::access::Access;
use crate::http::extract::paging::PageQuery;
use crate::http::extract::{Json, Page, Path};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/approvals", Access::Answerer, "Lists what waits for an answer.", list)
            .query::<PageQuery>()
            .reply::<QuestionList>(200, "The questions, the oldest first."),
        Route::get(
            "/v1/approvals/{call}",
            Access::Answerer,
            "Shows one question with the exact arguments.",
            show,
        )
        .reply::<QuestionDocument>(200, "The question."),
        Route::post("/v1/approvals/{call}", Access::Answerer, "Answers a question; runs nothing.", answer)
            .body::<NewAnswer>()
            .idempotent()
            .reply::<Answered>(200, "The answer was taken.")
            .problem(409, "It was answered already, or nobody but its client answers it."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct QuestionList {
    /// The questions.
    approvals: Vec<ListedQuestion>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    page: Page,
) -> Result<Json<QuestionList>, Problem> {
    let room = &server.app.room;
    let now = room.clock().now();
    let Inbox { questions, unreadable } = room.approvals().questions(&caller.scope).await?;
    let is_shown = |question: &&Question| {
        !question.is_late(now)
            && (sees_all(&caller) || is_shown(&room.opened(Question::clone(question)), &caller))
    };
    let open = questions.iter().filter(is_shown).map(|question| ListedQuestion::of(question, now));
    let unreadable = unreadable.iter().filter(|_| sees_all(&caller));
    let all = open.chain(unreadable.map(ListedQuestion::unreadable)).collect();
    let (approvals, next_cursor) = page.slice(all, |question| question.call().as_str());
    Ok(Json(QuestionList { approvals, next_cursor }))
}

/// Whether this caller sees all questions in its scope: those of the project with `approve`, an end user's own.
fn sees_all(caller: &Caller) -> bool {
    caller.may(Permission::Approve) || caller.scope.user.is_some()
}

/// Whether this caller sees a question. That of a call that is over does not say any more whose it was.
fn is_shown(asked: &Result<Asked, SealError>, caller: &Caller) -> bool {
    let is_own = |asked: &Asked| asked.caller.as_ref() == Some(&caller.call_owner());
    sees_all(caller) || asked.as_ref().is_ok_and(is_own)
}

fn missing(call: &CallId) -> Problem {
    Problem::not_found(format!("no call was parked under `{call}`; see `GET /v1/approvals`"))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<QuestionDocument>, Problem> {
    let (room, call) = (&server.app.room, CallId::new(&id));
    let question = room.approvals().question(&caller.scope, &call).await?.ok_or_else(|| missing(&call))?;
    let asked = room.opened(question);
    if !is_shown(&asked, &caller) {
        return Err(missing(&call));
    }
    let Asked { question, arguments, .. } = asked.map_err(|error| Problem::failure(&error))?;
    let mut document = QuestionDocument::of(&question, room.clock().now());
    if let Some(arguments) = arguments {
        document.arguments = Value::Object(arguments);
    }
    Ok(Json(document))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    /// What is said.
    answer: Answer,
    /// For `session`, `always` and `never`: which later calls of the tool, as in `args.path == '/tmp/x'`.
    #[serde(default)]
    when: Option<String>,
    /// For `edit`: the whole arguments to use instead.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Answered {
    /// An answer was taken.
    Given(Box<AnswerDocument>),
    /// Other arguments were put in the place of the parked ones.
    Edited(EditDocument),
}

async fn answer(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(new): Json<NewAnswer>,
) -> Result<Response, Problem> {
    let by = caller.responder();
    let call = CallId::new(&id);
    let answered = match (new.answer, new.arguments, new.when) {
        (Answer::Edit, Some(arguments), None) => {
            let request = EditRequest { call, scope: caller.scope.clone(), by, arguments };
            Answered::Edited(edit(&server, request).await?)
        }
        (Answer::Edit, None, _) => {
            return Err(Problem::bad_request("`edit` needs the `arguments` to use instead"));
        }
        (Answer::Edit, Some(_), Some(_)) | (_, Some(_), _) => {
            return Err(Problem::bad_request(
                "`arguments` belong to `edit`, and `when` to the other answers",
            ));
        }
        (answer, None, when) => {
            let request = AnswerRequest { call, scope: caller.scope.clone(), by, answer, when };
            Answered::Given(Box::new(give(&server, request).await?))
        }
    };
    Ok(Json(answered).into_response())
}

async fn give(server: &Server, request: AnswerRequest) -> Result<AnswerDocument, Problem> {
    let (room, answer, call_id) = (&server.app.room, request.answer, request.call.clone());
    let scope = request.scope.clone();
    let planned = match room.standing_answer(&request).await {
        Ok(planned) => planned,
        Err(error) => return Err(not_taken(server, &request, error).await),
    };
    if planned.is_none() && request.when.is_some() {
        return Err(Problem::bad_request("this answer is about one call, so there are none for a condition"));
    }
    let reach = match &planned {
        Some(planned) => Some(ReachDocument::of(&room.reach(planned).await?)),
        None => None,
    };
    let kept = match room.answer(request.clone()).await {
        Ok(kept) => kept,
        Err(error) => return Err(not_taken(server, &request, error).await),
    };
    let still_asks = match &kept {
        Some(kept) if kept.effect == Ruling::Allow => {
            room.next_question(&scope, &call_id).await.map_err(|error| Problem::failure(&error))?
        }
        _ => None,
    };
    Ok(AnswerDocument { call_id, answer, standing: kept, reach, still_asks })
}

async fn edit(server: &Server, request: EditRequest) -> Result<EditDocument, Problem> {
    let (call_id, scope) = (request.call.clone(), request.scope.clone());
    match server.app.room.edit(request).await {
        Ok(edited) => Ok(EditDocument {
            call_id,
            answer: Answer::Edit,
            replaced_by: edited.call,
            waits_for: edited.waits_for,
        }),
        Err(EditError::Decide(error)) => Err(undecided(server, &scope, &call_id, error).await),
        Err(error @ (EditError::Refused(_) | EditError::Denied(_))) => {
            Err(Problem::bad_request(format!("{:#}", anyhow::Error::from(error))))
        }
        Err(error @ EditError::NotKept) => Err(Problem::conflict(error.to_string())),
        Err(error @ EditError::Sealed(_)) => Err(Problem::failure(&error)),
    }
}

/// An answer that is not taken is a refusal, or makes no sense, unless something broke.
async fn not_taken(server: &Server, request: &AnswerRequest, error: AnswerError) -> Problem {
    match error {
        AnswerError::Decide(error) => undecided(server, &request.scope, &request.call, error).await,
        AnswerError::Sealed(_) | AnswerError::Unreadable(_) => Problem::failure(&error),
        AnswerError::Condition(_)
        | AnswerError::NotThisCall(_)
        | AnswerError::NotForever { .. }
        | AnswerError::OnlyOnce { .. }
        | AnswerError::NeedsCondition { .. }
        | AnswerError::Secret
        | AnswerError::NothingStands
        | AnswerError::NoCondition
        | AnswerError::NoArguments => Problem::bad_request(format!("{:#}", anyhow::Error::from(error))),
    }
}

async fn undecided(
    server: &Server,
    scope: &toolroom::scope::Scope,
    call: &CallId,
    error: DecideError,
) -> Problem {
    let room = &server.app.room;
    match error {
        DecideError::NotWaiting(_) => match room.approvals().question(scope, call).await {
            Ok(Some(question)) => Problem::conflict(standing(&question, room.clock().now())),
            Ok(None) => missing(call),
            Err(error) => error.into(),
        },
        DecideError::NotYours | DecideError::NotOwn | DecideError::TooFar(_) => {
            Problem::forbidden(error.to_string())
        }
        DecideError::OnlyClient => Problem::conflict(error.to_string()),
        DecideError::Ledger(error) => error.into(),
    }
}
