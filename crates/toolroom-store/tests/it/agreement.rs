//! Property test: after any sequence of events about parked calls, the store and the ledger in memory show the same.

use std::time::Duration;

use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::{collection, option, sample};
use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, AnswerId, Answerer, Attempt, BeginCall, BeginError, CallRecord, CallStatus, CloseCall,
    DecideError, Decision, EditCall, Ledger, ParkCall, ParkedQuestion, Question, StandingAnswer, Storage,
};
use toolroom::policy::Ruling;
use toolroom::scope::Scope;
use toolroom::testing::MemoryLedger;

use crate::database::{TestDatabase, done, with_status};
use crate::parked::{begun, decision, edit, parked};
use crate::scale::cases;

/// Number of calls to park.
const CALLS: usize = 5;

/// An event, about calls by number.
#[derive(Debug, Clone)]
enum Event {
    Park(usize),
    Decide {
        call: usize,
        scope: Who,
        by: Answerer,
        answer: Answer,
        stands: bool,
    },
    Edit {
        call: usize,
        into: usize,
        scope: Who,
        by: Answerer,
    },
    /// With the grant of one call, rarely as another.
    Begin {
        call: usize,
        attempt: Attempt,
        as_other: Option<usize>,
    },
    Close {
        call: usize,
        status: CallStatus,
        question: ParkedQuestion,
    },
    /// For so many seconds; then another process starts, which denies expired questions, and a tool is called.
    Wait(u64),
}

#[derive(Debug, Clone, Copy)]
enum Who {
    Owner,
    Project,
    Stranger,
}

impl Who {
    fn scope(self, of: &ParkCall) -> Scope {
        match self {
            Self::Owner => of.record.scope.clone(),
            Self::Project => Scope { user: None, ..of.record.scope.clone() },
            Self::Stranger => Scope::user("p", "eve"),
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    use CallStatus::{Cancelled, Denied, Done, Failed, Unknown};
    let call = || 0..CALLS;
    let who = || sample::select(vec![Who::Owner, Who::Owner, Who::Project, Who::Stranger]);
    let by = || sample::select(Answerer::ALL.to_vec());
    let answer = sample::select(vec![Answer::Once, Answer::Always, Answer::No, Answer::Never, Answer::Stop]);
    let attempt = sample::select(vec![Attempt::First, Attempt::Retry]);
    let status = sample::select(vec![Done, Failed, Denied, Cancelled, Unknown, Unknown]);
    let question = sample::select(vec![
        ParkedQuestion::None,
        ParkedQuestion::Settled,
        ParkedQuestion::Settled,
        ParkedQuestion::Void,
        ParkedQuestion::Expired,
    ]);
    prop_oneof![
        4 => call().prop_map(Event::Park),
        4 => (call(), who(), by(), answer, any::<bool>())
            .prop_map(|(call, scope, by, answer, stands)| Event::Decide { call, scope, by, answer, stands }),
        2 => (call(), call(), who(), by())
            .prop_map(|(call, into, scope, by)| Event::Edit { call, into, scope, by }),
        4 => (call(), attempt, option::weighted(0.1, call()))
            .prop_map(|(call, attempt, as_other)| Event::Begin { call, attempt, as_other }),
        3 => (call(), status, question)
            .prop_map(|(call, status, question)| Event::Close { call, status, question }),
        1 => (1..40_u64).prop_map(Event::Wait),
    ]
}

/// The result of an event, without texts.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Taken,
    GrantSpent,
    NotWaiting,
    NotYours,
    OnlyClient,
    Refused,
}

fn begin_result(result: &Result<(), BeginError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Taken,
        Err(BeginError::GrantSpent) => Outcome::GrantSpent,
        Err(BeginError::Ledger(_) | BeginError::RateLimited { .. }) => Outcome::Refused,
    }
}

fn answer_result(result: &Result<(), DecideError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Taken,
        Err(DecideError::NotWaiting(_)) => Outcome::NotWaiting,
        Err(DecideError::NotYours | DecideError::NotOwn | DecideError::TooFar(_)) => Outcome::NotYours,
        Err(DecideError::OnlyClient) => Outcome::OnlyClient,
        Err(DecideError::Ledger(_)) => Outcome::Refused,
    }
}

/// An event as a request to a ledger.
enum Change {
    Park(ParkCall),
    Decide(Decision),
    Edit(EditCall),
    Begin(BeginCall),
    Close(CloseCall),
}

