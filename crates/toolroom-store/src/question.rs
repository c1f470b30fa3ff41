//! Questions to people: writing them, and reading what waits.

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
use toolroom::scope::{ProjectId, Scope, UserId};

use crate::journal::user;
use crate::reader::Reader;
use crate::row::{ReadError, Text, named, named_option, read_call, shared, shared_option};
use crate::statements::Bound;
use crate::{Store, StoreError, statements};

/// One row of `approvals`, written as a JSON array in the order of `statements::INSERT_APPROVALS`.
pub(crate) struct ApprovalRow<'a> {
    pub(crate) approval: &'a Approval,
    /// Who has answered it already, and when.
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
            let inbox = list(self.reader(), scope).await;
            inbox.map_err(|error| LedgerError::new("list what is asked", error))
        })
    }

    fn question<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>> {
        Box::pin(async move {
            let question = find(self.reader(), scope, call).await;
            question.map_err(|error| LedgerError::new("read what is asked", error))
        })
    }
}

impl Store {
    /// The newest questions about calls of this very scope that came in by this entrance and can still run, newest first; no
    /// more than `limit`.
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
        inbox(self.reader(), query).await
    }
}

async fn list(reader: &Reader, scope: &Scope) -> Result<OpenQuestions, StoreError> {
    let query = statements::QUESTIONS.query().bind(scope.project.as_str().to_owned()).bind(user(scope));
    inbox(reader, query).await
}

async fn inbox(reader: &Reader, query: Bound) -> Result<OpenQuestions, StoreError> {
    let rows = reader.rows(query).await?;
    let mut inbox = OpenQuestions::default();
    for row in &rows {
        match read_question(row) {
            Ok(question) => inbox.questions.push(question),
            Err(error) => {
                let id: &str = row.try_get(0).map_err(|error| reader.failed(error))?;
                let error = LedgerError::new("read what is asked", reader.failed(error));
                inbox.unreadable.push(UnreadableQuestion { call: CallId::new(id), error });
            }
        }
    }
    Ok(inbox)
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

/// The question in a row of `question_columns!`, whose first columns are the call's.
fn read_question(row: &SqliteRow) -> Result<Question, ReadError> {
    let record = read_call(row)?;
    let id = record.id.as_str();
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: shared(row, 25)?,
        definition_hash: shared(row, 26)?,
        by: named(id, "asks", row.try_get(27)?, Answerer::from_name)?,
        reason: row.try_get(28)?,
        expires_at: Timestamp::from_micros(row.try_get(29)?),
        sealed: row.try_get::<Option<&[u8]>, _>(30)?.map(Arc::from),
    };
    Ok(Question {
        state: named(id, "state", row.try_get(31)?, QuestionState::from_name)?,
        answer: named_option(row, id, "answer", 32, Answer::from_name)?,
        answered_by: named_option(row, id, "answered_by", 33, Answerer::from_name)?,
        replaced_by: row.try_get::<Option<&str>, _>(34)?.map(CallId::new),
        approval,
        record,
    })
}

/// The standing answer in a row of `answer_columns!`.
pub(crate) fn read_answer(row: &SqliteRow) -> Result<StandingAnswer, ReadError> {
    let id: &str = row.try_get(0)?;
    let user: Option<&str> = row.try_get(2)?;
    Ok(StandingAnswer {
        id: AnswerId::new(id),
        scope: Scope { project: ProjectId::new(row.try_get(1)?), user: user.map(UserId::new) },
        effect: named(id, "effect", row.try_get(3)?, Ruling::from_name)?,
        tool: shared(row, 4)?,
        when: row.try_get(5)?,
        lifts: row.try_get(6)?,
        definition: shared_option(row, 7)?,
        thread: shared_option(row, 8)?,
        destination: shared_option(row, 12)?,
        call: CallId::new(row.try_get(9)?),
        by: named(id, "given_by", row.try_get(10)?, Answerer::from_name)?,
        at: Timestamp::from_micros(row.try_get(11)?),
    })
}
