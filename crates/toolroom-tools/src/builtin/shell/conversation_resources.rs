//! What outlives a call: shells of conversations, programs in the background, and the hosts opened to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolroom::background::{BackgroundProgram, BackgroundPrograms, ProgramEnd};
use toolroom::call::CallContext;
use toolroom::conversation::{ConversationId, Conversations};
use toolroom::ledger::LedgerError;
use toolroom::scope::{ProjectId, Scope};
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::background::Background;
use toolroom_host::net::ConversationProxies;
use toolroom_host::process::Cause;
use toolroom_host::shell::Shells;

use super::program_end::{NO_CODE, exit_code};

/// Characters of a command that are stored for a later process.
const KEPT_CHARS: usize = 2_000;

/// Shells and programs that keep running after their call. They end with their conversation, or when this is dropped.
pub struct ConversationResources {
    shells: Shells,
    programs: Option<RecordedPrograms>,
    proxies: ConversationProxies,
    conversations: Option<Arc<dyn Conversations>>,
    /// Conversations of our agents that have resources here, by key. Another process may delete them.
    conversations_in_use: Mutex<BTreeMap<String, (ProjectId, ConversationId)>>,
}

/// Programs in the background, and their records for a later process.
pub(super) struct RecordedPrograms {
    pub(super) table: Background,
    records: Arc<dyn BackgroundPrograms>,
}

impl ConversationResources {
    /// Shells only: nothing can run in the background.
    #[must_use]
    pub fn new(shells: Shells) -> Self {
        Self {
            shells,
            programs: None,
            proxies: ConversationProxies::default(),
            conversations: None,
            conversations_in_use: Mutex::default(),
        }
    }

    /// Adds programs in the background. For a process that stays to maintain them.
    #[must_use]
    pub fn with_programs(mut self, table: Background, records: Arc<dyn BackgroundPrograms>) -> Self {
        self.programs = Some(RecordedPrograms { table, records });
        self
    }

    /// Adds the conversations, so that [`Self::maintain`] notices deleted ones.
    #[must_use]
    pub fn with_conversations(mut self, conversations: Arc<dyn Conversations>) -> Self {
        self.conversations = Some(conversations);
        self
    }

    /// Ends the shell and background programs of a conversation. Call this when deleting the conversation.
    ///
    /// # Errors
    /// If the records of the programs cannot be written. All programs have ended even then.
    pub async fn close(&self, project: &ProjectId, conversation: &str) -> Result<(), LedgerError> {
        self.end(&key(project, conversation)).await
    }

    /// Closes every proxy of a conversation. For shutdown.
    pub fn close_proxies(&self) {
        self.proxies.close_all();
    }

    /// Records how programs ended, and ends those of conversations that another process deleted. For long-lived
    /// processes, to be called periodically.
    ///
    /// # Errors
    /// If records cannot be read or written. Nothing is ended in that case.
    pub async fn maintain(&self) -> Result<(), LedgerError> {
        let kept = match &self.programs {
            Some(programs) => programs.record_ends().await,
            None => Ok(()),
        };
        if let Some(conversations) = &self.conversations {
            for (name, (project, id)) in self.active_conversations() {
                if conversations.conversation(&Scope { project, user: None }, &id).await?.is_none() {
                    self.end(&name).await?;
                }
            }
        }
        kept
    }

    /// Notes that a call left something running. A conversation cannot be deleted during a call, so noting it
    /// afterwards is early enough.
    pub(super) fn note(&self, context: &CallContext) {
        // Only conversations of our own have runs. An embedder closes its own.
        if let (Some(thread), Some(_)) = (context.thread_id(), context.run_id()) {
            let project = &context.scope().project;
            self.conversations_in_use()
                .insert(key(project, thread), (project.clone(), ConversationId::new(thread)));
        }
    }

    pub(super) fn shells(&self) -> &Shells {
        &self.shells
    }

    pub(super) fn proxies(&self) -> &ConversationProxies {
        &self.proxies
    }

    pub(super) fn programs(&self) -> Option<&RecordedPrograms> {
        self.programs.as_ref()
    }

    async fn end(&self, name: &str) -> Result<(), LedgerError> {
        self.conversations_in_use().remove(name);
        self.shells.close(name);
        self.proxies.close(name);
        if let Some(programs) = &self.programs {
            for number in programs.table.close(name) {
                let end = ProgramEnd { exit_code: NO_CODE, was_killed: true };
                programs.records.end_program(number, end).await?;
            }
        }
        Ok(())
    }

    /// Conversations with something still running; forgets the rest.
    fn active_conversations(&self) -> BTreeMap<String, (ProjectId, ConversationId)> {
        let mut here = self.shells.conversations();
        here.extend(self.programs.iter().flat_map(|programs| programs.table.conversations()));
        let mut conversations_in_use = self.conversations_in_use();
        conversations_in_use.retain(|name, _| here.contains(name));
        conversations_in_use.clone()
    }

    fn conversations_in_use(&self) -> MutexGuard<'_, BTreeMap<String, (ProjectId, ConversationId)>> {
        self.conversations_in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedPrograms {
    /// Records a program that is about to start and returns its number.
    pub(super) async fn record(&self, context: &CallContext, command: &str) -> Result<u64, ToolError> {
        let short: String = command.chars().take(KEPT_CHARS).collect();
        self.records.begin_program(context.scope(), context.thread_id(), &short).await.map_err(record_error)
    }

    /// The recorded programs of this conversation.
    pub(super) async fn recorded(&self, context: &CallContext) -> Result<Vec<BackgroundProgram>, ToolError> {
        self.records.programs(context.scope(), context.thread_id()).await.map_err(record_error)
    }

    pub(super) async fn forget(&self, context: &CallContext, number: u64) -> Result<(), ToolError> {
        self.records.forget_program(context.scope(), number).await.map(drop).map_err(record_error)
    }

    async fn record_ends(&self) -> Result<(), LedgerError> {
        for news in self.table.news() {
            let end = match news.end.as_deref() {
                Some(Ok(ended)) => ProgramEnd {
                    exit_code: exit_code(ended.status, ended.cause),
                    was_killed: ended.cause != Cause::Itself,
                },
                // Another process killed it; the supervisor has no status.
                _ => ProgramEnd { exit_code: NO_CODE, was_killed: true },
            };
            self.records.end_program(news.id, end).await?;
            self.table.note(news.id);
        }
        Ok(())
    }
}

/// The key of the call's conversation, if it has one.
pub(super) fn conversation(context: &CallContext) -> Option<String> {
    Some(key(&context.scope().project, context.thread_id()?))
}

fn key(project: &ProjectId, thread: &str) -> String {
    // Ids contain no line break.
    format!("{project}\n{thread}")
}

fn record_error(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "the records of background programs cannot be read or written")
        .caused_by(error)
}
