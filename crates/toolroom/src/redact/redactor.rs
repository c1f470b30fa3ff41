//! Hides secrets in texts.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::matches::{MatchKind, Matches};
use super::pattern::{self, Patterns, SecretFormat};
use super::secret::{MIN_EXACT_CHARS, Secret};
use super::stored_values::StoredValues;
use super::stream::redact_in_chunks;
use super::text::{Text, TextEnd};

/// Minimum length of a text that can hold a secret.
pub(super) const MIN_TEXT: usize = 8;
const _: () = assert!(MIN_TEXT <= MIN_EXACT_CHARS && MIN_TEXT <= "a://:pw@".len());

/// Longer texts are processed in chunks, which bounds the memory for matches.
const CHUNKED_FROM: usize = 256 << 10;

/// Passes over a text. A secret next to a hidden one may be recognised only in the next pass. A text that still has
/// secrets after the last pass is hidden completely.
const ROUNDS: usize = 8;

/// Characters of a name in a marker.
const MAX_NAME: usize = 64;

/// The marker if a name would itself contain a secret. Too short to hold one.
const ANONYMOUS_MARKER: &str = "***";

/// Replaces secrets in texts and JSON.
///
/// Replaces a stored value by `[secret NAME]`: plain, in base64 at any position inside a longer text, in hex, and escaped
/// for URLs, forms, JSON, source text, HTML, also escaped twice. Replaces a secret of a known format by its name, such as
/// `[redacted github token]`. Redaction is idempotent.
///
/// The default knows no values, but all [`Patterns`].
#[derive(Default)]
pub struct Redactor {
    stored_values: Option<Arc<StoredValues>>,
    patterns: Patterns,
    /// The marker of each secret.
    markers: Vec<String>,
    /// Whether a format's marker contains a stored value.
    anonymous_formats: bool,
}

impl Redactor {
    /// Hides these values and the formats of `patterns`. Ignores values that are too short ([`Secret::is_too_short`]).
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Secret>, patterns: Patterns) -> Self {
        let secrets: Vec<Secret> = secrets.into_iter().collect();
        let mut redactor =
            Self { stored_values: StoredValues::new(&secrets).map(Arc::new), patterns, ..Self::default() };
        let is_safe = |text: &str| redactor.matches(text).all.is_empty();
        let marker = |secret: &Secret| {
            let name = sanitized(&secret.name);
            let named = (!name.is_empty()).then(|| format!("[secret {name}]"));
            let mut choices = named.into_iter().chain(["[secret]".to_owned()]);
            choices.find(|text| is_safe(text)).unwrap_or_else(|| ANONYMOUS_MARKER.to_owned())
        };
        let markers = secrets.iter().map(marker).collect();
        redactor.anonymous_formats = !SecretFormat::ALL.into_iter().all(|format| is_safe(format.marker()));
        redactor.markers = markers;
        redactor
    }

    /// The same stored values, and no formats.
    #[must_use]
    pub fn without_patterns(&self) -> Self {
        Self {
            stored_values: self.stored_values.clone(),
            patterns: Patterns::None,
            markers: self.markers.clone(),
            anonymous_formats: self.anonymous_formats,
        }
    }

    /// The text without secrets; borrowed if there are none.
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
        Cow::Owned(ANONYMOUS_MARKER.to_owned())
    }

    /// `None` if nothing was found.
    fn pass(&self, text: &str) -> Option<String> {
        if text.len() > CHUNKED_FROM {
            return redact_in_chunks(self, text);
        }
        let found = self.matches(text);
        if found.all.is_empty() {
            return None;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for (range, kind) in found.merged() {
            redacted.push_str(between(text, at, range.start));
            redacted.push_str(self.marker(kind));
            at = range.end;
        }
        redacted.push_str(between(text, at, text.len()));
        Some(redacted)
    }

    /// The kind of a text that is hidden completely, because it is of a `format`.
    pub(super) fn kind_of(&self, text: &str, format: SecretFormat) -> MatchKind {
        let mut found = self.matches(text);
        found.hide(0..text.len(), MatchKind::Format(format));
        found.merged().first().map_or(MatchKind::Format(format), |(_, kind)| *kind)
    }

    fn matches(&self, text: &str) -> Matches {
        let mut found = Matches::new(0);
        self.find(&Text::new(text.as_bytes(), TextEnd::Final), 0, &mut found);
        found
    }

    /// Adds all matches in `text`. Private keys that begin before `known_key` are already handled.
    pub(super) fn find(&self, text: &Text<'_>, known_key: usize, found: &mut Matches) {
        if let Some(stored_values) = &self.stored_values {
            stored_values.find(text.bytes(), text.end(), found);
        }
        pattern::find(self.patterns, text, known_key, found);
    }

    /// The text that replaces a match.
    pub(super) fn marker(&self, kind: MatchKind) -> &str {
        match kind {
            MatchKind::Stored(owner) => self.markers.get(owner).map_or(ANONYMOUS_MARKER, String::as_str),
            MatchKind::Format(_) if self.anonymous_formats => ANONYMOUS_MARKER,
            MatchKind::Format(format) => format.marker(),
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

/// A name that is safe inside a marker.
fn sanitized(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    name.chars().take(MAX_NAME).map(safe).collect()
}

/// The text between two hidden ranges. Drops a character that a range hides in part.
pub(super) fn between(text: &str, start: usize, end: usize) -> &str {
    text.get(text.ceil_char_boundary(start)..text.floor_char_boundary(end)).unwrap_or_default()
}
