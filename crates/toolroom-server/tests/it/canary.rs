//! A value that must be nowhere, in none of the forms in which it could hide.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::home::Ran;

/// A secret that is looked for.
pub(crate) struct Canary {
    pub(crate) value: String,
    forms: Vec<Vec<u8>>,
}

impl Canary {
    /// One that nothing else resembles.
    pub(crate) fn new(name: &str) -> Self {
        let value = format!("cAnary?{name}~>>4711-zq");
        let mut forms =
            vec![value.clone().into_bytes(), value.chars().rev().collect::<String>().into_bytes()];
        forms.push(hex::encode(&value).into_bytes());
        forms.push(hex::encode_upper(&value).into_bytes());
        // Base64 looks different at each of three positions; what its neighbours reach into is cut off.
        for shift in 0..3 {
            let shifted = [&vec![b' '; shift], value.as_bytes()].concat();
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let text = engine.encode(&shifted).into_bytes();
                forms.push(text[4..text.len() - 4].to_vec());
            }
        }
        Self { value, forms }
    }

    fn is_in(&self, content: &[u8]) -> bool {
        self.forms.iter().any(|form| content.windows(form.len()).any(|window| window == form))
    }

    /// Where a text holds it, and what stands around it there.
    pub(crate) fn seen_in(&self, place: &str, text: &[u8]) -> Option<String> {
        let find = |form: &Vec<u8>| text.windows(form.len()).position(|window| window == form);
        let at = self.forms.iter().find_map(find)?;
        let around = &text[at.saturating_sub(100)..text.len().min(at + 100)];
        Some(format!("{place}: {}", String::from_utf8_lossy(around).escape_debug()))
    }

    /// Fails if a command told it.
    #[track_caller]
    pub(crate) fn is_not_told(&self, ran: &Ran) {
        let told = self.is_in(ran.out.as_bytes()) || self.is_in(ran.err.as_bytes());
        assert!(!told, "{ran:?}");
    }

    /// Fails if a text holds it.
    #[track_caller]
    pub(crate) fn is_not_in(&self, text: &str) {
        assert!(!self.is_in(text.as_bytes()), "{} is in {text}", self.value);
    }

    /// Fails if a file below a folder holds it. Gives the number of files that were read.
    #[track_caller]
    pub(crate) fn is_not_below(&self, folder: &Path) -> usize {
        let files = files_below(folder);
        for file in &files {
            assert!(!self.is_in(&std::fs::read(file).unwrap()), "{}", file.display());
        }
        files.len()
    }
}

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn it_would_be_found() {
    let canary = Canary::new("found");
    for form in [
        canary.value.clone(),
        hex::encode(&canary.value),
        STANDARD_NO_PAD.encode(format!("x{}y", canary.value)),
        URL_SAFE_NO_PAD.encode(format!("xy{}", canary.value)),
    ] {
        assert!(canary.is_in(format!("before {form} after").as_bytes()), "{form}");
    }
    assert!(!canary.is_in(b"cAnary?other~>>4711-zq"));
}
