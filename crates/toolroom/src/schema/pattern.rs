//! Patterns run in linear time: which engine, within which limits, and does it take a given pattern.

use jsonschema::{Draft, PatternOptions, Regex};
use serde_json::json;

/// Bytes of one compiled pattern. `^.{1,500}$` fits; a hostile schema with the largest number of patterns
/// stays below a hundred megabytes.
const COMPILED_BYTES: usize = 1 << 20;

/// Bytes of the transition cache that each pattern keeps for each thread which runs it.
const CACHE_BYTES: usize = 1 << 18;

/// The engine of every schema: no look-around, no back references, no backtracking.
pub(super) fn engine() -> PatternOptions<Regex> {
    PatternOptions::regex().size_limit(COMPILED_BYTES).dfa_size_limit(CACHE_BYTES)
}

/// Whether the engine takes `pattern`, asked of the very compiler that will get it: JSON Schema patterns are
/// ECMA 262 and are translated on the way.
pub(super) fn compiles(pattern: &str, draft: Draft) -> bool {
    jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(engine())
        .build(&json!({ "pattern": pattern, "patternProperties": { pattern: {} } }))
        .is_ok()
}
