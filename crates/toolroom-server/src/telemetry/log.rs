//! The log of the server: what is told, and how much of it.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use toolroom::clock::{Clock as _, SystemClock};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as SpanFields};
use tracing::{Event, Level, Metadata, Subscriber};

use super::line::{Record, RequestLine, Said, Words};
use super::visit;
use super::writer::Writer;
use crate::config::{LogFormat, LogKeys};
use crate::telemetry::Hide;

/// What our own crates are called. What libraries tell beyond warnings is about them and not about us.
const OURS: &str = "toolroom";

/// Where lines about requests come from.
const REQUESTS: &str = "toolroom_server::http::record";

static LOG: OnceLock<Log> = OnceLock::new();

/// The log of this process.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    writer: Arc<Writer>,
    level: Arc<AtomicU8>,
}

impl Log {
    /// Tells from now on everything that happens in this process, to standard error and without what `hide` hides. An
    /// embedder may have a subscriber of its own; that one stays.
    ///
    /// # Errors
    /// When no thread can be started for it.
    pub(crate) fn start(keys: LogKeys, hide: Hide) -> io::Result<()> {
        let writer = Writer::start(io::stderr(), hide, is_json(keys.format))?;
        let log = Self { writer: Arc::new(writer), level: Arc::new(AtomicU8::new(rank(keys.level.into()))) };
        if tracing::subscriber::set_global_default(log.clone()).is_ok() {
            // Nobody else sets it.
            drop(LOG.set(log));
        }
        Ok(())
    }

    /// Tells it in another way from now on.
    pub(crate) fn change(keys: LogKeys) {
        let Some(log) = LOG.get() else { return };
        log.writer.write_json(is_json(keys.format));
        log.level.store(rank(keys.level.into()), Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// Waits for the last lines, but not for long.
    pub(crate) fn finish() {
        if let Some(log) = LOG.get() {
            log.writer.finish();
        }
    }

    /// Tells that a request is over. There are so many of these that they go without a subscriber in between; to whoever set
    /// their own they are told like everything else.
    pub(crate) fn request(line: RequestLine) {
        let RequestLine { method, route, status, ms, from } = line;
        match LOG.get() {
            Some(log) if log.tells(Level::INFO, REQUESTS) => {
                log.tell(Level::INFO, REQUESTS, Said::Request(line));
            }
            Some(_) => {}
            None => {
                let from = from.map(tracing::field::display);
                tracing::info!(target: REQUESTS, method, route, status, ms, from, "{}", line.message());
            }
        }
    }

    fn tell(&self, level: Level, target: &'static str, said: Said) {
        self.writer.write(Record { at: SystemClock.now(), level, target, said, visit: visit::current() });
    }

    fn tells(&self, level: Level, target: &str) -> bool {
        rank(level) <= self.most(target)
    }

    fn most(&self, target: &str) -> u8 {
        let most = self.level.load(Ordering::Relaxed);
        if target.starts_with(OURS) { most } else { most.min(rank(Level::WARN)) }
    }
}

fn is_json(format: LogFormat) -> bool {
    match format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    }
}

/// How much a level tells.
const fn rank(level: Level) -> u8 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

impl Subscriber for Log {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.is_event() && self.tells(*about.level(), about.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let most = self.level.load(Ordering::Relaxed);
        let levels = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];
        levels.into_iter().find(|level| rank(*level) == most).map(LevelFilter::from_level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        let about = event.metadata();
        self.tell(*about.level(), about.target(), Said::Words(words));
    }

    // Which request something happened in is known from its task: there are no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &SpanFields<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
