//! Why a schema is refused.

use thiserror::Error;

/// A schema that a tool cannot be registered with, or that cannot decide about arguments.
///
/// Places are JSON pointers into the schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A keyword has a value that its draft does not allow.
    #[error("the schema has {found} at `{pointer}`, allowed is {allowed}")]
    Malformed {
        /// Where.
        pointer: String,
        /// What is there.
        found: String,
        /// What may be there.
        allowed: &'static str,
    },
    /// The root does not describe an object, and arguments are always one.
    #[error("the schema of a tool's parameters must describe an object, found {found}")]
    NotAnObject {
        /// What the root is.
        found: String,
    },
    /// `$schema` names a draft that is not known here.
    #[error(
        "the schema names the unknown draft `{uri}` at `{pointer}`; leave `$schema` out for draft 2020-12"
    )]
    UnknownDraft {
        /// Where.
        pointer: String,
        /// The value of `$schema`.
        uri: String,
    },
    /// A reference leads to another document, and none is ever fetched.
    #[error(
        "the schema refers to another document at `{pointer}`: `{reference}` is never fetched; copy it into `$defs`"
    )]
    RemoteReference {
        /// Where.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference leads nowhere, or to something that is no schema.
    #[error("the schema refers to `{reference}` at `{pointer}`, which is no schema in this document")]
    DanglingReference {
        /// Where.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference leads back to its own place without going into the value.
    #[error("the schema refers to itself for the same value at `{pointer}`")]
    EndlessReference {
        /// Where the circle was noticed.
        pointer: String,
    },
    /// A pattern that the linear-time engine does not have (look-around, back references) or finds too big.
    #[error(
        "the schema has the pattern `{pattern}` at `{pointer}`, which cannot be matched in linear time; write it without look-around, back references and large counts"
    )]
    Pattern {
        /// Where.
        pointer: String,
        /// The pattern, shortened.
        pattern: String,
    },
    /// A bound on the size of the schema is passed.
    #[error("the schema has more than {limit} {what}")]
    TooBig {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// The validator could not be built although the schema looked sound.
    #[error("the schema could not be compiled: {reason}")]
    Compile {
        /// What the compiler says, shortened.
        reason: String,
    },
    /// Checking these arguments takes more steps than their size justifies.
    #[error("the schema needs too many steps to check these arguments; pass a flatter value")]
    TooMuchWork,
}
