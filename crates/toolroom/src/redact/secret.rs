//! A secret: a value to hide and its name.

use std::fmt;

use zeroize::Zeroizing;

/// Shorter values are not hidden, because they occur in ordinary words. Callers that store one warn the user.
pub const MIN_EXACT_CHARS: usize = 8;

/// A value to hide, and the name that replaces it. The value is wiped from memory on drop and never shown by `Debug`.
#[derive(Clone)]
pub struct Secret {
    pub(super) name: String,
    pub(super) value: Zeroizing<String>,
}

impl Secret {
    /// The secret `value`, shown as `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Zeroizing::new(value.into()) }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value. Only for code that sends it to its destination.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.value
    }

    /// Whether the value, without the white space around it, has fewer than [`MIN_EXACT_CHARS`] characters, so that
    /// no [`super::Redactor`] can hide it.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.value.trim().chars().nth(MIN_EXACT_CHARS - 1).is_none()
    }

    /// Why the value can be guessed, such as `digits alone`. A correct guess is hidden in results and a wrong one is not, so
    /// a caller of tools can try values.
    #[must_use]
    pub fn weakness(&self) -> Option<&'static str> {
        super::weakness::weakness(&self.value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
    }
}
