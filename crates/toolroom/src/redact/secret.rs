//! A value that nobody may read, and the name it is known by.

use std::fmt;

use zeroize::Zeroizing;

/// Shorter values are not looked for: they would be found in ordinary words. Whoever stores one is to be warned.
pub const MIN_EXACT_CHARS: usize = 8;

/// What to hide, and what to write in its place. The value is wiped from memory when it is dropped, and never shown
/// by `Debug`.
#[derive(Clone)]
pub struct Secret {
    pub(super) name: String,
    pub(super) value: Zeroizing<String>,
}

impl Secret {
    /// The secret `value`, which readers will know as `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Zeroizing::new(value.into()) }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value, for whoever has to hand it over to where it belongs, and to nobody else.
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

    /// Why a caller of tools could find the value by trying, such as `digits alone`. Each guess that is right
    /// is hidden in the result, and each other one is not.
    #[must_use]
    pub fn few_possibilities(&self) -> Option<&'static str> {
        super::guess::few_possibilities(&self.value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
    }
}
