//! Final redaction of everything this process prints or logs: stored secrets and secret environment variables.

use std::borrow::Cow;
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, PoisonError, RwLock};

use toolroom::redact::{Patterns, Redactor, Secret, Stream};
use toolroom_host::environment;
use tracing_subscriber::fmt::MakeWriter;

use super::output::visible;

static REDACTORS: RwLock<Option<Redactors>> = RwLock::new(None);

#[derive(Clone)]
struct Redactors {
    /// For the terminal: stored values only, because users see text they typed themselves.
    screen: Arc<Redactor>,
    /// For logs: also known formats of API keys.
    log: Arc<Redactor>,
}

/// Sets the secrets to hide, in addition to those of the environment.
pub(crate) fn hide(stored: Vec<Secret>) {
    let named = |(name, value)| Secret::new(format!("${name}"), value);
    let secrets: Vec<Secret> =
        stored.into_iter().chain(environment::secret_variables().into_iter().map(named)).collect();
    let redactors = Redactors {
        screen: Arc::new(Redactor::new(secrets.clone(), Patterns::None)),
        log: Arc::new(Redactor::new(secrets, Patterns::Keys)),
    };
    *REDACTORS.write().unwrap_or_else(PoisonError::into_inner) = Some(redactors);
}

/// Redacts a text for a log.
pub(crate) fn logged(text: &str) -> Cow<'_, str> {
    match &*REDACTORS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(hidden) => hidden.log.redact_text(text),
        None => Redactor::default().redact_text(text),
    }
}

fn redactors() -> Option<Redactors> {
    REDACTORS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Redacts a text for the terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match &*REDACTORS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(hidden) => hidden.screen.redact_text(text),
        None => Cow::Borrowed(text),
    }
}

/// Redacts streamed text for the terminal.
pub(crate) fn stream() -> Stream {
    Stream::new(redactors().map_or_else(Arc::default, |hidden| hidden.screen))
}

/// Logs warnings to stderr.
pub(crate) fn log_warnings() {
    let warnings = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(RedactedStderr);
    // An embedder may have set a subscriber; it is kept.
    drop(warnings.without_time().with_target(false).try_init());
}

/// Logs panics with their location.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(log_panic));
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let text = visible(panic.payload_as_str().unwrap_or("without a message"));
    let location = panic.location().map(|location| format!(" at {location}")).unwrap_or_default();
    tracing::error!("panicked{location}: {text}");
}

/// Writes redacted log lines to stderr.
struct RedactedStderr;

impl<'a> MakeWriter<'a> for RedactedStderr {
    type Writer = LogLine;

    fn make_writer(&'a self) -> Self::Writer {
        LogLine::default()
    }
}

/// A log line, redacted and written when it is complete.
#[derive(Default)]
struct LogLine(Vec<u8>);

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        let redacted = logged(&text);
        // A failed write cannot be reported anywhere.
        drop(write!(anstream::stderr().lock(), "{redacted}"));
    }
}
