//! Asking once more, where that may help.
//!
//! Only asking is repeated: nothing a model calls has run before its answer is whole. What passes by itself is tried
//! again a few times, each time after a longer wait; what the vendor says about when is heeded.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::model::{Answer, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest};

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Tries after the first one.
    pub again: u32,
    /// The wait before the second try; it doubles with each further one.
    pub base: Duration,
    /// The longest wait of our own choice.
    pub cap: Duration,
    /// The longest wait a vendor may ask for. If it asks for more, nobody waits.
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            again: 2,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            longest: Duration::from_secs(60),
        }
    }
}

/// A model that is asked again when something passes by itself.
pub struct Patient {
    model: Arc<dyn Model>,
    patience: Patience,
}

impl Patient {
    /// The same model, asked with the usual patience.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self::with(model, Patience::default())
    }

    /// The same model, asked with this patience.
    #[must_use]
    pub fn with(model: Arc<dyn Model>, patience: Patience) -> Self {
        Self { model, patience }
    }
}

impl Patience {
    /// How long to wait after the try of this number failed, counted from 0.
    fn wait(&self, tried: u32, asked_for: Option<Duration>, jitter: f64) -> Duration {
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(tried)).min(self.cap);
        // Up to a quarter more, so that those who failed together do not come back together.
        let ours = doubled.mul_f64(1.0 + jitter / 4.0).min(self.cap);
        ours.max(asked_for.unwrap_or_default())
    }
}

impl Model for Patient {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let mut tried = 0;
            loop {
                let error = match self.model.ask(request, told, cancellation).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                };
                if !error.kind.is_transient() || tried >= self.patience.again || cancellation.is_cancelled() {
                    return Err(error);
                }
                if let Some(after) = error.retry_after.filter(|after| *after > self.patience.longest) {
                    return Err(later(error, after));
                }
                let after = self.patience.wait(tried, error.retry_after, chance());
                tried += 1;
                told(ModelEvent::Again { reason: error.message.clone(), after });
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

/// The error, with when to come back.
fn later(mut error: ModelError, after: Duration) -> ModelError {
    let seconds = after.as_secs();
    let when = match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    };
    error.message = format!("{}; it can be asked again in {when}", error.message);
    error
}

/// A number from 0 to 1. The keys of the standard library's hash maps are random, which is enough here.
fn chance() -> f64 {
    let bits = RandomState::new().hash_one(()) >> 40;
    // 24 bits fit into a float exactly.
    f64::from(u32::try_from(bits).unwrap_or(0)) / f64::from(1_u32 << 24)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
