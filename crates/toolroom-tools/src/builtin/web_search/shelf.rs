//! Answers of the last minutes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock, Timestamp};
use toolroom::scope::ProjectId;

use super::engine::{EngineKind, Hit};

/// How long an answer is good.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// How many are kept.
const MOST: usize = 50;

/// Which question an answer is to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    project: ProjectId,
    query: String,
    count: usize,
}

impl Question {
    /// Case and spaces make no other question of it.
    pub(super) fn new(project: &ProjectId, query: &str, count: usize) -> Self {
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Self { project: project.clone(), query, count }
    }
}

/// An answer, and who gave it.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) engine: EngineKind,
    pub(super) hits: Arc<[Hit]>,
}

struct Place {
    question: Question,
    kept: Kept,
    since: Timestamp,
}

/// The answers, oldest first.
pub(super) struct Shelf {
    clock: Arc<dyn Clock>,
    places: Mutex<Vec<Place>>,
}

impl Shelf {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, places: Mutex::new(Vec::new()) }
    }

    pub(super) fn find(&self, question: &Question) -> Option<Kept> {
        let now = self.clock.now();
        let places = self.places();
        let place = places.iter().find(|place| place.question == *question)?;
        is_good(place, now).then(|| place.kept.clone())
    }

    pub(super) fn keep(&self, question: Question, kept: Kept) {
        let now = self.clock.now();
        let mut places = self.places();
        places.retain(|place| place.question != question && is_good(place, now));
        if places.len() >= MOST {
            places.remove(0);
        }
        places.push(Place { question, kept, since: now });
    }

    /// Whoever panicked was between two whole states.
    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that was set back makes nothing good for longer.
fn is_good(place: &Place, now: Timestamp) -> bool {
    place.since <= now && now.since(place.since) < LIFETIME
}

#[cfg(test)]
mod tests {
    use toolroom::testing::ManualClock;

    use super::*;

    fn kept() -> Kept {
        Kept { engine: EngineKind::Brave, hits: Arc::new([]) }
    }

    #[test]
    fn an_answer_is_good_for_a_quarter_of_an_hour_and_for_its_project() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let shelf = Shelf::new(Arc::clone(&clock) as _);
        let (own, other) = (ProjectId::default(), ProjectId::new("other"));
        shelf.keep(Question::new(&own, "Rust  Crabs", 5), kept());
        let asks = |project, query, count| shelf.find(&Question::new(project, query, count)).is_some();
        assert!(asks(&own, "rust crabs", 5));
        assert!(!asks(&own, "rust crabs", 6) && !asks(&other, "rust crabs", 5) && !asks(&own, "rust", 5));
        clock.advance(LIFETIME - Duration::from_secs(1));
        assert!(asks(&own, "rust crabs", 5));
        clock.advance(Duration::from_secs(1));
        assert!(!asks(&own, "rust crabs", 5));
    }

    #[test]
    fn fifty_are_kept_and_the_oldest_goes_first() {
        let shelf = Shelf::new(Arc::new(ManualClock::at(Timestamp::from_micros(0))));
        let question = |number: usize| Question::new(&ProjectId::default(), &number.to_string(), 5);
        (0..=MOST).for_each(|number| shelf.keep(question(number), kept()));
        assert!(shelf.find(&question(0)).is_none());
        assert!((1..=MOST).all(|number| shelf.find(&question(number)).is_some()));
    }
}
