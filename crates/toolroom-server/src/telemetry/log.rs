//! The log of the server: a `tracing` subscriber without spans.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use toolroom::clock::{Clock as _, SystemClock};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as SpanFields};
use tracing::{Event, Level, Metadata, Subscriber};

use super::current_request;
use super::log_line::{EventFields, LogContent, LogRecord, RequestLine};
use super::writer::Writer;
use crate::config::{LogFormat, LogKeys};
use crate::telemetry::RedactFn;

/// Prefix of our own crates. Libraries only log warnings and errors.
const CRATE_PREFIX: &str = "toolroom";

/// The target of request lines.
const REQUESTS: &str = "toolroom_server::http::record";

static LOG: OnceLock<Log> = OnceLock::new();

/// The log of this process.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    writer: Arc<Writer>,
    level: Arc<AtomicU8>,
}

impl Log {
    /// Starts logging to standard error, redacted by `redact`. Keeps the subscriber of an embedder, if there is one.
    ///
    /// # Errors
    /// When the writer thread cannot be started.
    pub(crate) fn start(keys: LogKeys, redact: RedactFn) -> io::Result<()> {
        let writer = Writer::start(io::stderr(), redact, is_json(keys.format))?;
        let log = Self { writer: Arc::new(writer), level: Arc::new(AtomicU8::new(rank(keys.level.into()))) };
        if tracing::subscriber::set_global_default(log.clone()).is_ok() {
            // Set only here.
            drop(LOG.set(log));
        }
        Ok(())
    }

    /// Changes format and level.
    pub(crate) fn change(keys: LogKeys) {
        let Some(log) = LOG.get() else { return };
        log.writer.write_json(is_json(keys.format));
        log.level.store(rank(keys.level.into()), Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// Writes pending lines, within a second.
    pub(crate) fn finish() {
        if let Some(log) = LOG.get() {
            log.writer.finish();
        }
    }

    /// Logs a finished request. Skips `tracing` for speed unless an embedder has its own subscriber.
    pub(crate) fn request(line: RequestLine) {
        let RequestLine { method, route, status, ms, from } = line;
        match LOG.get() {
            Some(log) if log.is_enabled(Level::INFO, REQUESTS) => {
                log.write(Level::INFO, REQUESTS, LogContent::Request(line));
            }
            Some(_) => {}
            None => {
                let from = from.map(tracing::field::display);
                tracing::info!(target: REQUESTS, method, route, status, ms, from, "{}", line.message());
            }
        }
    }

    fn write(&self, level: Level, target: &'static str, content: LogContent) {
        self.writer.write(LogRecord {
            at: SystemClock.now(),
            level,
            target,
            content,
            request: current_request(),
        });
    }

    fn is_enabled(&self, level: Level, target: &str) -> bool {
        rank(level) <= self.max_rank(target)
    }

    fn max_rank(&self, target: &str) -> u8 {
        let most = self.level.load(Ordering::Relaxed);
        if target.starts_with(CRATE_PREFIX) { most } else { most.min(rank(Level::WARN)) }
    }
}

fn is_json(format: LogFormat) -> bool {
    match format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    }
}

/// Levels by verbosity.
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
        about.is_event() && self.is_enabled(*about.level(), about.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let most = self.level.load(Ordering::Relaxed);
        let levels = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];
        levels.into_iter().find(|level| rank(*level) == most).map(LevelFilter::from_level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        let about = event.metadata();
        self.write(*about.level(), about.target(), LogContent::Event(fields));
    }

    // The request of a record comes from its task, so spans are not needed.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &SpanFields<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
