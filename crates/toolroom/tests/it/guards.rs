//! Guards and storage that fail: nothing runs unseen, and nothing counts that is not written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;
use toolroom::call::{CallReport, CallRequest, Outcome};
use toolroom::ledger::{
    Approvals, BeginCall, BeginError, CallFilter, CallId, CallRecord, CallStatus, CloseCall, DecideError,
    Decision, EditCall, Journal, Ledger, LedgerError, OpenQuestions, ParkCall, ParkError, Question, Seal,
    SealError, Standing, Switchboard, ToolUsage,
};
use toolroom::policy::Judgement;
use toolroom::provenance::{CallSource, Track, TrackChange, Tracks};
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{Bench, MemoryLedger, unguarded};
use toolroom::tool::{Effect, ErrorKind, ToolOutput};
use toolroom::{BoxFuture, Toolroom};

use crate::room::{error_of, kind_of, scripted, spec};

/// A ledger that breaks in one place.
struct Broken {
    place: Place,
    whole: MemoryLedger,
    parks: AtomicU32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Switches,
    Begin,
    Close,
    Tracks,
    AddToTrack,
    Park,
    Seal,
    /// As often as this the key is one that is no longer in use.
    Key(u32),
}

fn broken<T>() -> Result<T, LedgerError> {
    Err(LedgerError::new("write", "disk full"))
}

impl Ledger for Broken {
    fn begin(&self, begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>> {
        match self.place {
            Place::Begin => Box::pin(async { Ok(broken()?) }),
            _ => self.whole.begin(begin),
        }
    }

    fn park(&self, park: ParkCall) -> BoxFuture<'static, Result<(), ParkError>> {
        match self.place {
            Place::Park => Box::pin(async { Ok(broken()?) }),
            Place::Key(refusals) if self.parks.fetch_add(1, Ordering::SeqCst) < refusals => {
                let error = LedgerError::new("park the call", "another key");
                Box::pin(async { Err(ParkError::StaleKey(error)) })
            }
            _ => self.whole.park(park),
        }
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'static, Result<(), DecideError>> {
        self.whole.decide(decision)
    }

    fn edit(&self, edit: EditCall) -> BoxFuture<'static, Result<(), DecideError>> {
        self.whole.edit(edit)
    }

    fn close(&self, close: CloseCall) -> BoxFuture<'static, Result<(), LedgerError>> {
        match self.place {
            Place::Close => Box::pin(async { broken() }),
            _ => self.whole.close(close),
        }
    }
}

impl Switchboard for Broken {
    fn standing<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>> {
        match self.place {
            Place::Switches => Box::pin(async { broken() }),
            _ => self.whole.standing(project),
        }
    }
}

impl Tracks for Broken {
    fn track<'a>(
        &'a self,
        scope: &'a Scope,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>> {
        match self.place {
            Place::Tracks => Box::pin(async { broken() }),
            _ => self.whole.track(scope, name),
        }
    }

    fn add_to_track(&self, change: TrackChange) -> BoxFuture<'static, Result<(), LedgerError>> {
        match self.place {
            Place::AddToTrack => Box::pin(async { broken() }),
            _ => self.whole.add_to_track(change),
        }
    }
}

impl Journal for Broken {
    fn calls<'a>(
        &'a self,
        scope: &'a Scope,
        filter: CallFilter,
    ) -> BoxFuture<'a, Result<Vec<CallRecord>, LedgerError>> {
        self.whole.calls(scope, filter)
    }

    fn call<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, LedgerError>> {
        self.whole.call(scope, id)
    }

    fn usage<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolUsage>, LedgerError>> {
        self.whole.usage(scope)
    }
}

impl Approvals for Broken {
    fn questions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<OpenQuestions, LedgerError>> {
        self.whole.questions(scope)
    }

    fn question<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>> {
        self.whole.question(scope, call)
    }
}

/// A seal without a key.
impl Seal for Broken {
    fn seal(&self, _purpose: &str, _plain: &[u8]) -> Result<Vec<u8>, SealError> {
        Err(SealError::new("no key"))
    }

    fn open(&self, _purpose: &str, _sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        Err(SealError::new("no key"))
    }
}

/// Calls a writing tool over a ledger that breaks, and tells whether it ran.
async fn call_over(place: Place) -> (CallReport, bool) {
    let (report, ran, _) = call_and_look(place).await;
    (report, ran)
}

