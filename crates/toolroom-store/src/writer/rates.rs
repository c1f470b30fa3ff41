//! Holding rate limits inside one transaction.

use std::collections::HashMap;

use toolroom::clock::Timestamp;
use toolroom::ledger::BeginCall;
use toolroom::scope::UserId;

use super::look::{Counted, Questions, Replies};
use super::unit::Refusal;

/// Who began, and when.
type Begun<'a> = (Option<&'a UserId>, Timestamp);

/// Rate limits inside one transaction: what the database counted, and what this batch let through since.
pub(super) struct Rates<'a, 'q> {
    questions: &'q Questions<'a>,
    replies: &'q Replies,
    /// Of limits, in the order they were asked.
    next: usize,
    /// By project and tool.
    begun: HashMap<(&'a str, &'a str), Vec<Begun<'a>>>,
}

impl<'a, 'q> Rates<'a, 'q> {
    pub(super) fn new(questions: &'q Questions<'a>, replies: &'q Replies) -> Self {
        Self { questions, replies, next: 0, begun: HashMap::new() }
    }

    pub(super) fn admit(&mut self, begin: &'a BeginCall) -> Result<(), Refusal> {
        let first = self.next;
        self.next += begin.rates.len();
        let begun_at = begin.record.begun_at.unwrap_or(begin.record.asked_at);
        for (place, limit) in (first..).zip(&begin.rates) {
            let Some(window) = self.questions.window(place) else {
                continue;
            };
            let span = limit.window(begun_at);
            let (mut count, mut oldest) = self.replies.window(window, span.since);
            let counted = Counted::of(&begin.record, limit);
            let here = self.begun.get(&(counted.project, counted.tool)).into_iter().flatten();
            for (_, at) in here.filter(|(user, at)| span.holds(*at) && counted.includes(*user)) {
                count += 1;
                oldest = Some(oldest.map_or(*at, |oldest| oldest.min(*at)));
            }
            if count >= u64::from(limit.max) {
                // A call that was let through meanwhile may have begun a moment after this one wanted to.
                let retry_after = oldest.unwrap_or(begun_at).after(limit.per).since(begun_at).min(limit.per);
                return Err(Refusal::RateLimited { limit: *limit, retry_after });
            }
        }
        Ok(())
    }

    pub(super) fn count(&mut self, begin: &'a BeginCall) {
        let record = &begin.record;
        if let Some(at) = record.begun_at {
            let key = (record.scope.project.as_str(), &*record.tool);
            self.begun.entry(key).or_default().push((record.scope.user.as_ref(), at));
        }
    }
}
