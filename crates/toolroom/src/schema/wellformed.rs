//! Validates a schema in one walk by the table of keywords.
//!
//! Much cheaper than validation against the meta-schema, which is left to the first use. Schemas with features the table
//! does not decide (identifiers, anchors, old drafts) are marked for immediate compilation, so that every accepted schema
//! compiles later.

use jsonschema::{Draft, Uri};
use serde_json::{Map, Value};

use super::error::SchemaError;
use super::keyword::{Shape, draft_named, draft_of_root, shape};
use super::pointer::push_step;
use super::text;

/// Nesting of subschemas.
const MAX_NESTING: usize = 64;

/// JSON values in a schema.
const MAX_NODES: usize = 10_000;

/// Bytes of all strings and names in a schema.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// Patterns in a schema: each may take a megabyte when it is compiled.
const MAX_PATTERNS: usize = 64;

/// Base of references in a schema without `$id`, as in the compiler. Its scheme is never fetched.
const NO_BASE: &str = "json-schema:///";

/// The parts of a schema, in the order of the walk.
pub(super) struct Survey<'s> {
    pub(super) draft: Draft,
    /// Every schema that is an object.
    pub(super) schemas: Vec<&'s Map<String, Value>>,
    pub(super) references: Vec<SchemaReference<'s>>,
    pub(super) patterns: Vec<SchemaPattern<'s>>,
    /// The document itself first, then every part with an `$id`.
    pub(super) resources: Vec<Resource<'s>>,
    pub(super) anchors: Vec<SchemaAnchor<'s>>,
    /// The schema has features that only the compiler can check.
    pub(super) compile_now: bool,
}

/// A reference in the schema.
pub(super) struct SchemaReference<'s> {
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

/// A pattern in the schema.
pub(super) struct SchemaPattern<'s> {
    pub(super) pointer: String,
    /// Bytes of the pointer up to where the walk began.
    pub(super) start: usize,
    pub(super) text: &'s str,
    pub(super) draft: Draft,
    /// A key of `patternProperties`, not the value of `pattern`.
    pub(super) is_key: bool,
}

/// A part of the document with a URI of its own.
pub(super) struct Resource<'s> {
    pub(super) uri: Uri<String>,
    pub(super) root: &'s Value,
    pub(super) pointer: String,
}

/// An anchor that references can name.
pub(super) struct SchemaAnchor<'s> {
    pub(super) name: &'s str,
    pub(super) resource: usize,
    pub(super) schema: &'s Value,
    pub(super) pointer: String,
    pub(super) dynamic: bool,
}

/// A walk and its result so far.
pub(super) struct Walk<'s> {
    pub(super) found: Survey<'s>,
    nodes: usize,
    text_bytes: usize,
    /// Where the walk began; empty for the document itself.
    start: String,
    path: Vec<Step<'s>>,
    /// The resource that the walk is in.
    resource: usize,
}

#[derive(Clone, Copy)]
enum Step<'s> {
    Name(&'s str),
    Index(usize),
}

/// Walks the schema of a tool's parameters.
pub(super) fn walk(root: &Value) -> Result<Walk<'_>, SchemaError> {
    describes_object(root)?;
    let draft = draft_of_root(root)?;
    let uri = jsonschema::uri::from_str(NO_BASE).map_err(|error| uncompiled(&error))?;
    let found = Survey {
        draft,
        schemas: Vec::new(),
        references: Vec::new(),
        patterns: Vec::new(),
        resources: vec![Resource { uri, root, pointer: String::new() }],
        anchors: Vec::new(),
        compile_now: matches!(draft, Draft::Draft4 | Draft::Draft6),
    };
    let mut walk =
        Walk { found, nodes: 0, text_bytes: 0, start: String::new(), path: Vec::new(), resource: 0 };
    walk.schema(root, draft, 0)?;
    Ok(walk)
}

