//! Whether a command line may run, decided on its tree.
//!
//! [`judge`] reads a line for a shell, [`judge_argv`] a program with its arguments. Every simple command counts:
//! those in substitutions, here-documents and functions, and those that a wrapper like `env`, `xargs` or `bash -c`
//! would start. What cannot be told from the text is never taken for harmless.
//!
//! This is a courtesy that knows when to ask. What a program can really do is decided by the sandbox around it.

mod allowlist;
mod awk;
mod call;
mod danger;
mod destinations;
mod feed;
mod finding;
mod folder;
mod git;
mod interpreters;
mod make;
mod npx;
mod path_parts;
mod paths;
mod reading_commands;
mod report;
mod rights;
mod risk;
mod risky_options;
mod risky_programs;
mod script;
mod sed;
mod settings;
mod shell_builtins;
mod started_by;
mod starting_options;
mod tar;
mod unwrap;
mod value;
mod variables;
mod walk;
mod words;
mod wrappers;

pub use allowlist::{Entry, EntryError};
pub use report::{Judged, Reason, Run};
pub use settings::{Security, Settings};

use super::grammar::{Place, parse, print};
use finding::{Finding, Weight};
use walk::Walk;

/// Judges a line for a shell. What may run is [`Judged::printed`], not the line itself.
#[must_use]
pub fn judge(text: &str, settings: &Settings) -> Judged {
    judge_with(text, &[], settings)
}

/// Judges a line for a shell that is given these variables, which count as if they stood in front of it.
#[must_use]
pub fn judge_with(text: &str, variables: &[(&str, &str)], settings: &Settings) -> Judged {
    let mut walk = Walk::new(settings);
    walk.given(variables);
    match parse(text) {
        Ok(script) => {
            walk.whole(&script);
            walk.finish(Some(print(&script)))
        }
        Err(error) => {
            let why = format!("it is not understood: {}", error.why);
            walk.tell(Finding::new(Weight::Opaque, why), text, Place(error.at));
            walk.finish(None)
        }
    }
}

/// Judges one program with its arguments, which no shell reads.
#[must_use]
pub fn judge_argv(program: &str, arguments: &[String], settings: &Settings) -> Judged {
    let mut walk = Walk::new(settings);
    walk.argv(program, arguments);
    walk.finish(None)
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
