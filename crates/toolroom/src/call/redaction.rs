//! Texts of a call without secrets: redacted first, then shortened, as a part of a secret is not recognised as one.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::open_call::OpenCall;
use super::request::{Progress, ProgressSink};
use super::shorten::shorten_text;
use crate::redact::{Redactor, Stream};

/// Most characters of an error, and of argument text that is not JSON.
const ERROR_CHARS: usize = 4_000;

/// Most characters of the name of an unknown tool. Registered names are shorter.
const NAME_CHARS: usize = 300;

/// Most characters of a progress message.
const PROGRESS_CHARS: usize = 500;

/// A shorter prefix of a stored secret gives nothing away.
const HARMLESS_CHARS: usize = 4;

/// Replaces text while the secrets to redact are unknown.
const NOT_STORED: &str = "[not stored: the secrets to redact could not be read]";

impl OpenCall {
    /// The text without secrets; `None` if it has none. Without a redactor no tool runs, so the text is ours or the
    /// caller's; known key formats are redacted even then.
    pub(super) fn redacted(&self, text: &str) -> Option<String> {
        let redacted = match &self.redactor {
            Some(redactor) => redactor.redact_text(text),
            None => Cow::Owned(Redactor::default().redact_text(text).into_owned()),
        };
        match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
        }
    }

    /// The text redacted and shortened; `None` if neither changes it.
    pub(super) fn presentable(&self, text: &str) -> Option<String> {
        let redacted = self.redacted(text);
        let short = shorten_text(redacted.as_deref().unwrap_or(text), ERROR_CHARS, None);
        short.or(redacted)
    }

    /// A text of the caller for the journal.
    pub(super) fn storable(&self, text: &str) -> String {
        match &self.redactor {
            Some(_) => self.presentable(text).unwrap_or_else(|| text.to_owned()),
            None => NOT_STORED.to_owned(),
        }
    }

    /// Redacts a value for the journal.
    pub(super) fn redact(&self, value: &mut Value) {
        match &self.redactor {
            Some(redactor) => redactor.redact_value(value),
            None => *value = Value::String(NOT_STORED.to_owned()),
        }
    }

    /// Stores the name of a tool that was not found: it may be any text.
    pub(super) fn redact_tool_name(&mut self) {
        if self.record.definition.is_none() {
            let name: String = self.storable(&self.request.tool).chars().take(NAME_CHARS).collect();
            self.record.tool = name.into();
        }
    }

    /// The call's progress sink, behind a filter that removes secrets.
    pub(super) fn redacted_progress(&mut self) -> Option<ProgressSink> {
        let sink = self.request.progress.take()?;
        let redactor = self.redactor.clone()?;
        Some(redacting_sink(sink, redactor))
    }
}

/// Removes secrets from progress messages. A stored secret that a tool reports in pieces is removed as well: what may be
/// its prefix is cut off, and the next message is judged together with it.
fn redacting_sink(sink: ProgressSink, redactor: Arc<Redactor>) -> ProgressSink {
    let filter =
        Mutex::new(PrefixFilter { stored: Arc::new(redactor.without_patterns()), cut: String::new() });
    Arc::new(move |progress: Progress| {
        // A sink that panics leaves the filter in a consistent state.
        let message = filter.lock().unwrap_or_else(PoisonError::into_inner).next(progress.message);
        let message = redactor.redact_text(&message).chars().take(PROGRESS_CHARS).collect();
        sink(Progress { message, fraction: progress.fraction });
    })
}

struct PrefixFilter {
    /// Stored secrets only: any text could be the prefix of some key format.
    stored: Arc<Redactor>,
    /// The end of the messages so far, if it may be the prefix of a stored secret.
    cut: String,
}

impl PrefixFilter {
    /// The message without what is, or may become, a stored secret.
    fn next(&mut self, message: String) -> String {
        let joined = std::mem::take(&mut self.cut) + &message;
        let (known, message) = match self.stored.redact_text(&joined) {
            Cow::Owned(redacted) => (redacted.clone(), redacted),
            Cow::Borrowed(_) => (joined, message),
        };
        let mut stream = Stream::new(Arc::clone(&self.stored));
        let safe = stream.push(&known).len();
        let prefix = stream.finish();
        let harmless = prefix.chars().count() < HARMLESS_CHARS;
        self.cut = prefix;
        if harmless {
            return message;
        }
        // A part of the prefix may have come with an earlier message.
        let earlier = known.len().saturating_sub(message.len());
        message.get(..safe.saturating_sub(earlier)).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{Patterns, Secret};

    fn shown(texts: &[&str]) -> Vec<String> {
        let redactor = Arc::new(Redactor::new([Secret::new("CODE", "sesame-open-now")], Patterns::Keys));
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&received);
        let filtered =
            redacting_sink(Arc::new(move |progress| sink.lock().unwrap().push(progress.message)), redactor);
        for text in texts {
            filtered(Progress { message: (*text).to_owned(), fraction: None });
        }
        received.lock().unwrap().clone()
    }

    #[test]
    fn ordinary_messages_come_whole_and_at_once() {
        let texts = ["half", "reading s", "uses", "sesame", "seed oil: 5 s left"];
        let received = shown(&texts);
        assert_eq!(received[..3], texts[..3], "nothing in them is worth holding back");
        assert_eq!(received[3], "", "this may become the secret");
        assert_eq!(received[4], texts[4]);
    }

    #[test]
    fn a_stored_secret_is_not_shown_whole_or_in_pieces() {
        for texts in [
            &["code: sesame-open-now!"][..],
            &["code: sesame-op", "en-now!"],
            &["code: sesame", "-open", "-now", "!"],
            &["s", "e", "s", "a", "m", "e", "-", "o", "p", "e", "n", "-", "n", "o", "w"],
        ] {
            let all = shown(texts).concat();
            assert!(!all.contains("sesam"), "{texts:?}: {all}");
            assert!(!all.contains("open"), "{texts:?}: {all}");
        }
    }
}