/// Arguments are an object, so the schema must allow objects only.
fn describes_object(root: &Value) -> Result<(), SchemaError> {
    let found = match (root, root.get("type")) {
        (Value::Object(_), None) => return Ok(()),
        (Value::Object(_), Some(Value::String(kind))) if kind == "object" => return Ok(()),
        (Value::Object(_), Some(kind)) => format!("the type {}", text::preview(kind)),
        (other, _) => text::given(other),
    };
    Err(SchemaError::NotAnObject { found })
}

fn uncompiled(error: &dyn std::error::Error) -> SchemaError {
    SchemaError::Compile { reason: text::shortened(&error.to_string()) }
}

impl<'s> Walk<'s> {
    /// Walks a value that is a schema only because a reference leads to it.
    pub(super) fn referenced_schema(
        &mut self,
        schema: &'s Value,
        pointer: String,
        resource: usize,
        draft: Draft,
    ) -> Result<(), SchemaError> {
        self.start = pointer;
        self.resource = resource;
        self.schema(schema, draft, 0)
    }

    fn pointer(&self) -> String {
        let mut pointer = self.start.clone();
        for step in &self.path {
            match step {
                Step::Name(name) => push_step(&mut pointer, name),
                Step::Index(index) => push_step(&mut pointer, &index.to_string()),
            }
        }
        pointer
    }

    fn malformed(&self, found: &Value, allowed: &'static str) -> SchemaError {
        let pointer = text::shown_path(&self.pointer());
        SchemaError::Malformed { pointer, found: text::given(found), allowed }
    }

    fn within<T>(
        &mut self,
        step: Step<'s>,
        visit: impl FnOnce(&mut Self) -> Result<T, SchemaError>,
    ) -> Result<T, SchemaError> {
        self.path.push(step);
        let visited = visit(self)?;
        self.path.pop();
        Ok(visited)
    }

    fn count(&mut self, text: &str) -> Result<(), SchemaError> {
        self.nodes += 1;
        self.text_bytes += text.len();
        if self.nodes > MAX_NODES {
            return Err(SchemaError::TooBig { what: "values", limit: MAX_NODES });
        }
        if self.text_bytes > MAX_TEXT_BYTES {
            return Err(SchemaError::TooBig { what: "bytes of text", limit: MAX_TEXT_BYTES });
        }
        Ok(())
    }

