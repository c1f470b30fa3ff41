//! Judges whether a command line may run, by its syntax tree.
//!
//! [`judge`] takes a shell command line, [`judge_argv`] a program with its arguments. Every simple command counts: those
//! in substitutions, here-documents and functions, and those started by wrappers like `env`, `xargs` or `bash -c`.
//! A command that cannot be analysed is never taken for harmless.
//!
//! The judge decides when to ask. What a program can do is enforced by the sandbox around it.

mod allowlist;
mod awk;
mod danger;
mod destinations;
mod file_modes;
mod git;
mod interpreters;
mod invocation;
mod launch_options;
mod launchers;
mod make;
mod npx;
mod path_parts;
mod paths;
mod reading_commands;
mod report;
mod risk;
mod risky_options;
mod risky_programs;
mod script;
mod sed;
mod settings;
mod shell_builtins;
mod started_programs;
mod stdin;
mod tar;
mod value;
mod variables;
mod walk;
mod words;
mod working_folder;
mod wrappers;

pub use allowlist::{AllowlistEntry, AllowlistEntryError};
pub use report::{CommandVerdict, PlannedCommand, Reason};
pub use settings::{JudgeSettings, Security};

use super::grammar::{Position, parse, print};
use report::{Concern, ConcernLevel};
use walk::ScriptWalker;

/// Judges a shell command line. [`CommandVerdict::printed`] is what may run, not the line itself.
#[must_use]
pub fn judge(text: &str, settings: &JudgeSettings) -> CommandVerdict {
    judge_with(text, &[], settings)
}

/// Judges a shell command line with environment variables, as if they were assigned in front of it.
#[must_use]
pub fn judge_with(text: &str, variables: &[(&str, &str)], settings: &JudgeSettings) -> CommandVerdict {
    let mut walk = ScriptWalker::new(settings);
    walk.given(variables);
    match parse(text) {
        Ok(script) => {
            walk.whole(&script);
            walk.finish(Some(print(&script)))
        }
        Err(error) => {
            let why = format!("it is not understood: {}", error.why);
            walk.tell(Concern::new(ConcernLevel::Opaque, why), text, Position(error.at));
            walk.finish(None)
        }
    }
}

/// Judges a program with its arguments, without a shell.
#[must_use]
pub fn judge_argv(program: &str, arguments: &[String], settings: &JudgeSettings) -> CommandVerdict {
    let mut walk = ScriptWalker::new(settings);
    walk.argv(program, arguments);
    walk.finish(None)
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