/// The same, with the ledger.
async fn call_and_look(place: Place) -> (CallReport, bool, Arc<Broken>) {
    let ledger = Arc::new(Broken { place, whole: MemoryLedger::new(), parks: AtomicU32::new(0) });
    let mut builder = Toolroom::builder(Arc::clone(&ledger)).policy(unguarded());
    if place == Place::Seal {
        builder = builder.seal(Arc::clone(&ledger) as _);
    }
    let room = builder.build();
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    let mut tool = scripted(spec(Effect::OnceOnlyWrite), move |_context, _arguments| {
        flag.store(true, Ordering::SeqCst);
        async { Ok(ToolOutput::new("effect")) }
    });
    if matches!(place, Place::Park | Place::Seal | Place::Key(_)) {
        tool.judge = |_| Judgement::Ask("sure?".into());
    }
    room.catalog().register(tool).unwrap();
    let source = CallSource::Session("probing".into());
    let report = room.call(CallRequest::new("probe").source(source)).await;
    (report, ran.load(Ordering::SeqCst), ledger)
}

#[tokio::test]
async fn a_guard_that_cannot_decide_denies() {
    let (report, ran) = call_over(Place::Switches).await;
    assert!(
        matches!(&report.outcome, Outcome::Denied(denial) if denial.rule == "switches.unreadable"),
        "{report:?}"
    );
    assert!(!ran);

    let (report, ran) = call_over(Place::Seal).await;
    assert!(
        matches!(&report.outcome, Outcome::Denied(denial) if denial.rule == "approval.unsealed"),
        "{report:?}"
    );
    assert!(!ran);

    let mut tool = scripted(spec(Effect::Pure), |_context, _arguments| async { Ok(ToolOutput::new("ran")) });
    tool.judge = |_| panic!("a broken judge");
    let bench = Bench::new(tool).unwrap();
    let report = bench.report(json!({})).await;
    assert!(matches!(report.outcome, Outcome::Denied(_)), "{report:?}");
    assert_eq!(bench.journal().await[0].status, CallStatus::Denied);
}

#[tokio::test]
async fn nothing_runs_or_is_told_without_knowing_and_keeping_what_was_read() {
    let (report, ran) = call_over(Place::Tracks).await;
    assert!(
        matches!(&report.outcome, Outcome::Denied(denial) if denial.rule == "provenance.unreadable"),
        "{report:?}"
    );
    assert!(!ran);

    let (report, ran) = call_over(Place::AddToTrack).await;
    assert_eq!(kind_of(&report), ErrorKind::Crashed, "{report:?}");
    assert!(!ran);
}

#[tokio::test]
async fn a_check_that_crashes_lets_nothing_through() {
    let mut tool = scripted(spec(Effect::Pure), |_context, _arguments| async { Ok(ToolOutput::new("ran")) });
    tool.check = |_| panic!("a broken check");
    let report = Bench::new(tool).unwrap().report(json!({})).await;
    assert_eq!(kind_of(&report), ErrorKind::Crashed);
}

#[tokio::test]
async fn no_effect_without_its_begun_row() {
    let (report, ran) = call_over(Place::Begin).await;
    assert_eq!(kind_of(&report), ErrorKind::Crashed);
    assert!(!ran, "the row could not be written, so the tool must not run");
    assert!(error_of(&report).for_operator().unwrap().contains("disk full"));
    assert!(!report.for_model().unwrap().to_string().contains("disk full"));
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_reported_as_done() {
    let (report, ran) = call_over(Place::Close).await;
    assert!(ran);
    assert_eq!(kind_of(&report), ErrorKind::Crashed);
    assert!(error_of(&report).hint().unwrap().contains("check before calling again"), "{report:?}");

    let (report, ran) = call_over(Place::Park).await;
    assert_eq!(kind_of(&report), ErrorKind::Crashed, "{report:?}");
    assert!(!ran);
}

#[tokio::test]
async fn what_was_sealed_under_a_key_that_went_is_sealed_anew_or_denied() {
    let (report, _, ledger) = call_and_look(Place::Key(1)).await;
    assert!(matches!(report.outcome, Outcome::Pending(_)), "{report:?}");
    assert_eq!(ledger.parks.load(Ordering::SeqCst), 2);

    let (report, ran, ledger) = call_and_look(Place::Key(u32::MAX)).await;
    let Outcome::Denied(denial) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(denial.rule, "approval.unsealed");
    assert!(!ran);
    assert_eq!(ledger.parks.load(Ordering::SeqCst), 2, "a key that stays wrong ends it");
    let row = ledger.whole.call(&Scope::default(), &report.call_id).await.unwrap().unwrap();
    assert_eq!(row.status, CallStatus::Denied);
    assert!(row.detail.unwrap().contains("a key that is no longer in use"));
}
