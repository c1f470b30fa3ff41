//! Limits of tools: those the operator sets in place of, or on top of, a tool's own, and the concurrency limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::ledger::RateLimit;
use crate::policy::ToolPattern;
use crate::tool::{Timeout, ToolSpec};

/// Limits for some tools. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// How often it may be called.
    pub rates: Option<Vec<RateLimit>>,
    /// How many calls of it one process runs at a time.
    pub concurrency: Option<usize>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How many characters of its result a caller gets.
    pub result_cap: Option<usize>,
}

/// Whether [`Limits`] may also widen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitMode {
    /// They take the place of the tool's own.
    Replace,
    /// They hold beside the ones there are: the stricter one counts.
    Narrow,
}

/// Limits for the tools that a pattern fits.
#[derive(Debug, Clone)]
pub struct LimitRule {
    /// Which tools.
    pub tools: ToolPattern,
    /// What holds for them.
    pub limits: Limits,
    /// Whether they may also widen.
    pub mode: LimitMode,
}

/// The effective limits of a registered tool: its own, changed by every matching rule, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolLimits {
    /// How often it may be called; all of them hold.
    pub rates: Vec<RateLimit>,
    /// How many calls of it one process runs at a time.
    pub concurrency: Option<usize>,
    /// How long it may run unless its caller sets another limit.
    pub timeout: Timeout,
    /// The operator's limit, which callers cannot exceed.
    pub max_timeout: Option<Duration>,
    /// How many characters of its result a caller gets.
    pub result_cap: usize,
}

impl ToolLimits {
    pub(super) fn new(spec: &ToolSpec, rules: &[LimitRule]) -> Self {
        let mut effective = Self {
            rates: spec.rates.clone(),
            concurrency: spec.concurrency,
            timeout: spec.timeout.clone(),
            max_timeout: None,
            result_cap: spec.result_cap,
        };
        for rule in rules.iter().filter(|rule| rule.tools.matches(spec)) {
            match rule.mode {
                LimitMode::Replace => effective.replace(&rule.limits),
                LimitMode::Narrow => effective.narrow(&rule.limits),
            }
        }
        effective
    }

    fn replace(&mut self, limits: &Limits) {
        if let Some(rates) = &limits.rates {
            self.rates.clone_from(rates);
        }
        self.concurrency = limits.concurrency.or(self.concurrency);
        self.result_cap = limits.result_cap.unwrap_or(self.result_cap);
        self.max_timeout = limits.timeout.or(self.max_timeout);
        if let Some(limit) = limits.timeout {
            self.timeout = match &self.timeout {
                Timeout::After(_) | Timeout::Never => Timeout::After(limit),
                // The argument still decides, below the new bound.
                Timeout::FromArgument { name, default, .. } => {
                    Timeout::FromArgument { name: name.clone(), default: limit.min(*default), max: limit }
                }
            };
        }
    }

    fn narrow(&mut self, limits: &Limits) {
        self.rates.extend(limits.rates.iter().flatten());
        if let Some(limit) = limits.concurrency {
            self.concurrency = Some(self.concurrency.map_or(limit, |now| now.min(limit)));
        }
        self.result_cap = limits.result_cap.map_or(self.result_cap, |cap| cap.min(self.result_cap));
        if let Some(limit) = limits.timeout {
            self.max_timeout = Some(self.max_timeout.map_or(limit, |most| most.min(limit)));
            self.timeout = match &self.timeout {
                Timeout::After(now) => Timeout::After(limit.min(*now)),
                Timeout::Never => Timeout::After(limit),
                Timeout::FromArgument { name, default, max } => Timeout::FromArgument {
                    name: name.clone(),
                    default: limit.min(*default),
                    max: limit.min(*max),
                },
            };
        }
    }
}

/// How many calls of one tool may wait for a permit. Later calls are rate limited.
const MAX_WAITING: usize = 256;

/// Bounds how many calls of one tool run at a time in this process.
pub(crate) struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl ConcurrencyLimit {
    pub(super) fn new(permits: usize) -> Option<Self> {
        (1..=Semaphore::MAX_PERMITS)
            .contains(&permits)
            .then(|| Self { permits: Arc::new(Semaphore::new(permits)), waiting: AtomicUsize::new(0) })
    }

    /// Takes a permit if one is free.
    pub(crate) fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Waits for a permit. `None` when too many calls wait already.
    pub(crate) async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        let _in_queue = InQueue::join(&self.waiting)?;
        // The semaphore is never closed, so this always returns a permit.
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }
}

