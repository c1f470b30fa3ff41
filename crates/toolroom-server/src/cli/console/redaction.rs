//! The last look at everything this process tells: no stored secret, and none of the environment, goes to a screen, a
//! pipe or a log, whatever came before.

use std::borrow::Cow;
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, PoisonError, RwLock};

use toolroom::redact::{Patterns, Redactor, Secret, Stream};
use toolroom_host::environment;
use tracing_subscriber::fmt::MakeWriter;

use super::output::visible;

/// What is hidden from now on.
static HIDDEN: RwLock<Option<Hidden>> = RwLock::new(None);

#[derive(Clone)]
struct Hidden {
    /// For people who look at what they themselves typed and keep: stored values only.
    screen: Arc<Redactor>,
    /// For what nobody looked at before: known formats of keys as well.
    log: Arc<Redactor>,
}

/// Hides these values, and those of the environment, in whatever is told from now on.
pub(crate) fn hide(stored: Vec<Secret>) {
    let named = |(name, value)| Secret::new(format!("${name}"), value);
    let secrets: Vec<Secret> =
        stored.into_iter().chain(environment::secret_variables().into_iter().map(named)).collect();
    let hidden = Hidden {
        screen: Arc::new(Redactor::new(secrets.clone(), Patterns::None)),
        log: Arc::new(Redactor::new(secrets, Patterns::Keys)),
    };
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(hidden);
}

/// A text as it may stand in a log.
pub(crate) fn logged(text: &str) -> Cow<'_, str> {
    match &*HIDDEN.read().unwrap_or_else(PoisonError::into_inner) {
        Some(hidden) => hidden.log.redact_text(text),
        None => Redactor::default().redact_text(text),
    }
}

fn hidden() -> Option<Hidden> {
    HIDDEN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A text as a person may see it.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match &*HIDDEN.read().unwrap_or_else(PoisonError::into_inner) {
        Some(hidden) => hidden.screen.redact_text(text),
        None => Cow::Borrowed(text),
    }
}

/// A text that arrives in pieces, as a person may see it.
pub(crate) fn stream() -> Stream {
    Stream::new(hidden().map_or_else(Arc::default, |hidden| hidden.screen))
}

/// What goes wrong behind a call's back is told to the operator, who is the person at the terminal.
pub(crate) fn tell_warnings() {
    let warnings = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(Log);
    // An embedder may have a subscriber of its own; that one stays.
    drop(warnings.without_time().with_target(false).try_init());
}

/// Tells where something panicked, and nothing else about it.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(tell_panic));
}

/// A panic of a tool ends its call and is told there; here it is only said where it happened.
fn tell_panic(panic: &PanicHookInfo<'_>) {
    let text = visible(panic.payload_as_str().unwrap_or("without a message"));
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    tracing::error!("panicked{place}: {text}");
}

/// Where log lines go: standard error, without secrets.
struct Log;

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line;

    fn make_writer(&'a self) -> Self::Writer {
        Line::default()
    }
}

/// One log line. It is looked at as a whole when it is complete.
#[derive(Default)]
struct Line(Vec<u8>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        let told = logged(&text);
        // Nobody is left to be told that nothing can be told.
        drop(write!(anstream::stderr().lock(), "{told}"));
    }
}
