//! Rate limits inside one transaction.

use std::collections::HashMap;

use toolroom::clock::Timestamp;
use toolroom::ledger::BeginCall;
use toolroom::scope::UserId;

use super::preconditions::{CountedCallSet, PreconditionQuery, Preconditions};
use super::unit::Refusal;

/// The user and time of a begin.
type Begun<'a> = (Option<&'a UserId>, Timestamp);

/// The calls that the database counted, and those that this batch admitted since.
pub(super) struct Rates<'a, 'q> {
    query: &'q PreconditionQuery<'a>,
    preconditions: &'q Preconditions,
    /// Number of the next limit in the query.
    next: usize,
    /// By project and tool.
    begun: HashMap<(&'a str, &'a str), Vec<Begun<'a>>>,
}

impl<'a, 'q> Rates<'a, 'q> {
    pub(super) fn new(query: &'q PreconditionQuery<'a>, preconditions: &'q Preconditions) -> Self {
        Self { query, preconditions, next: 0, begun: HashMap::new() }
    }

    pub(super) fn admit(&mut self, begin: &'a BeginCall) -> Result<(), Refusal> {
        let first = self.next;
        self.next += begin.rates.len();
        let begun_at = begin.record.begun_at.unwrap_or(begin.record.asked_at);
        for (number, limit) in (first..).zip(&begin.rates) {
            let Some(window) = self.query.window(number) else {
                continue;
            };
            let span = limit.window(begun_at);
            let (mut count, mut oldest) = self.preconditions.window(window, span.since);
            let counted = CountedCallSet::new(&begin.record, limit);
            let here = self.begun.get(&(counted.project, counted.tool)).into_iter().flatten();
            for (_, at) in here.filter(|(user, at)| span.holds(*at) && counted.includes(*user)) {
                count += 1;
                oldest = Some(oldest.map_or(*at, |oldest| oldest.min(*at)));
            }
            if count >= u64::from(limit.max) {
                // A call of this batch may have begun slightly later than this one.
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
