//! Hides secrets in text and JSON, so that no model, log, journal row, artifact or export ever holds one.
//!
//! A [`Redactor`] knows the stored values and the formats of well-known keys. It is built once per change of secrets and
//! shared; [`Redactions`] is the port that provides it. [`Stream`] redacts text that arrives in chunks.
//!
//! ```
//! use toolroom::redact::{Patterns, Redactor, Secret};
//!
//! let redactor = Redactor::new([Secret::new("DATABASE", "s3cr3t/p4ss")], Patterns::All);
//! assert_eq!(redactor.redact_text("curl -u app:s3cr3t%2Fp4ss"), "curl -u app:[secret DATABASE]");
//! assert_eq!(redactor.redact_text("AKIAIOSFODNN7EXAMPLE"), "[redacted aws key id]");
//! ```
//!
//! Of a stored value with several lines, single and neighbouring lines with at least [`MIN_EXACT_CHARS`] characters are
//! hidden, too.
//!
//! Not recognised: a stored value that was shortened, split otherwise, reversed, compressed or encrypted, or that has
//! fewer than [`MIN_EXACT_CHARS`] characters. A weak value ([`Secret::weakness`]) can be guessed.

mod encoded_form;
mod entity;
mod escape;
mod lines;
mod matches;
mod multi_search;
mod pattern;
mod port;
mod redactor;
mod secret;
mod stored_values;
mod stream;
mod text;
mod value;
mod view;
mod weakness;

#[cfg(test)]
mod tests;

pub use pattern::Patterns;
pub use port::{Fixed, RedactionError, Redactions};
pub use redactor::Redactor;
pub use secret::{MIN_EXACT_CHARS, Secret};
pub use stream::Stream;