impl Change {
    async fn apply_to(&self, ledger: &impl Storage) -> Outcome {
        let whole = |taken| if taken { Outcome::Taken } else { Outcome::Refused };
        match self {
            Self::Park(park) => whole(ledger.park(park.clone()).await.is_ok()),
            Self::Decide(decision) => answer_result(&ledger.decide(decision.clone()).await),
            Self::Edit(edit) => answer_result(&ledger.edit(edit.clone()).await),
            Self::Begin(begin) => begin_result(&ledger.begin(begin.clone()).await),
            Self::Close(close) => whole(ledger.close(close.clone()).await.is_ok()),
        }
    }
}

async fn change(
    database: &TestDatabase,
    parks: &[ParkCall],
    ledger: &impl Storage,
    event: Event,
) -> Option<Change> {
    let clock = &*database.clock;
    // A call that has ended is not parked: the two would notice at different times.
    let is_over = |call: usize| parks[call].approval.expires_at <= clock.now();
    Some(match event {
        Event::Park(call) | Event::Edit { into: call, .. } if is_over(call) => return None,
        Event::Park(call) => Change::Park(parks[call].clone()),
        Event::Decide { call, scope, by, answer, stands } => {
            let standing = stands.then(|| StandingAnswer {
                id: AnswerId::fresh(clock),
                scope: parks[call].record.scope.clone(),
                effect: if answer.is_yes() { Ruling::Allow } else { Ruling::Deny },
                tool: "builtin:calculator".into(),
                when: None,
                lifts: None,
                definition: None,
                thread: None,
                destination: None,
                call: parks[call].record.id.clone(),
                by,
                at: clock.now(),
            });
            let scope = scope.scope(&parks[call]);
            Change::Decide(Decision { scope, standing, ..decision(clock, &parks[call], answer, by) })
        }
        Event::Edit { call, into, scope, by } => {
            let scope = scope.scope(&parks[call]);
            Change::Edit(EditCall { scope, ..edit(clock, &parks[call], by, &parks[into]) })
        }
        Event::Begin { call, attempt, as_other } => {
            let mut begin = begun(clock, &parks[call], attempt);
            begin.record.id = parks[as_other.unwrap_or(call)].record.id.clone();
            Change::Begin(begin)
        }
        Event::Close { call, status, question } => {
            // The process that closes a call has its row.
            let park = &parks[call].record;
            let known = ledger.call(&park.scope, &park.id).await.unwrap();
            let close = with_status(known.as_ref().unwrap_or(park), status);
            Change::Close(CloseCall { question, ..close })
        }
        Event::Wait(seconds) => {
            clock.advance(Duration::from_secs(seconds));
            return None;
        }
    })
}

/// Everything a ledger shows.
#[derive(Debug, PartialEq)]
struct Shown {
    calls: Vec<Option<CallRecord>>,
    questions: Vec<Option<Question>>,
    inboxes: Vec<Vec<Question>>,
    answers: Vec<StandingAnswer>,
}

async fn shown(ledger: &impl Storage, parks: &[ParkCall]) -> Shown {
    let mut shown = Shown { calls: vec![], questions: vec![], inboxes: vec![], answers: vec![] };
    for park in parks {
        let (scope, id) = (&park.record.scope, &park.record.id);
        shown.calls.push(ledger.call(scope, id).await.unwrap());
        shown.questions.push(ledger.question(scope, id).await.unwrap());
        shown.inboxes.push(ledger.questions(scope).await.unwrap().questions);
    }
    let standing = ledger.standing(&parks[0].record.scope.project).await.unwrap();
    shown.answers.extend(standing.answers.iter().cloned());
    shown
}

async fn check(events: Vec<Event>) {
    let database = TestDatabase::new();
    let (store, memory) = (database.open().await, MemoryLedger::new());
    let (whole, ana) = (Scope::project("p"), Scope::user("p", "ana"));
    let parks = [
        parked(&*database.clock, &whole, Answerer::Caller),
        parked(&*database.clock, &ana, Answerer::Caller),
        parked(&*database.clock, &ana, Answerer::Operator),
        parked(&*database.clock, &ana, Answerer::Caller),
        parked(&*database.clock, &ana, Answerer::Client),
    ];
    for event in events {
        let told = format!("{event:?}");
        let waits = matches!(event, Event::Wait(_));
        if let Some(change) = change(&database, &parks, &memory, event).await {
            assert_eq!(change.apply_to(&store).await, change.apply_to(&memory).await, "{told}");
        }
        if waits {
            drop(database.open().await);
            let other = database.call(&Scope::project("other"));
            store.close(done(&other)).await.unwrap();
            memory.close(done(&other)).await.unwrap();
        }
        assert_eq!(shown(&store, &parks).await, shown(&memory, &parks).await, "{told}");
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn both_ledgers_show_the_same_after_every_event(events in collection::vec(event(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(events));
    }
}