    fn schema(&mut self, schema: &'s Value, around: Draft, nesting: usize) -> Result<(), SchemaError> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(_) => return self.count(""),
            other => return Err(self.malformed(other, "a schema: an object or a boolean")),
        };
        if nesting > MAX_NESTING {
            return Err(SchemaError::TooBig { what: "levels of nesting", limit: MAX_NESTING });
        }
        let (mut draft, outer) = (around, self.resource);
        if keywords.keys().any(|keyword| keyword.starts_with('$') || keyword == "id") {
            draft = self.draft_of(schema, keywords, around, nesting)?;
            self.enter_resource(schema, keywords, draft, nesting)?;
        }
        self.found.schemas.push(keywords);
        for (keyword, value) in keywords {
            self.count(keyword)?;
            self.path.push(Step::Name(keyword));
            self.keyword(schema, keywords, shape(keyword, draft), value, draft, nesting)?;
            self.path.pop();
        }
        self.resource = outer;
        Ok(())
    }

    /// Only a part with an identifier of its own may change the draft.
    fn draft_of(
        &mut self,
        schema: &'s Value,
        keywords: &Map<String, Value>,
        around: Draft,
        nesting: usize,
    ) -> Result<Draft, SchemaError> {
        if nesting == 0 || !keywords.contains_key("$schema") {
            return Ok(around);
        }
        self.found.compile_now = true;
        let draft = draft_named(schema, around, || text::shown_path(&format!("{}/$schema", self.pointer())))?;
        Ok(if keywords.contains_key("$id") || keywords.contains_key("id") { draft } else { around })
    }

    fn enter_resource(
        &mut self,
        schema: &'s Value,
        keywords: &'s Map<String, Value>,
        draft: Draft,
        nesting: usize,
    ) -> Result<(), SchemaError> {
        let Some(id) = keywords.get(draft.id_keyword()).and_then(Value::as_str) else { return Ok(()) };
        self.found.compile_now = true;
        let legacy = matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        if legacy && keywords.contains_key("$ref") {
            return Ok(());
        }
        let (uri, name) = id.split_once('#').unwrap_or((id, ""));
        if legacy && uri.is_empty() && !name.is_empty() {
            self.anchor(schema, name, false);
            return Ok(());
        }
        let Some(base) = self.found.resources.get(self.resource) else { return Ok(()) };
        let Ok(uri) = jsonschema::uri::resolve_against(&base.uri.borrow(), uri) else {
            let found = Value::String(id.to_owned());
            return Err(self.malformed(&found, "a URI reference as identifier"));
        };
        let pointer = self.pointer();
        if nesting == 0 && pointer.is_empty() {
            self.found.resources.clear();
        }
        self.resource = self.found.resources.len();
        self.found.resources.push(Resource { uri, root: schema, pointer });
        Ok(())
    }

    fn anchor(&mut self, schema: &'s Value, name: &'s str, dynamic: bool) {
        let (resource, pointer) = (self.resource, self.pointer());
        self.found.anchors.push(SchemaAnchor { name, resource, schema, pointer, dynamic });
    }

    fn keyword(
        &mut self,
        schema: &'s Value,
        holder: &'s Map<String, Value>,
        shape: Shape,
        value: &'s Value,
        draft: Draft,
        nesting: usize,
    ) -> Result<(), SchemaError> {
        match (shape, value) {
            (Shape::Text | Shape::Dialect | Shape::Identifier, Value::String(text)) => self.count(text),
            (Shape::Types, _) => self.types(value),
            (Shape::Schema, _) => self.schema(value, draft, nesting + 1),
            (Shape::SchemaOrList, Value::Object(_) | Value::Bool(_)) => {
                self.schema(value, draft, nesting + 1)
            }
            (Shape::SchemaList | Shape::SchemaOrList, Value::Array(items)) if !items.is_empty() => {
                self.list(items, |walk, item| walk.schema(item, draft, nesting + 1))
            }
            (Shape::SchemaMap, Value::Object(map)) => {
                self.map(map, |walk, _, item| walk.schema(item, draft, nesting + 1))
            }
            (Shape::PatternMap, Value::Object(map)) => self.map(map, |walk, pattern, item| {
                walk.pattern(pattern, draft, true)?;
                walk.schema(item, draft, nesting + 1)
            }),
            (Shape::Dependencies, Value::Object(map)) => self.map(map, |walk, _, item| match item {
                Value::Array(names) => walk.distinct_texts(names),
                other => walk.schema(other, draft, nesting + 1),
            }),
            (Shape::TextListMap, Value::Object(map)) => self.map(map, |walk, _, item| match item {
                Value::Array(names) => walk.distinct_texts(names),
                other => Err(walk.malformed(other, "an array of different texts")),
            }),
            (Shape::TextList, Value::Array(names)) => self.distinct_texts(names),
            (Shape::Pattern, Value::String(pattern)) => {
                self.count(pattern)?;
                self.pattern(pattern, draft, false)
            }
            (Shape::Reference | Shape::DynamicReference, Value::String(text)) => {
                self.count(text)?;
                let dynamic = shape == Shape::DynamicReference;
                let (pointer, start, resource) = (self.pointer(), self.start.len(), self.resource);
                self.found.references.push(SchemaReference {
                    holder,
                    pointer,
                    start,
                    text,
                    resource,
                    draft,
                    dynamic,
                });
                Ok(())
            }
            (Shape::Anchor, Value::String(name)) => {
                self.found.compile_now = true;
                // The anchor names the schema, so its pointer is the one without this keyword.
                let keyword = self.path.pop();
                self.anchor(schema, name, holder.get("$dynamicAnchor") == Some(value));
                self.path.extend(keyword);
                self.count(name)
            }
            (Shape::Rare, _) => {
                self.found.compile_now = true;
                self.data(value, nesting)
            }
            (Shape::Boolean, Value::Bool(_)) | (Shape::Number, Value::Number(_)) => self.count(""),
            (Shape::PositiveNumber, Value::Number(number)) if number.as_f64().is_some_and(|n| n > 0.0) => {
                self.count("")
            }
            (Shape::NonNegativeInteger, Value::Number(number)) if counts(number) => self.count(""),
            (Shape::DataList, Value::Array(_)) | (Shape::Data | Shape::Unknown, _) => {
                self.data(value, nesting)
            }
            (wrong, _) => Err(self.malformed(value, wrong.allowed())),
        }
    }

    fn types(&mut self, value: &'s Value) -> Result<(), SchemaError> {
        let known = |value: &Value| {
            matches!(
                value.as_str(),
                Some("string" | "object" | "integer" | "number" | "boolean" | "array" | "null")
            )
        };
        self.count("")?;
        match value {
            Value::String(_) if known(value) => Ok(()),
            Value::Array(names)
                if !names.is_empty() && names.iter().all(known) && names.len() <= 7 && all_differ(names) =>
            {
                Ok(())
            }
            other => Err(self.malformed(other, Shape::Types.allowed())),
        }
    }

    fn pattern(&mut self, text: &'s str, draft: Draft, is_key: bool) -> Result<(), SchemaError> {
        if self.found.patterns.len() >= MAX_PATTERNS {
            return Err(SchemaError::TooBig { what: "patterns", limit: MAX_PATTERNS });
        }
        let (pointer, start) = (self.pointer(), self.start.len());
        self.found.patterns.push(SchemaPattern { pointer, start, text, draft, is_key });
        Ok(())
    }

    fn distinct_texts(&mut self, names: &'s [Value]) -> Result<(), SchemaError> {
        self.list(names, |walk, name| match name {
            Value::String(text) => walk.count(text),
            other => Err(walk.malformed(other, "a text")),
        })?;
        if all_differ(names) {
            return Ok(());
        }
        let pointer = text::shown_path(&self.pointer());
        let found = "the same text twice".to_owned();
        Err(SchemaError::Malformed { pointer, found, allowed: "an array of different texts" })
    }

    fn list(
        &mut self,
        items: &'s [Value],
        mut visit: impl FnMut(&mut Self, &'s Value) -> Result<(), SchemaError>,
    ) -> Result<(), SchemaError> {
        for (index, item) in items.iter().enumerate() {
            self.within(Step::Index(index), |walk| visit(walk, item))?;
        }
        Ok(())
    }

    fn map(
        &mut self,
        map: &'s Map<String, Value>,
        mut visit: impl FnMut(&mut Self, &'s str, &'s Value) -> Result<(), SchemaError>,
    ) -> Result<(), SchemaError> {
        for (name, item) in map {
            self.count(name)?;
            self.within(Step::Name(name), |walk| visit(walk, name, item))?;
        }
        Ok(())
    }

    /// Counts data such as `enum` values toward the bounds.
    fn data(&mut self, value: &'s Value, nesting: usize) -> Result<(), SchemaError> {
        if nesting > MAX_NESTING {
            return Err(SchemaError::TooBig { what: "levels of nesting", limit: MAX_NESTING });
        }
        match value {
            Value::String(text) => self.count(text),
            Value::Array(items) => items.iter().try_for_each(|item| self.data(item, nesting + 1)),
            Value::Object(map) => map.iter().try_for_each(|(name, item)| {
                self.count(name)?;
                self.data(item, nesting + 1)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.count(""),
        }
    }
}

fn all_differ(values: &[Value]) -> bool {
    // Hashing pays only for long lists.
    const SHORT: usize = 16;
    if values.len() <= SHORT {
        return values
            .iter()
            .enumerate()
            .all(|(index, value)| !values.iter().take(index).any(|v| v == value));
    }
    let mut seen = std::collections::HashSet::with_capacity(values.len());
    values.iter().all(|value| seen.insert(value.as_str()))
}

/// `2.0` counts like `2`.
fn counts(number: &serde_json::Number) -> bool {
    number.is_u64() || number.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0)
}
