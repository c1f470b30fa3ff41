//! Hides secrets in texts.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::exact::Exact;
use super::find::{Found, What};
use super::pattern::{self, Kind, Patterns};
use super::secret::{MIN_EXACT_CHARS, Secret};
use super::stream::in_pieces;
use super::text::{End, Text};

/// Shorter texts hold nothing: no stored value is looked for that has fewer characters, and no format is shorter.
pub(super) const MIN_TEXT: usize = 8;
const _: () = assert!(MIN_TEXT <= MIN_EXACT_CHARS && MIN_TEXT <= "a://:pw@".len());

/// Longer texts are read piece by piece, so that what is noted about them stays small.
const WHOLE: usize = 256 << 10;

/// What is hidden may have kept something beside it from being recognised, so the result is looked at again. A text
/// that is still not clean after so many rounds was made for that, and is not shown at all.
const ROUNDS: usize = 8;

/// Characters of a name that are shown.
const MAX_NAME: usize = 64;

/// Written where a name would give something away. Too short to hold a secret.
const NAMELESS: &str = "***";

/// Knows what has to be hidden, and writes texts without it.
///
/// A stored value is replaced by `[secret NAME]`, wherever it stands: as it is, in base64 at any position inside a
/// longer text, in hex, and escaped for URLs, forms, JSON, source text, HTML, also escaped twice. What only looks
/// like a secret is replaced by its kind, such as `[redacted github token]`. Hiding twice changes nothing more.
///
/// The default knows no values, but all [`Patterns`].
#[derive(Default)]
pub struct Redactor {
    exact: Option<Arc<Exact>>,
    patterns: Patterns,
    /// What is written for each secret.
    markers: Vec<String>,
    /// Whether the kinds' own markers hold a stored value.
    nameless_kinds: bool,
}

impl Redactor {
    /// Hides these values and whatever `patterns` says. Values that are too short ([`Secret::is_too_short`]) are not
    /// looked for.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Secret>, patterns: Patterns) -> Self {
        let secrets: Vec<Secret> = secrets.into_iter().collect();
        let mut redactor = Self { exact: Exact::new(&secrets).map(Arc::new), patterns, ..Self::default() };
        let is_safe = |text: &str| redactor.found(text).finds.is_empty();
        let marker = |secret: &Secret| {
            let name = shown(&secret.name);
            let named = (!name.is_empty()).then(|| format!("[secret {name}]"));
            let mut choices = named.into_iter().chain(["[secret]".to_owned()]);
            choices.find(|text| is_safe(text)).unwrap_or_else(|| NAMELESS.to_owned())
        };
        let markers = secrets.iter().map(marker).collect();
        redactor.nameless_kinds = !Kind::ALL.into_iter().all(|kind| is_safe(kind.marker()));
        redactor.markers = markers;
        redactor
    }

    /// The same stored values, and no formats.
    #[must_use]
    pub fn without_patterns(&self) -> Self {
        Self {
            exact: self.exact.clone(),
            patterns: Patterns::None,
            markers: self.markers.clone(),
            nameless_kinds: self.nameless_kinds,
        }
    }

    /// The text without secrets; the text itself when there are none.
    #[must_use]
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // Most strings of a call are names and small values.
        if text.len() < MIN_TEXT {
            return Cow::Borrowed(text);
        }
        let Some(mut redacted) = self.pass(text) else { return Cow::Borrowed(text) };
        for _ in 1..ROUNDS {
            match self.pass(&redacted) {
                Some(next) => redacted = next,
                None => return Cow::Owned(redacted),
            }
        }
        Cow::Owned(NAMELESS.to_owned())
    }

    /// Hides what is found; `None` when nothing is.
    fn pass(&self, text: &str) -> Option<String> {
        if text.len() > WHOLE {
            return in_pieces(self, text);
        }
        let found = self.found(text);
        if found.finds.is_empty() {
            return None;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for (range, what) in found.merged() {
            redacted.push_str(between(text, at, range.start));
            redacted.push_str(self.marker(what));
            at = range.end;
        }
        redacted.push_str(between(text, at, text.len()));
        Some(redacted)
    }

    /// What a text is called of which all is hidden, because it is of a `kind`.
    pub(super) fn called(&self, text: &str, kind: Kind) -> What {
        let mut found = self.found(text);
        found.hide(0..text.len(), What::Kind(kind));
        found.merged().first().map_or(What::Kind(kind), |(_, what)| *what)
    }

    fn found(&self, text: &str) -> Found {
        let mut found = Found::new(0);
        self.find(&Text::new(text.as_bytes(), End::Final), 0, &mut found);
        found
    }

    /// Adds everything in `text` that has to be hidden. Private keys that begin before `known_key` are known already.
    pub(super) fn find(&self, text: &Text<'_>, known_key: usize, found: &mut Found) {
        if let Some(exact) = &self.exact {
            exact.find(text.bytes(), text.end(), found);
        }
        pattern::find(self.patterns, text, known_key, found);
    }

    /// What is written in place of something.
    pub(super) fn marker(&self, what: What) -> &str {
        match what {
            What::Secret(owner) => self.markers.get(owner).map_or(NAMELESS, String::as_str),
            What::Kind(_) if self.nameless_kinds => NAMELESS,
            What::Kind(kind) => kind.marker(),
        }
    }

    pub(super) fn patterns(&self) -> Patterns {
        self.patterns
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.markers.len();
        formatter
            .debug_struct("Redactor")
            .field("secrets", &secrets)
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

/// A name as it may stand in a text.
fn shown(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    name.chars().take(MAX_NAME).map(safe).collect()
}

/// What stands between two places that are hidden. They begin and end at characters; should one ever not, the whole
/// character goes with it.
pub(super) fn between(text: &str, start: usize, end: usize) -> &str {
    text.get(text.ceil_char_boundary(start)..text.floor_char_boundary(end)).unwrap_or_default()
}
