//! Resolves references. A schema with a reference to another document is rejected.

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::error::SchemaError;
use super::pointer::{PointerTarget, percent_decoded, read_pointer};
use super::text;
use super::wellformed::{SchemaReference, Survey, Walk};

/// Meta-schemas, which are built into the compiler.
const BUILT_IN: [&str; 2] = ["https://json-schema.org/", "http://json-schema.org/"];

/// A reference and one of its possible targets.
pub(super) struct ReferenceLink<'s> {
    pub(super) holder: &'s Map<String, Value>,
    /// The pointer of the reference itself.
    pub(super) pointer: String,
    /// Bytes of that pointer up to where the walk began.
    pub(super) start: usize,
    pub(super) target: &'s Value,
    pub(super) target_pointer: String,
}

struct Target<'s> {
    schema: &'s Value,
    pointer: String,
    resource: usize,
    is_unknown: bool,
}

/// Resolves every reference, and walks targets that are schemas only because of the reference.
pub(super) fn links<'s>(walk: &mut Walk<'s>) -> Result<Vec<ReferenceLink<'s>>, SchemaError> {
    let mut links: Vec<ReferenceLink<'s>> = Vec::new();
    let mut done = 0;
    while let Some(place) = walk.found.references.get(done) {
        done += 1;
        if !is_plain_pointer(place.text) {
            walk.found.compile_now = true;
        }
        let (holder, pointer, start, draft) = (place.holder, place.pointer.clone(), place.start, place.draft);
        for target in targets(&walk.found, place)? {
            let Target { schema, pointer: target_pointer, resource, is_unknown } = target;
            if is_unknown && !links.iter().any(|link| link.target_pointer == target_pointer) {
                walk.referenced_schema(schema, target_pointer.clone(), resource, draft)?;
            }
            links.push(ReferenceLink {
                holder,
                pointer: pointer.clone(),
                start,
                target: schema,
                target_pointer,
            });
        }
    }
    Ok(links)
}

/// `#` or `#/...` with valid fragment characters; the compiler checks everything else.
fn is_plain_pointer(reference: &str) -> bool {
    let Some(fragment) = reference.strip_prefix('#') else { return false };
    (fragment.is_empty() || fragment.starts_with('/'))
        && fragment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte))
}

fn targets<'s>(survey: &Survey<'s>, place: &SchemaReference<'s>) -> Result<Vec<Target<'s>>, SchemaError> {
    let (uri, fragment) = place.text.split_once('#').unwrap_or((place.text, ""));
    let Some(resource) = resource_of(survey, place, uri)? else { return Ok(Vec::new()) };
    let Some(fragment) = percent_decoded(fragment) else { return Err(dangling(place)) };
    if place.draft == Draft::Draft201909 && place.dynamic {
        return Ok(recursive(survey, resource));
    }
    if fragment.is_empty() || fragment.starts_with('/') {
        return at_pointer(survey, place, resource, &fragment).map(|target| vec![target]);
    }
    let same_resource = |index: usize| {
        let uri = |index: usize| survey.resources.get(index).map(|resource| resource.uri.as_str());
        index == resource || uri(index) == uri(resource)
    };
    let found: Vec<Target<'s>> = survey
        .anchors
        .iter()
        .filter(|anchor| anchor.name == fragment)
        .filter(|anchor| same_resource(anchor.resource) || (place.dynamic && anchor.dynamic))
        .map(|anchor| Target {
            schema: anchor.schema,
            pointer: anchor.pointer.clone(),
            resource: anchor.resource,
            is_unknown: false,
        })
        .collect();
    if found.is_empty() { Err(dangling(place)) } else { Ok(found) }
}

/// The resource that a reference without its fragment names; `None` for a meta-schema.
fn resource_of(
    survey: &Survey<'_>,
    place: &SchemaReference<'_>,
    uri: &str,
) -> Result<Option<usize>, SchemaError> {
    if uri.is_empty() {
        return Ok(Some(place.resource));
    }
    let base = survey.resources.get(place.resource).ok_or_else(|| dangling(place))?;
    let uri = jsonschema::uri::resolve_against(&base.uri.borrow(), uri).map_err(|_| dangling(place))?;
    match survey.resources.iter().position(|resource| resource.uri == uri) {
        Some(resource) => Ok(Some(resource)),
        None if BUILT_IN.iter().any(|prefix| uri.as_str().starts_with(prefix)) => Ok(None),
        None => Err(SchemaError::RemoteReference {
            pointer: text::shown_path(&place.pointer),
            reference: text::shortened(place.text),
        }),
    }
}

fn at_pointer<'s>(
    survey: &Survey<'s>,
    place: &SchemaReference<'s>,
    resource: usize,
    pointer: &str,
) -> Result<Target<'s>, SchemaError> {
    let root = survey.resources.get(resource).ok_or_else(|| dangling(place))?;
    let schema = root.root.pointer(pointer).ok_or_else(|| dangling(place))?;
    let (_, position) = read_pointer(pointer, place.draft);
    if position == PointerTarget::NoSchema || !(schema.is_object() || schema.is_boolean()) {
        return Err(dangling(place));
    }
    let pointer = format!("{}{pointer}", root.pointer);
    Ok(Target { schema, pointer, resource, is_unknown: position == PointerTarget::Unknown })
}

/// `$recursiveRef` may end at the root it names or at any root that says `$recursiveAnchor`.
fn recursive<'s>(survey: &Survey<'s>, named: usize) -> Vec<Target<'s>> {
    survey
        .resources
        .iter()
        .enumerate()
        .filter(|(index, resource)| {
            *index == named || resource.root.get("$recursiveAnchor") == Some(&Value::Bool(true))
        })
        .map(|(index, resource)| Target {
            schema: resource.root,
            pointer: resource.pointer.clone(),
            resource: index,
            is_unknown: false,
        })
        .collect()
}

fn dangling(place: &SchemaReference<'_>) -> SchemaError {
    SchemaError::DanglingReference {
        pointer: text::shown_path(&place.pointer),
        reference: text::shortened(place.text),
    }
}
