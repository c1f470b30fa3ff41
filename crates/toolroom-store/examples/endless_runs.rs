//! Writes agent runs until it is killed: `endless_runs <database> <process>`. Prints each conversation with its number of
//! entries once they are committed. The crash test runs several of these on one file.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use toolroom::clock::{Clock, SystemClock};
use toolroom::conversation::{
    AgentId, BeginRun, Content, Conversation, ConversationEntry, ConversationId, Conversations,
    NumberedEvent, Run, RunEvent, RunId, RunState, RunStep,
};
use toolroom::model::{Message, Usage};
use toolroom::policy::Provenance;
use toolroom::scope::Scope;
use toolroom_store::{ProcessIdentity, Store, StoreOptions};

/// Steps per run; all runs belong to one conversation.
const STEPS: u32 = 5;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "an example reads its arguments")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("usage: endless_runs <database> <process>")?);
    let process = arguments.next().ok_or("usage: endless_runs <database> <process>")?;
    let identity = ProcessIdentity { machine: "here".to_owned(), process, probe: Arc::new(|_| Some(true)) };
    let store = Store::open(&path, StoreOptions::new(identity), Arc::new(SystemClock)).await?;
    let left_open = conversation();
    let begin = begin(&left_open, run(&left_open));
    store.begin_run(begin).await?;
    let mut conversation = conversation();
    loop {
        write_run(&store, &mut conversation).await?;
    }
}

/// Writes one run, from its message to its end.
async fn write_run(store: &Store, conversation: &mut Conversation) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut run = run(conversation);
    store.begin_run(begin(conversation, run.clone())).await?;
    conversation.entries += 1;
    for step in 1..=STEPS {
        run.iterations = step;
        run.state = if step == STEPS { RunState::Done } else { RunState::Running };
        let last_event = u64::from(2 * step);
        let entries = vec![entry(&run, conversation.entries), entry(&run, conversation.entries + 1)];
        let events = vec![event(last_event - 1), event(last_event)];
        let (usage, requests) = (Vec::new(), Vec::new());
        store.step(RunStep { run: run.clone(), entries, events, usage, requests }).await?;
        conversation.entries += 2;
        writeln!(out, "{} {}", conversation.id, conversation.entries)?;
    }
    Ok(())
}

fn conversation() -> Conversation {
    let now = SystemClock.now();
    Conversation {
        id: ConversationId::fresh(&SystemClock),
        scope: Scope::default(),
        agent: AgentId::new("default"),
        title: "talk".to_owned(),
        entries: 0,
        created_at: now,
        updated_at: now,
    }
}

fn run(conversation: &Conversation) -> Run {
    Run {
        id: RunId::fresh(&SystemClock),
        conversation: conversation.id.clone(),
        scope: Scope::default(),
        agent: conversation.agent.clone(),
        caller: None,
        entrance: "example".into(),
        user_location: toolroom::call::UserLocation::Local,
        state: RunState::Running,
        model: None,
        provenance: Provenance::default(),
        source: toolroom::provenance::CallSource::default(),
        context: serde_json::Map::new(),
        client_tools: toolroom::tool::ClientTools::default(),
        iterations: 0,
        usage: Usage::default(),
        cost: 0.0,
        failure: None,
        started_at: SystemClock.now(),
        ended_at: None,
    }
}

fn begin(conversation: &Conversation, run: Run) -> BeginRun {
    let entries = vec![entry(&run, conversation.entries)];
    BeginRun { run, conversation: conversation.clone(), entries }
}

fn entry(run: &Run, seq: u64) -> ConversationEntry {
    let content = Content::Message(Arc::new(Message::user("The same message, again and again.")));
    ConversationEntry { seq, run: run.id.clone(), at: SystemClock.now(), content }
}

fn event(seq: u64) -> NumberedEvent {
    NumberedEvent {
        seq,
        at: SystemClock.now(),
        event: RunEvent::Asking { model: "m/m".into(), iteration: 1 },
    }
}
