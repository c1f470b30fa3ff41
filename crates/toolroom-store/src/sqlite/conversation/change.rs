//! The rows that a begin or a step of a run writes.

use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::conversation::{
    BeginRun, Conversation, ConversationEntry, NumberedEvent, PastRequest, Run, RunEvent, RunState, RunStep,
    UsageRow,
};

use toolroom::scope::{Scope, UserId};

use crate::StoreError;
use crate::sqlite::row::{Text, count};

/// Larger token counts are an error of the vendor; the cap keeps sums from overflowing.
const MAX_TOKENS: u64 = 1 << 40;

/// A begin or a step, encoded.
#[derive(Debug)]
pub(crate) struct RunChange {
    /// The run after the change.
    pub(crate) run: Run,
    record: String,
    /// The conversation it begins in; `None` for a step.
    pub(crate) start: Option<Start>,
    pub(crate) entries: Vec<EncodedEntry>,
    events: Vec<(i64, String)>,
    usage: Vec<UsageRow>,
    requests: Vec<PastRequest>,
}

/// The begin of a run in its conversation.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) conversation: Conversation,
    folded: String,
}

/// An entry with its content as stored text.
#[derive(Debug)]
pub(crate) struct EncodedEntry {
    pub(crate) seq: u64,
    run: String,
    at: Timestamp,
    content: String,
}

impl RunChange {
    pub(crate) fn begin(begin: BeginRun) -> Result<Self, StoreError> {
        let BeginRun { run, conversation, entries } = begin;
        if run.state != RunState::Running {
            return Err(StoreError::WrongRun { run: run.id, problem: "a run has to be running to begin" });
        }
        let start = Start { folded: fold(&conversation.title), conversation };
        Self::new(run, Some(start), &entries, &[], Vec::new(), Vec::new())
    }

    pub(crate) fn step(step: RunStep) -> Result<Self, StoreError> {
        let RunStep { run, entries, events, usage, requests } = step;
        Self::new(run, None, &entries, &events, usage, requests)
    }

    fn new(
        run: Run,
        start: Option<Start>,
        entries: &[ConversationEntry],
        events: &[NumberedEvent],
        usage: Vec<UsageRow>,
        requests: Vec<PastRequest>,
    ) -> Result<Self, StoreError> {
        check(&run, start.as_ref(), events)?;
        let failed = |error: serde_json::Error| StoreError::at_encoding(error);
        let entries = entries.iter().map(EncodedEntry::new).collect::<Result<_, _>>().map_err(failed)?;
        let event = |event: &NumberedEvent| Ok((count(event.seq), serde_json::to_string(event)?));
        let structural = events.iter().filter(|event| event.event.is_structural());
        let events = structural.map(event).collect::<Result<_, _>>().map_err(failed)?;
        let record = serde_json::to_string(&run).map_err(failed)?;
        Ok(Self { run, record, start, entries, events, usage, requests })
    }

    /// Approximate size of the copy that exists while it is written.
    pub(crate) fn bytes(&self) -> usize {
        let entries = self.entries.iter().map(|entry| entry.content.len());
        let events = self.events.iter().map(|(_, event)| event.len());
        let requests = self.requests.iter().map(|request| request.message.len());
        entries.chain(events).chain(requests).sum::<usize>() + self.record.len()
    }

    /// Whether this process holds the run afterwards.
    pub(crate) fn keeps_running(&self) -> bool {
        self.run.state == RunState::Running
    }

    /// Adds the rows. `entries` is the length of the conversation, `None` if it is new.
    pub(crate) fn write<'a>(
        &'a self,
        entries: Option<u64>,
        instance: &'a str,
        fresh_id: impl Fn() -> String,
        rows: &mut RunRows<'a>,
    ) {
        let (run, conversation) = (self.run.id.as_str(), self.run.conversation.as_str());
        let (project, user) = (self.run.scope.project.as_str(), user(&self.run.scope));
        let holder = self.keeps_running().then_some(instance);
        let state = self.run.state.as_str();
        match &self.start {
            Some(start) => {
                if entries.is_none() {
                    rows.conversations.push(start.row());
                }
                let started_at = self.run.started_at.as_micros();
                let record = self.record.as_str();
                rows.begun.push((run, conversation, project, user, state, holder, started_at, record));
            }
            None => rows.stepped.push((run, state, holder, &self.record)),
        }
        if let Some(last) = self.entries.last() {
            rows.grown.push((conversation, count(last.seq + 1), last.at.as_micros()));
        }
        rows.entries.extend(self.entries.iter().map(|entry| {
            let at = entry.at.as_micros();
            (conversation, count(entry.seq), entry.run.as_str(), at, entry.content.as_str())
        }));
        rows.events.extend(self.events.iter().map(|(seq, event)| (run, *seq, event.as_str())));
        rows.usage.extend(self.usage.iter().map(UsageColumns));
        rows.requests.extend(
            self.requests.iter().map(|request| {
                (fresh_id(), project, Text(&request.tool), Text(&request.message), conversation)
            }),
        );
    }
}

