//! Approvals: questions about parked calls, and the answers.
//!
//! Callers with the scope `approve` answer every question of the project as the operator; callers with `answer` answer
//! questions about their own calls as the caller. The kernel enforces both.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolroom::approval::{EditError, QuestionDetails};
use toolroom::ledger::{Answer, CallId, OpenQuestions, Question, SealError};

use crate::approvals::{ApprovalService, ReplyError};
use crate::documents::{AnswerDocument, EditDocument, ListedQuestion, QuestionDocument};
use crate::http::access::Access;
use crate::http::extract::paging::PageQuery;
use crate::http::extract::{Json, Page, Path};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/approvals", Access::Answerer, "Lists open questions.", list)
            .query::<PageQuery>()
            .reply::<QuestionList>(200, "The questions, the oldest first."),
        Route::get(
            "/v1/approvals/{call}",
            Access::Answerer,
            "Shows a question with the exact arguments.",
            show,
        )
        .reply::<QuestionDocument>(200, "The question."),
        Route::post("/v1/approvals/{call}", Access::Answerer, "Answers a question. Runs nothing.", answer)
            .body::<NewAnswer>()
            .idempotent()
            .reply::<AnswerReply>(200, "The answer was recorded.")
            .problem(409, "Already answered, or only its client can answer it."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct QuestionList {
    /// The questions.
    approvals: Vec<ListedQuestion>,
    /// Cursor of the next page, if there is one.
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
    let OpenQuestions { questions, unreadable } = room.approvals().questions(&caller.scope).await?;
    let is_shown = |question: &&Question| {
        !question.is_late(now)
            && (sees_all(&caller) || is_shown(&room.open_question(Question::clone(question)), &caller))
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

/// Whether this caller sees a question. A closed question no longer names the caller of its call.
fn is_shown(asked: &Result<QuestionDetails, SealError>, caller: &Caller) -> bool {
    let is_own = |asked: &QuestionDetails| asked.caller.as_ref() == Some(&caller.call_owner());
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
    let asked = room.open_question(question);
    if !is_shown(&asked, &caller) {
        return Err(missing(&call));
    }
    let QuestionDetails { question, arguments, .. } = asked.map_err(|error| Problem::failure(&error))?;
    let mut document = QuestionDocument::of(&question, room.clock().now());
    if let Some(arguments) = arguments {
        document.arguments = Value::Object(arguments);
    }
    Ok(Json(document))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    /// The answer.
    answer: Answer,
    /// For `session`, `always` and `never`: the later calls of the tool it covers, such as `args.path == '/tmp/x'`.
    #[serde(default)]
    when: Option<String>,
    /// For `edit`: the complete new arguments.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum AnswerReply {
    /// An answer was recorded.
    Given(Box<AnswerDocument>),
    /// The arguments were replaced.
    Edited(EditDocument),
}

async fn answer(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(new): Json<NewAnswer>,
) -> Result<Response, Problem> {
    let (call, by) = (CallId::new(&id), caller.responder());
    let approvals = ApprovalService::new(&server.app.room, &caller.scope, &by);
    let answered = match (new.answer, new.arguments, new.when) {
        (Answer::Edit, Some(arguments), None) => {
            let edited = approvals.edit(&call, arguments).await?;
            let (replaced_by, waits_for) = (edited.call, edited.waits_for);
            AnswerReply::Edited(EditDocument { call_id: call, answer: Answer::Edit, replaced_by, waits_for })
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
            AnswerReply::Given(Box::new(approvals.answer_with_effects(&call, answer, when).await?))
        }
    };
    Ok(Json(answered).into_response())
}

impl From<ReplyError> for Problem {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::NotFound(call) => missing(&call),
            ReplyError::Forbidden(error) => Self::forbidden(error.to_string()),
            ReplyError::Closed(_) | ReplyError::OnlyClient(_) | ReplyError::Edit(EditError::NotKept) => {
                Self::conflict(error.to_string())
            }
            ReplyError::Answer(_) | ReplyError::NoLaterCalls | ReplyError::Edit(_) => {
                Self::bad_request(format!("{:#}", anyhow::Error::from(error)))
            }
            ReplyError::Failed(error) => error.into(),
        }
    }
}
