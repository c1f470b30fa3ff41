//! Why a schema is rejected.

use thiserror::Error;

/// Why a tool cannot be registered with a schema, or a schema cannot check arguments.
///
/// Pointers are JSON pointers into the schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A keyword has a value that its draft does not allow.
    #[error("the schema has {found} at `{pointer}`, expected {allowed}")]
    Malformed {
        /// The pointer.
        pointer: String,
        /// The value.
        found: String,
        /// The allowed values.
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
        /// The pointer.
        pointer: String,
        /// The value of `$schema`.
        uri: String,
    },
    /// A reference leads to another document, and none is ever fetched.
    #[error(
        "the schema refers to another document at `{pointer}`: `{reference}` is never fetched; copy it into `$defs`"
    )]
    RemoteReference {
        /// The pointer.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference has no target, or its target is no schema.
    #[error("the schema refers to `{reference}` at `{pointer}`, which is not a schema in this document")]
    DanglingReference {
        /// The pointer.
        pointer: String,
        /// The reference.
        reference: String,
    },
    /// A reference is cyclic without descending into the value.
    #[error("the schema refers to itself for the same value at `{pointer}`")]
    EndlessReference {
        /// Where the cycle was found.
        pointer: String,
    },
    /// A pattern that the linear-time engine does not support (look-around, back references) or that is too big.
    #[error(
        "the schema has the pattern `{pattern}` at `{pointer}`, which cannot be matched in linear time; write it without look-around, back references and large counts"
    )]
    Pattern {
        /// The pointer.
        pointer: String,
        /// The pattern, shortened.
        pattern: String,
    },
    /// The schema exceeds a size limit.
    #[error("the schema has more than {limit} {what}")]
    TooBig {
        /// What is limited.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The schema is well-formed but does not compile.
    #[error("the schema could not be compiled: {reason}")]
    Compile {
        /// The compiler's message, shortened.
        reason: String,
    },
    /// The check exceeded its budget of steps.
    #[error("the schema needs too many steps to check these arguments; pass a flatter value")]
    TooMuchWork,
}