impl Start {
    fn row(&self) -> ConversationRow<'_> {
        let conversation = &self.conversation;
        (
            conversation.id.as_str(),
            conversation.scope.project.as_str(),
            user(&conversation.scope),
            conversation.agent.as_str(),
            Text(&conversation.title),
            Text(&self.folded),
            conversation.created_at.as_micros(),
            conversation.updated_at.as_micros(),
        )
    }
}

impl EncodedEntry {
    fn new(entry: &ConversationEntry) -> Result<Self, serde_json::Error> {
        let content = serde_json::to_string(&entry.content)?;
        Ok(Self { seq: entry.seq, run: entry.run.as_str().to_owned(), at: entry.at, content })
    }
}

/// A title in the form that is searched.
pub(super) fn fold(title: &str) -> String {
    title.to_lowercase()
}

/// Rejects a change that could be written but not be read again.
fn check(run: &Run, start: Option<&Start>, events: &[NumberedEvent]) -> Result<(), StoreError> {
    let wrong = |problem| Err(StoreError::WrongRun { run: run.id.clone(), problem });
    let ids = [run.id.as_str(), run.conversation.as_str(), run.agent.as_str()];
    let has_other_conversation = start.is_some_and(|start| start.conversation.id != run.conversation);
    if ids.iter().any(|id| id.contains('\0')) {
        return wrong("its ids must not contain NUL");
    }
    if has_other_conversation {
        return wrong("it belongs to another conversation");
    }
    let costs = events.iter().filter_map(|event| match event.event {
        RunEvent::Done { cost, .. } => Some(cost),
        _ => None,
    });
    if costs.chain([run.cost]).any(|cost| !cost.is_finite()) {
        return wrong("its cost is not a number");
    }
    Ok(())
}

fn user(scope: &Scope) -> Option<&str> {
    scope.user.as_ref().map(UserId::as_str)
}

type ConversationRow<'a> = (&'a str, &'a str, Option<&'a str>, &'a str, Text<'a>, Text<'a>, i64, i64);
type BegunRow<'a> = (&'a str, &'a str, &'a str, Option<&'a str>, &'static str, Option<&'a str>, i64, &'a str);

/// The rows of all changes of a batch, in the order of `statements::WRITE_RUNS`.
#[derive(Default)]
pub(crate) struct RunRows<'a> {
    pub(crate) conversations: Vec<ConversationRow<'a>>,
    pub(crate) grown: Vec<(&'a str, i64, i64)>,
    pub(crate) begun: Vec<BegunRow<'a>>,
    pub(crate) stepped: Vec<(&'a str, &'static str, Option<&'a str>, &'a str)>,
    pub(crate) entries: Vec<(&'a str, i64, &'a str, i64, &'a str)>,
    pub(crate) events: Vec<(&'a str, i64, &'a str)>,
    pub(crate) usage: Vec<UsageColumns<'a>>,
    pub(crate) requests: Vec<(String, &'a str, Text<'a>, Text<'a>, &'a str)>,
}

impl RunRows<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.stepped.is_empty()
    }
}

/// A row of `usage_columns!`.
pub(crate) struct UsageColumns<'a>(&'a UsageRow);

impl Serialize for UsageColumns<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(row) = self;
        let tokens = |tokens: u64| count(tokens.min(MAX_TOKENS));
        let owner = (row.scope.project.as_str(), user(&row.scope), row.at.as_micros());
        let usage = &row.usage;
        (
            owner.0,
            owner.1,
            owner.2,
            row.run.as_str(),
            row.conversation.as_str(),
            row.agent.as_str(),
            Text(&row.model),
            Text(&row.purpose),
            tokens(usage.input),
            tokens(usage.output),
            tokens(usage.cache_read),
            tokens(usage.cache_write),
            tokens(usage.reasoning),
            row.cost,
        )
            .serialize(serializer)
    }
}