/// Counts one waiting call until it is dropped.
struct InQueue<'a>(&'a AtomicUsize);

impl<'a> InQueue<'a> {
    fn join(waiting: &'a AtomicUsize) -> Option<Self> {
        let increment = |count: usize| (count < MAX_WAITING).then_some(count.saturating_add(1));
        waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increment).ok().map(|_| Self(waiting))
    }
}

impl Drop for InQueue<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(mode: LimitMode, limits: Limits) -> LimitRule {
        LimitRule { tools: ToolPattern::parse("app:*").unwrap(), limits, mode }
    }

    #[test]
    fn replacing_widens_and_narrowing_never_does() {
        let spec = ToolSpec::new("app:t", "").unwrap().rate(RateLimit::per_hour(3)).concurrency(2);
        let wide = Limits {
            rates: Some(vec![RateLimit::per_hour(100)]),
            concurrency: Some(50),
            timeout: Some(Duration::from_secs(600)),
            result_cap: Some(1_000_000),
        };
        let replaced = ToolLimits::new(&spec, &[rule(LimitMode::Replace, wide.clone())]);
        assert_eq!(
            (replaced.rates.len(), replaced.concurrency, replaced.result_cap),
            (1, Some(50), 1_000_000)
        );
        assert_eq!(replaced.timeout, Timeout::After(Duration::from_secs(600)));

        let narrowed = ToolLimits::new(&spec, &[rule(LimitMode::Narrow, wide)]);
        assert_eq!(narrowed.rates, [RateLimit::per_hour(3), RateLimit::per_hour(100)], "both hold");
        assert_eq!((narrowed.concurrency, narrowed.result_cap), (Some(2), spec.result_cap));
        assert_eq!(narrowed.timeout, spec.timeout);

        let tight =
            Limits { concurrency: Some(1), timeout: Some(Duration::from_secs(1)), ..Limits::default() };
        let narrowed = ToolLimits::new(&spec, &[rule(LimitMode::Narrow, tight)]);
        assert_eq!(narrowed.concurrency, Some(1));
        assert_eq!(narrowed.timeout, Timeout::After(Duration::from_secs(1)));
        assert_eq!(narrowed.max_timeout, Some(Duration::from_secs(1)), "callers cannot exceed it");
    }

    #[test]
    fn a_limit_of_the_operator_holds_for_every_kind_of_timeout() {
        let limits = |seconds| Limits { timeout: Some(Duration::from_secs(seconds)), ..Limits::default() };
        let from_argument = Timeout::FromArgument {
            name: "seconds".to_owned(),
            default: Duration::from_secs(10),
            max: Duration::from_secs(100),
        };
        for (own, seconds, mode, most) in [
            (Timeout::Never, 5, LimitMode::Narrow, 5),
            (Timeout::Never, 5, LimitMode::Replace, 5),
            (from_argument.clone(), 5, LimitMode::Narrow, 5),
            (from_argument.clone(), 500, LimitMode::Narrow, 100),
            (from_argument, 500, LimitMode::Replace, 500),
        ] {
            let spec = ToolSpec::new("app:t", "").unwrap().timeout(own);
            let effective = ToolLimits::new(&spec, &[rule(mode, limits(seconds))]);
            let mut arguments = crate::tool::Arguments::new();
            arguments.insert("seconds".to_owned(), 10_000.into());
            assert_eq!(
                effective.timeout.limit(&arguments),
                Some(Duration::from_secs(most)),
                "{seconds} {mode:?}"
            );
        }
    }

    #[test]
    fn limits_of_other_tools_change_nothing() {
        let spec = ToolSpec::new("builtin:t", "").unwrap();
        let limits = Limits { concurrency: Some(1), ..Limits::default() };
        assert_eq!(ToolLimits::new(&spec, &[rule(LimitMode::Replace, limits)]), ToolLimits::new(&spec, &[]));
    }
}
