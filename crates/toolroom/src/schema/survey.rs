//! What a walk over a schema finds beside mistakes.

use jsonschema::{Draft, Uri};
use serde_json::{Map, Value};

/// The findings; places are in the order of the walk.
pub(super) struct Survey<'s> {
    pub(super) draft: Draft,
    /// Every schema that is an object.
    pub(super) schemas: Vec<&'s Map<String, Value>>,
    pub(super) references: Vec<ReferencePlace<'s>>,
    pub(super) patterns: Vec<PatternPlace<'s>>,
    /// The document itself first, then every part with an `$id`.
    pub(super) resources: Vec<Resource<'s>>,
    pub(super) anchors: Vec<AnchorPlace<'s>>,
    /// The schema uses what only the compiler can judge.
    pub(super) compile_now: bool,
}

/// A reference, wherever it may lead.
pub(super) struct ReferencePlace<'s> {
    /// The schema with the reference in it.
    pub(super) holder: &'s Map<String, Value>,
    pub(super) pointer: String,
    /// Bytes of the pointer up to where the walk began.
    pub(super) start: usize,
    pub(super) text: &'s str,
    pub(super) resource: usize,
    pub(super) draft: Draft,
    pub(super) dynamic: bool,
}

/// A pattern, whether or not it can be enforced.
pub(super) struct PatternPlace<'s> {
    pub(super) pointer: String,
    /// Bytes of the pointer up to where the walk began.
    pub(super) start: usize,
    pub(super) text: &'s str,
    pub(super) draft: Draft,
    /// A key of `patternProperties`, not the value of `pattern`.
    pub(super) is_key: bool,
}

/// A part of the document that references can name by a URI of its own.
pub(super) struct Resource<'s> {
    pub(super) uri: Uri<String>,
    pub(super) root: &'s Value,
    pub(super) pointer: String,
}

/// A schema that references can name by a word.
pub(super) struct AnchorPlace<'s> {
    pub(super) name: &'s str,
    pub(super) resource: usize,
    pub(super) schema: &'s Value,
    pub(super) pointer: String,
    pub(super) dynamic: bool,
}
