//! A fuzz target is run over the files of its corpus and mutations of them, the same ones on every run.

use std::path::Path;

use crate::scale::scaled;

/// Mutations of each corpus file in `make test`.
const MUTATIONS: u32 = 300;

/// Runs a target over `tests/corpus/<target>` of the crate.
pub(crate) fn fuzz(target: &str, run: impl Fn(&str)) {
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
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
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
