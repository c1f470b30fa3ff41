//! What outlives a call: the shells of conversations, programs in the background, and the hosts that were opened to
//! them.

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

use super::ended::{NO_CODE, code};

/// Characters of a command that are kept for a later process.
const KEPT_CHARS: usize = 2_000;

/// Shells and programs that go on when a call is over. They end with their conversation, and all of them with this.
pub struct Lasting {
    shells: Shells,
    programs: Option<Programs>,
    ways_out: ConversationProxies,
    conversations: Option<Arc<dyn Conversations>>,
    /// The conversations that agents lead, by their names here: somebody else may delete them.
    led: Mutex<BTreeMap<String, (ProjectId, ConversationId)>>,
}

/// Programs in the background, and what is kept of them for a later process.
pub(super) struct Programs {
    pub(super) table: Background,
    records: Arc<dyn BackgroundPrograms>,
}

impl Lasting {
    /// Shells alone: nothing can be left in the background.
    #[must_use]
    pub fn new(shells: Shells) -> Self {
        Self {
            shells,
            programs: None,
            ways_out: ConversationProxies::default(),
            conversations: None,
            led: Mutex::default(),
        }
    }

    /// The same with programs in the background, for whoever stays to look after them.
    #[must_use]
    pub fn with_programs(mut self, table: Background, records: Arc<dyn BackgroundPrograms>) -> Self {
        self.programs = Some(Programs { table, records });
        self
    }

    /// The same for whoever can say which conversations there are.
    #[must_use]
    pub fn with_conversations(mut self, conversations: Arc<dyn Conversations>) -> Self {
        self.conversations = Some(conversations);
        self
    }

    /// Ends the shell of a conversation and its programs in the background. For whoever deletes the conversation.
    ///
    /// # Errors
    /// When what is kept of the programs cannot be written. All have ended then, too.
    pub async fn close(&self, project: &ProjectId, conversation: &str) -> Result<(), LedgerError> {
        self.end(&name(project, conversation)).await
    }

    /// Closes every way to the network. For whoever ends.
    pub fn close_ways_out(&self) {
        self.ways_out.close_all();
    }

    /// Keeps how programs have ended, and ends what belongs to conversations that were deleted elsewhere. For whoever
    /// stays, from time to time.
    ///
    /// # Errors
    /// When something cannot be read or written. Nothing was ended for that reason.
    pub async fn look_after(&self) -> Result<(), LedgerError> {
        let kept = match &self.programs {
            Some(programs) => programs.keep_ends().await,
            None => Ok(()),
        };
        if let Some(conversations) = &self.conversations {
            for (name, (project, id)) in self.still_led() {
                if conversations.conversation(&Scope { project, user: None }, &id).await?.is_none() {
                    self.end(&name).await?;
                }
            }
        }
        kept
    }

    /// Notes that a call has left something here. While it runs its conversation cannot be deleted, so afterwards is
    /// early enough.
    pub(super) fn note(&self, context: &CallContext) {
        // In a conversation of our own a run has begun. Others are their embedder's business.
        if let (Some(thread), Some(_)) = (context.thread_id(), context.run_id()) {
            let project = &context.scope().project;
            self.led().insert(name(project, thread), (project.clone(), ConversationId::new(thread)));
        }
    }

    pub(super) fn shells(&self) -> &Shells {
        &self.shells
    }

    pub(super) fn ways_out(&self) -> &ConversationProxies {
        &self.ways_out
    }

    pub(super) fn programs(&self) -> Option<&Programs> {
        self.programs.as_ref()
    }

    async fn end(&self, name: &str) -> Result<(), LedgerError> {
        self.led().remove(name);
        self.shells.close(name);
        self.ways_out.close(name);
        if let Some(programs) = &self.programs {
            for number in programs.table.close(name) {
                let end = ProgramEnd { exit_code: NO_CODE, was_killed: true };
                programs.records.end_program(number, end).await?;
            }
        }
        Ok(())
    }

    /// Those with something left here; the others are no longer led.
    fn still_led(&self) -> BTreeMap<String, (ProjectId, ConversationId)> {
        let mut here = self.shells.conversations();
        here.extend(self.programs.iter().flat_map(|programs| programs.table.conversations()));
        let mut led = self.led();
        led.retain(|name, _| here.contains(name));
        led.clone()
    }

    fn led(&self) -> MutexGuard<'_, BTreeMap<String, (ProjectId, ConversationId)>> {
        self.led.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Programs {
    /// Keeps a program that is about to start; gives its number.
    pub(super) async fn keep(&self, context: &CallContext, command: &str) -> Result<u64, ToolError> {
        let short: String = command.chars().take(KEPT_CHARS).collect();
        self.records.begin_program(context.scope(), context.thread_id(), &short).await.map_err(not_kept)
    }

    /// What is kept of the programs of this conversation.
    pub(super) async fn kept(&self, context: &CallContext) -> Result<Vec<BackgroundProgram>, ToolError> {
        self.records.programs(context.scope(), context.thread_id()).await.map_err(not_kept)
    }

    pub(super) async fn forget(&self, context: &CallContext, number: u64) -> Result<(), ToolError> {
        self.records.forget_program(context.scope(), number).await.map(drop).map_err(not_kept)
    }

    async fn keep_ends(&self) -> Result<(), LedgerError> {
        for news in self.table.news() {
            let end = match news.end.as_deref() {
                Some(Ok(ended)) => ProgramEnd {
                    exit_code: code(ended.status, ended.cause),
                    was_killed: ended.cause != Cause::Itself,
                },
                // Something ended it behind the back of its supervisor.
                _ => ProgramEnd { exit_code: NO_CODE, was_killed: true },
            };
            self.records.end_program(news.id, end).await?;
            self.table.note(news.id);
        }
        Ok(())
    }
}

/// The name here of the conversation a call belongs to, if there is one.
pub(super) fn conversation(context: &CallContext) -> Option<String> {
    Some(name(&context.scope().project, context.thread_id()?))
}

/// The name of a conversation here.
fn name(project: &ProjectId, thread: &str) -> String {
    // No id holds a line end.
    format!("{project}\n{thread}")
}

fn not_kept(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "what is kept of programs in the background cannot be read or written")
        .caused_by(error)
}
