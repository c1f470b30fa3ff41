//! Fuzz targets: plain functions, replayed over the corpus and mutations of it. `make fuzz` runs many more.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};
use toolroom::catalog::WireNames;
use toolroom::expression::Expression;
use toolroom::schema::{PatternRule, Schema, parse_object};
use toolroom::tool::ToolId;

use crate::scale::scaled;

/// Mutations of each corpus file in `make test`.
const MUTATIONS: u32 = 300;

#[test]
fn expression() {
    fuzz("expression", |text| {
        if let Ok(expression) = Expression::parse(text) {
            // Any answer is fine; a panic, an endless loop or a stack overflow is not.
            drop(expression.evaluate(&json!({"args": {"x": 1, "list": [1, "a"]}})));
        }
    });
}

#[test]
fn argument_text() {
    fuzz("argument_text", |text| {
        if let Ok(arguments) = parse_object(text) {
            let written = Value::Object(arguments.clone()).to_string();
            assert_eq!(
                parse_object(&written).unwrap(),
                arguments,
                "what was read can be written and read again"
            );
        }
    });
}

#[test]
fn schema() {
    fuzz("schema", |text| {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        for patterns in [PatternRule::Refuse, PatternRule::Relax] {
            if let Ok(schema) = Schema::new(value.clone(), patterns) {
                for instance in [json!({}), json!({"a": [1, {"b": null}], "value": "x"}), value.clone()] {
                    drop(schema.check(&instance));
                }
            }
        }
    });
}

#[test]
fn names() {
    fuzz("names", |text| {
        let ids: HashSet<&str> = text.lines().collect();
        let names = WireNames::new(ids.iter().copied());
        let wires: HashSet<&str> = ids.iter().map(|id| names.wire(id).unwrap()).collect();
        assert_eq!(wires.len(), ids.len(), "two ids never share a wire name");
        for wire in wires {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!((1..=64).contains(&wire.len()) && wire.chars().all(allowed), "{wire}");
        }
        for id in ids {
            if let Ok(parsed) = ToolId::parse(id) {
                assert_eq!(parsed.as_str(), id);
                assert!(!parsed.bare().is_empty());
            }
        }
    });
}

fn fuzz(target: &str, run: impl Fn(&str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let corpus: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(!corpus.is_empty(), "no corpus in {}", folder.display());
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for sample in &corpus {
        run(&String::from_utf8_lossy(sample));
        for _ in 0..scaled(MUTATIONS) {
            let mutant = dice.mutate(sample, &corpus);
            run(&String::from_utf8_lossy(&mutant));
        }
    }
}

/// Bytes that mean something to one parser or another.
const TOKENS: &[u8] = b"\"'\\{}[]()<>=!&|+-*/%^.,:0179eE \n\xf0\x9f_";

/// A small generator: the same mutants on every run, so a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    fn mutate(&mut self, sample: &[u8], corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = sample.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let to = (at + self.below(12)).min(bytes.len());
            match self.below(6) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 => drop(bytes.drain(at..to)),
                2 => bytes.insert(at, TOKENS[self.below(TOKENS.len())]),
                3 => {
                    let piece = bytes[at..to].repeat(1 + self.below(40));
                    drop(bytes.splice(at..at, piece));
                }
                4 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len());
                    drop(bytes.splice(at..to, other[from..].iter().copied()));
                }
                _ => bytes.truncate(at),
            }
            // Mutants of mutants must not grow without end.
            bytes.truncate(20_000);
        }
        bytes
    }
}
