//! Hides secrets in text and JSON, so that no model, log, journal row, artifact or export ever holds one.
//!
//! A [`Redactor`] knows the stored values and the formats of well-known keys. It is made once for as long as the
//! secrets stay the same and shared; [`Redactions`] is the port that hands it out. [`Stream`] does the same for text
//! that arrives in pieces.
//!
//! ```
//! use toolroom::redact::{Patterns, Redactor, Secret};
//!
//! let redactor = Redactor::new([Secret::new("DATABASE", "s3cr3t/p4ss")], Patterns::All);
//! assert_eq!(redactor.redact_text("curl -u app:s3cr3t%2Fp4ss"), "curl -u app:[secret DATABASE]");
//! assert_eq!(redactor.redact_text("AKIAIOSFODNN7EXAMPLE"), "[redacted aws key id]");
//! ```
//!
//! Of a stored value with several lines, single lines and neighbouring ones are hidden, too, as long as they have
//! [`MIN_EXACT_CHARS`] characters together.
//!
//! What it cannot do: recognise a stored value that was shortened, split otherwise, reversed, compressed or encrypted, or
//! one that has fewer than [`MIN_EXACT_CHARS`] characters. A value with few possibilities
//! ([`Secret::few_possibilities`]) can be found by trying.

mod entity;
mod escape;
mod exact;
mod find;
mod form;
mod guess;
mod lines;
mod needles;
mod pattern;
mod port;
mod redactor;
mod secret;
mod stream;
mod text;
mod value;
mod view;

#[cfg(test)]
mod tests;

pub use pattern::Patterns;
pub use port::{Fixed, RedactionError, Redactions};
pub use redactor::Redactor;
pub use secret::{MIN_EXACT_CHARS, Secret};
pub use stream::Stream;
