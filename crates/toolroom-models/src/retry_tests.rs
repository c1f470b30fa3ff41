use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::Instant;
use toolroom::model::{Block, StopReason, Usage};

use super::*;
use crate::recorded::request;

/// Answers with these, one after the other, and says a word before each.
struct Scripted {
    script: Mutex<Vec<Result<(), ModelError>>>,
    asked: AtomicU32,
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "test/scripted"
    }

    fn ask<'a>(
        &'a self,
        _: &'a ModelRequest,
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            told(ModelEvent::Text("so".to_owned()));
            self.script.lock().unwrap().remove(0).map(|()| Answer {
                blocks: vec![Block::text("so")],
                stop: StopReason::Done,
                usage: Usage::default(),
                model: None,
            })
        })
    }
}

fn failed(kind: ModelErrorKind) -> Result<(), ModelError> {
    Err(ModelError::new(kind, "no"))
}

fn wait(seconds: u64) -> Result<(), ModelError> {
    let after = Some(Duration::from_secs(seconds));
    Err(ModelError { retry_after: after, ..ModelError::new(ModelErrorKind::RateLimit, "slow down") })
}

struct Outcome {
    answered: Result<Answer, ModelError>,
    told: Vec<ModelEvent>,
    asked: u32,
    took: Duration,
}

async fn ask(script: Vec<Result<(), ModelError>>, cancellation: &CancellationToken) -> Outcome {
    let model = Arc::new(Scripted { script: Mutex::new(script), asked: AtomicU32::new(0) });
    let patient = RetryingModel::new(Arc::<Scripted>::clone(&model));
    assert_eq!(patient.name(), "test/scripted");
    let mut told = Vec::new();
    let began = Instant::now();
    let answered = patient.ask(&request(), &mut |event| told.push(event), cancellation).await;
    Outcome { answered, told, asked: model.asked.load(Ordering::SeqCst), took: began.elapsed() }
}

async fn asked(script: Vec<Result<(), ModelError>>) -> Outcome {
    ask(script, &CancellationToken::new()).await
}

#[tokio::test(start_paused = true)]
async fn what_passes_by_itself_is_asked_again_and_what_was_told_is_void() {
    let outcome =
        asked(vec![failed(ModelErrorKind::Network), failed(ModelErrorKind::Overloaded), Ok(())]).await;
    assert!(outcome.answered.is_ok());
    let [
        ModelEvent::Text(_),
        ModelEvent::Again { reason, after },
        ModelEvent::Text(_),
        ModelEvent::Again { after: second, .. },
        ModelEvent::Text(_),
    ] = &outcome.told[..]
    else {
        panic!("{:?}", outcome.told)
    };
    assert_eq!(reason, "no");
    assert!((1_000..=1_250).contains(&after.as_millis()) && (2_000..=2_500).contains(&second.as_millis()));
    assert!(outcome.took >= *after + *second);
}

#[tokio::test(start_paused = true)]
async fn after_three_tries_the_last_error_is_told() {
    let script = vec![
        failed(ModelErrorKind::Server),
        failed(ModelErrorKind::Timeout),
        failed(ModelErrorKind::Protocol),
    ];
    let outcome = asked(script).await;
    assert_eq!(outcome.asked, 3);
    assert_eq!(outcome.answered.unwrap_err().kind, ModelErrorKind::Protocol);
}

#[tokio::test(start_paused = true)]
async fn what_asking_again_cannot_mend_is_told_at_once() {
    for kind in [
        ModelErrorKind::Auth,
        ModelErrorKind::Billing,
        ModelErrorKind::ContextOverflow,
        ModelErrorKind::ContentFilter,
        ModelErrorKind::BadRequest,
        ModelErrorKind::NotFound,
        ModelErrorKind::Endless,
        ModelErrorKind::Cancelled,
    ] {
        let outcome = asked(vec![failed(kind)]).await;
        assert_eq!((outcome.asked, outcome.took), (1, Duration::ZERO), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_vendors_wait_is_heeded_unless_it_is_too_long() {
    let outcome = asked(vec![wait(20), Ok(())]).await;
    assert!(outcome.answered.is_ok() && outcome.took >= Duration::from_secs(20));
    let outcome = asked(vec![wait(200)]).await;
    assert_eq!((outcome.asked, outcome.took), (1, Duration::ZERO));
    let error = outcome.answered.unwrap_err();
    assert_eq!(error.message, "slow down; retry in 4 min");
    assert_eq!(error.retry_after, Some(Duration::from_secs(200)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_does_not_wait_for_a_retry() {
    let cancellation = CancellationToken::new();
    let stop = cancellation.clone();
    let stopping = async {
        sleep(Duration::from_millis(10)).await;
        stop.cancel();
    };
    let (outcome, ()) = tokio::join!(ask(vec![wait(50), Ok(())], &cancellation), stopping);
    assert_eq!(outcome.asked, 1);
    assert_eq!(outcome.answered.unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(outcome.took < Duration::from_secs(1));
}

#[test]
fn waits_grow_and_stay_below_the_cap() {
    let policy = RetryPolicy::default();
    let seconds = |tried, jitter| policy.delay(tried, None, jitter).as_secs_f64();
    assert_eq!([seconds(0, 0.0), seconds(1, 0.0), seconds(2, 1.0)], [1.0, 2.0, 5.0]);
    assert_eq!([seconds(10, 1.0), seconds(100, 0.5)], [30.0, 30.0]);
    for _ in 0..100 {
        assert!((0.0..=1.0).contains(&chance()));
    }
}
