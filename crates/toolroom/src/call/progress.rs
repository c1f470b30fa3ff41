//! Signs of life without secrets.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use super::request::{Progress, ProgressSink};
use crate::redact::{Redactor, Stream};

/// A progress text is for a status line.
const PROGRESS_CHARS: usize = 500;

/// A shorter beginning of a stored value gives nothing away.
const HARMLESS_CHARS: usize = 4;

/// A sink that hides secrets. Each sign of life is a whole text, so it is not held back until the next one; but a
/// stored value that a tool tells in pieces is not told either: what may be its beginning is cut off, and what
/// follows is judged together with it.
pub(super) fn without_secrets(sink: ProgressSink, redactor: Arc<Redactor>) -> ProgressSink {
    let pieces = Mutex::new(Pieces { stored: Arc::new(redactor.without_patterns()), cut: String::new() });
    Arc::new(move |progress: Progress| {
        // Pieces are whole between two texts, whatever a sink did.
        let message = pieces.lock().unwrap_or_else(PoisonError::into_inner).add(progress.message);
        let message = redactor.redact_text(&message).chars().take(PROGRESS_CHARS).collect();
        sink(Progress { message, fraction: progress.fraction });
    })
}

struct Pieces {
    /// Knows stored values only: anything could be the beginning of some format.
    stored: Arc<Redactor>,
    /// What may be the beginning of a stored value, from the texts before.
    cut: String,
}

impl Pieces {
    /// The text without what is, or may become, a stored value.
    fn add(&mut self, text: String) -> String {
        let joined = std::mem::take(&mut self.cut) + &text;
        let (known, text) = match self.stored.redact_text(&joined) {
            Cow::Owned(redacted) => (redacted.clone(), redacted),
            Cow::Borrowed(_) => (joined, text),
        };
        let mut stream = Stream::new(Arc::clone(&self.stored));
        let told = stream.push(&known).len();
        let beginning = stream.finish();
        let harmless = beginning.chars().count() < HARMLESS_CHARS;
        self.cut = beginning;
        if harmless {
            return text;
        }
        // Of what was cut a part may have come with an earlier text.
        let earlier = known.len().saturating_sub(text.len());
        text.get(..told.saturating_sub(earlier)).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{Patterns, Secret};

    fn told(texts: &[&str]) -> Vec<String> {
        let redactor = Arc::new(Redactor::new([Secret::new("CODE", "sesame-open-now")], Patterns::Keys));
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&heard);
        let quiet = without_secrets(Arc::new(move |told| sink.lock().unwrap().push(told.message)), redactor);
        for text in texts {
            quiet(Progress { message: (*text).to_owned(), fraction: None });
        }
        heard.lock().unwrap().clone()
    }

    #[test]
    fn ordinary_texts_come_whole_and_at_once() {
        let texts = ["half", "reading s", "uses", "sesame", "seed oil: 5 s left"];
        let heard = told(&texts);
        assert_eq!(heard[..3], texts[..3], "nothing in them is worth holding back");
        assert_eq!(heard[3], "", "this may become the value");
        assert_eq!(heard[4], texts[4]);
    }

    #[test]
    fn a_stored_value_is_not_told_whole_or_in_pieces() {
        for texts in [
            &["code: sesame-open-now!"][..],
            &["code: sesame-op", "en-now!"],
            &["code: sesame", "-open", "-now", "!"],
            &["s", "e", "s", "a", "m", "e", "-", "o", "p", "e", "n", "-", "n", "o", "w"],
        ] {
            let all = told(texts).concat();
            assert!(!all.contains("sesam"), "{texts:?}: {all}");
            assert!(!all.contains("open"), "{texts:?}: {all}");
        }
    }
}
