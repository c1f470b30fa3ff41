//! Retries of model requests with exponential back-off.
//!
//! Only transient errors are retried. A retry is safe, because tools run only after a complete answer. A vendor's
//! `retry-after` is respected.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::model::{Answer, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest};

/// How often and when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries after the first try.
    pub retries: u32,
    /// The delay before the first retry; doubles with each further one.
    pub base: Duration,
    /// The longest delay of the back-off.
    pub cap: Duration,
    /// The longest delay a vendor may ask for; fails at once if it asks for more.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 2,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            longest: Duration::from_secs(60),
        }
    }
}

/// A model with retries after transient errors.
pub struct RetryingModel {
    model: Arc<dyn Model>,
    policy: RetryPolicy,
}

impl RetryingModel {
    /// Wraps a model with the default policy.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self::with(model, RetryPolicy::default())
    }

    /// Wraps a model with a policy.
    #[must_use]
    pub fn with(model: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { model, policy }
    }
}

impl RetryPolicy {
    /// The delay after the failed try of this number, counted from 0.
    fn delay(&self, tried: u32, asked_for: Option<Duration>, jitter: f64) -> Duration {
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(tried)).min(self.cap);
        // Jitter of up to a quarter, so that clients that failed together do not retry together.
        let ours = doubled.mul_f64(1.0 + jitter / 4.0).min(self.cap);
        ours.max(asked_for.unwrap_or_default())
    }
}

impl Model for RetryingModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let mut tried = 0;
            loop {
                let error = match self.model.ask(request, on_event, cancellation).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                };
                if !error.kind.is_transient() || tried >= self.policy.retries || cancellation.is_cancelled() {
                    return Err(error);
                }
                if let Some(after) = error.retry_after.filter(|after| *after > self.policy.longest) {
                    return Err(later(error, after));
                }
                let after = self.policy.delay(tried, error.retry_after, chance());
                tried += 1;
                on_event(ModelEvent::Again { reason: error.message.clone(), after });
                tokio::select! {
                    biased;
                    () = cancellation.cancelled() => {
                        return Err(ModelError::new(ModelErrorKind::Cancelled, "the answer was stopped").caused_by(error));
                    }
                    () = sleep(after) => {}
                }
            }
        })
    }
}

/// Adds when to retry to the message.
fn later(mut error: ModelError, after: Duration) -> ModelError {
    let seconds = after.as_secs();
    let when = match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    };
    error.message = format!("{}; retry in {when}", error.message);
    error
}

/// A random number from 0 to 1, from the random keys of the standard library's hash maps.
fn chance() -> f64 {
    let bits = RandomState::new().hash_one(()) >> 40;
    // 24 bits fit into a float exactly.
    f64::from(u32::try_from(bits).unwrap_or(0)) / f64::from(1_u32 << 24)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
