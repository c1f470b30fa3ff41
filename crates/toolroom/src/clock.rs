//! Time and identifiers, as a port. Tests pass a [`Clock`] of their own; [`SystemClock`] is the only place
//! where the kernel looks at the wall clock. Timers are tokio's.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::ContextV7;

pub use uuid::Uuid;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// An instant: microseconds since the Unix epoch, UTC. The form in which records store time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This instant, `span` earlier. Saturates at the ends of time.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// This instant, `span` later. Saturates at the ends of time.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// The midnight before this instant, UTC: what is counted by the day is counted from here.
    #[must_use]
    pub const fn start_of_day(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(DAY)))
    }

    /// How long ago `earlier` was; zero when it lies in the future.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// Where the kernel gets the time and fresh identifiers from.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// A fresh identifier that sorts by creation time.
    fn ordered_id(&self) -> Uuid;

    /// A fresh identifier that cannot be guessed.
    fn random_id(&self) -> Uuid;
}

/// Keeps ids of the same moment in the order in which they were made.
static ORDER: Mutex<ContextV7> = Mutex::new(ContextV7::new());

#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's one look at the wall clock")]
fn since_epoch() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

/// The machine's clock and random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(micros(since_epoch()))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: version 7 carries the time")]
    fn ordered_id(&self) -> Uuid {
        let now = since_epoch();
        // A machine that has lost its clock may stand before the epoch, where version 7 has no ids.
        if now.is_zero() {
            return self.random_id();
        }
        Uuid::new_v7(uuid::Timestamp::from_unix(&ORDER, now.as_secs(), now.subsec_nanos()))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's one source of randomness")]
    fn random_id(&self) -> Uuid {
        Uuid::new_v4()
    }
}

/// Serializes durations as a number of seconds.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        match span.subsec_nanos() {
            0 => serializer.serialize_u64(span.as_secs()),
            _ => serializer.serialize_f64(span.as_secs_f64()),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_the_order_in_which_they_were_made() {
        let made: Vec<Uuid> = (0..10_000).map(|_| SystemClock.ordered_id()).collect();
        assert!(made.is_sorted_by(|one, next| one < next), "many of one moment");
        assert!(made.iter().all(|id| id.get_version_num() == 7));
    }
}
