//! Questions, answers and standing answers: their rows, and the port that reads them.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeTuple, Serializer};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, AnswerId, Answerer, Approval, Approvals, CallId, LedgerError, OpenQuestions, Question,
    QuestionState, StandingAnswer, UnreadableQuestion,
};
use toolroom::policy::Ruling;
use toolroom::scope::{Scope, UserId};

use crate::sqlite::call_row::read_call;
use crate::sqlite::reader::Reader;
use crate::sqlite::row::{
    ReadError, Text, named, named_option, read_scope, shared, shared_option, timestamp, user,
};
use crate::statements::Bound;
use crate::{Store, StoreError, statements};

/// One row of `approvals`, written as a JSON array in the order of `statements::INSERT_APPROVALS`.
pub(crate) struct ApprovalRow<'a> {
    pub(crate) approval: &'a Approval,
    /// The answer that came with it, by an edit.
    pub(crate) granted: Option<(Answerer, Timestamp)>,
}

impl Serialize for ApprovalRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let approval = self.approval;
        let state = match self.granted {
            Some(_) => QuestionState::Granted,
            None => QuestionState::Waiting,
        };
        let mut row = serializer.serialize_tuple(11)?;
        row.serialize_element(approval.call.as_str())?;
        row.serialize_element(&approval.arguments_hash)?;
        row.serialize_element(&approval.definition_hash)?;
        row.serialize_element(approval.by.as_str())?;
        row.serialize_element(&Text(&approval.reason))?;
        row.serialize_element(&approval.expires_at.as_micros())?;
        row.serialize_element(state.as_str())?;
        row.serialize_element(&self.granted.map(|_| Answer::Once.as_str()))?;
        row.serialize_element(&self.granted.map(|(by, _)| by.as_str()))?;
        row.serialize_element(&self.granted.map(|(_, at)| at.as_micros()))?;
        row.serialize_element(&approval.sealed.as_deref().map(hex::encode))?;
        row.end()
    }
}

/// One row of `answers`, written as a JSON array in the order of `answer_columns!`.
pub(crate) struct AnswerRow<'a>(pub(crate) &'a StandingAnswer);

impl Serialize for AnswerRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = self.0;
        let mut row = serializer.serialize_tuple(13)?;
        row.serialize_element(answer.id.as_str())?;
        row.serialize_element(answer.scope.project.as_str())?;
        row.serialize_element(&answer.scope.user.as_ref().map(UserId::as_str))?;
        row.serialize_element(answer.effect.as_str())?;
        row.serialize_element(&Text(&answer.tool))?;
        row.serialize_element(&answer.when.as_deref().map(Text))?;
        row.serialize_element(&answer.lifts.as_deref().map(Text))?;
        row.serialize_element(&answer.definition)?;
        row.serialize_element(&answer.thread.as_deref().map(Text))?;
        row.serialize_element(answer.call.as_str())?;
        row.serialize_element(answer.by.as_str())?;
        row.serialize_element(&answer.at.as_micros())?;
        row.serialize_element(&answer.destination.as_deref().map(Text))?;
        row.end()
    }
}

impl Approvals for Store {
    fn questions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<OpenQuestions, LedgerError>> {
        Box::pin(async move {
            let open = list(self.reader(), scope).await;
            open.map_err(|error| LedgerError::new("list questions", error))
        })
    }

    fn question<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>> {
        Box::pin(async move {
            let question = find(self.reader(), scope, call).await;
            question.map_err(|error| LedgerError::new("read the question", error))
        })
    }
}

impl Store {
    /// The newest questions about calls of exactly this scope that came in by this entrance and can still run, newest
    /// first, at most `limit`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn newest_questions(
        &self,
        scope: &Scope,
        entrance: &str,
        limit: u32,
    ) -> Result<OpenQuestions, StoreError> {
        let query = statements::NEWEST_QUESTIONS.query().bind(scope.project.as_str().to_owned());
        let query = query.bind(user(scope)).bind(entrance.to_owned()).bind(i64::from(limit));
        read_questions(self.reader(), query).await
    }
}

async fn list(reader: &Reader, scope: &Scope) -> Result<OpenQuestions, StoreError> {
    let query = statements::QUESTIONS.query().bind(scope.project.as_str().to_owned()).bind(user(scope));
    read_questions(reader, query).await
}

async fn read_questions(reader: &Reader, query: Bound) -> Result<OpenQuestions, StoreError> {
    let rows = reader.rows(query).await?;
    let mut open = OpenQuestions::default();
    for row in &rows {
        match read_question(row) {
            Ok(question) => open.questions.push(question),
            Err(error) => {
                let id: &str = row.try_get("id").map_err(|error| reader.failed(error))?;
                let error = LedgerError::new("read the question", reader.failed(error));
                open.unreadable.push(UnreadableQuestion { call: CallId::new(id), error });
            }
        }
    }
    Ok(open)
}

async fn find(reader: &Reader, scope: &Scope, call: &CallId) -> Result<Option<Question>, StoreError> {
    let query = statements::QUESTION
        .query()
        .bind(call.as_str().to_owned())
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope));
    let row = reader.row(query).await?;
    row.map(|row| read_question(&row).map_err(|error| reader.failed(error))).transpose()
}

/// The question in a row with `question_columns!`.
fn read_question(row: &SqliteRow) -> Result<Question, ReadError> {
    let record = read_call(row)?;
    let id = record.id.as_str();
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: shared(row, "arguments_hash")?,
        definition_hash: shared(row, "definition_hash")?,
        by: named(row, id, "asks", Answerer::from_name)?,
        reason: row.try_get("reason")?,
        expires_at: timestamp(row, "expires_at")?,
        sealed: row.try_get::<Option<&[u8]>, _>("sealed")?.map(Arc::from),
    };
    Ok(Question {
        state: named(row, id, "state", QuestionState::from_name)?,
        answer: named_option(row, id, "answer", Answer::from_name)?,
        answered_by: named_option(row, id, "answered_by", Answerer::from_name)?,
        replaced_by: row.try_get::<Option<&str>, _>("replaced_by")?.map(CallId::new),
        approval,
        record,
    })
}

/// The standing answer in a row with `answer_columns!`.
pub(crate) fn read_answer(row: &SqliteRow) -> Result<StandingAnswer, ReadError> {
    let id: &str = row.try_get("id")?;
    Ok(StandingAnswer {
        id: AnswerId::new(id),
        scope: read_scope(row, "project", "user_id")?,
        effect: named(row, id, "effect", Ruling::from_name)?,
        tool: shared(row, "tool")?,
        when: row.try_get("condition")?,
        lifts: row.try_get("lifts")?,
        definition: shared_option(row, "definition")?,
        thread: shared_option(row, "thread")?,
        destination: shared_option(row, "destination")?,
        call: CallId::new(row.try_get("call_id")?),
        by: named(row, id, "given_by", Answerer::from_name)?,
        at: timestamp(row, "given_at")?,
    })
}
