//! Builtins that change how the shell reads what follows.

use super::invocation::Invocation;
use super::launchers::valued;
use super::report::Concern;
use super::value::{UNKNOWN, Value};
use super::variables;

/// The builtins of bash. Redefining one changes the meaning of everything after it, and the reports of a session's
/// shell.
const BUILTINS: &str = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs \
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local \
    logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend \
    test times trap true type typeset ulimit umask unalias unset wait";

/// Whether a name is that of a builtin.
pub(super) fn is_one(name: &str) -> bool {
    BUILTINS.split(' ').any(|builtin| builtin == name)
}

/// Concerns about a builtin.
pub(super) fn concerns(invocation: &Invocation) -> Vec<Concern> {
    let name = invocation.name();
    let why = match name {
        "eval" => "runs a text as commands",
        "source" | "." if activated(invocation).is_some() => return Vec::new(),
        "source" | "." => "runs a file in the shell itself",
        "alias" | "unalias" => "changes what names of commands mean",
        "shopt" | "enable" | "bind" | "complete" | "compopt" | "emulate" | "zmodload" | "setopt"
        | "unsetopt" | "autoload" => "changes how the shell reads commands",
        "compgen" if invocation.has_option("CFW", &[]) => "runs a command",
        "hash" if invocation.has_option("p", &[]) => "changes which program a name means",
        "trap" => "runs a command later",
        "exec" => "replaces the shell, or its input and output",
        "mapfile" | "readarray" if invocation.has_option("C", &[]) => "runs a command for each line",
        "declare" | "typeset" | "local" if invocation.has_option("n", &[]) => {
            "makes a name mean another variable"
        }
        "set" if changes_reading(invocation) => "changes how the shell reads commands",
        "fc" => "runs a command of the history again",
        "suspend" | "logout" => "stops the shell",
        "builtin" | "command" => return Vec::new(),
        "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "read" | "mapfile"
        | "readarray" | "getopts" | "let" | "wait" => {
            return names(invocation);
        }
        "printf" if invocation.has_option("v", &[]) => return printed_to(invocation),
        _ => return Vec::new(),
    };
    vec![Concern::touch(why)]
}

/// The `activate` script of a Python environment in the project, which only sets shell variables.
pub(super) fn activated(invocation: &Invocation) -> Option<&Value> {
    match invocation.arguments() {
        [file] if matches!(invocation.name(), "source" | ".") => {
            let path = file.known()?.trim_start_matches("./");
            let is_activation =
                matches!(path, ".venv/bin/activate" | "venv/bin/activate" | "env/bin/activate");
            is_activation.then_some(file)
        }
        _ => None,
    }
}

/// The variable that `printf -v` sets.
fn printed_to(invocation: &Invocation) -> Vec<Concern> {
    let mut concerns = names(invocation);
    let name = valued(invocation, "v", &[]).into_iter().next();
    if name.is_none_or(|name| name.known().is_none()) {
        concerns.push(Concern::touch(UNKNOWN_NAMES));
    }
    concerns
}

const UNKNOWN_NAMES: &str = "sets variables whose names are not known in advance";

/// Builtins that set variables by name.
fn names(invocation: &Invocation) -> Vec<Concern> {
    let mut concerns = Vec::new();
    let name = invocation.name();
    for value in invocation.arguments() {
        if name == "let" {
            concerns.extend(variables::named_in(&value.text));
            continue;
        }
        let text = value.text.as_str();
        // The value may be joined to the last option of a cluster.
        let joined = text
            .strip_prefix('-')
            .map_or("", |cluster| cluster.trim_start_matches(|sign: char| sign.is_ascii_lowercase()));
        concerns
            .extend([text, joined].into_iter().find_map(|text| variables::judged(variables::assigned(text))));
        let (variable, assigned) = text.split_once('=').unwrap_or((text, ""));
        concerns.extend(variables::judged_value(variable, assigned));
        if variables::is_command(variable) && assigned.contains(' ') {
            concerns.push(Concern::opaque("a command that others run later"));
        }
        if assigned.starts_with('(') && assigned.contains(['$', '`']) {
            concerns.push(Concern::opaque("a list in a text, whose commands would run"));
        }
        let is_unknown = value.may_be_option() && value.known().is_none() || variable.contains(UNKNOWN);
        if is_unknown && !matches!(name, "printf" | "wait") {
            concerns.push(Concern::touch(UNKNOWN_NAMES));
        }
    }
    concerns
}

/// Whether an option of `set -o` does not change how the shell reads.
pub(super) fn leaves_reading_alone(option: &str) -> bool {
    ["pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "errtrace"].contains(&option)
}

/// Only the options of everyday scripts are known not to change how the shell reads.
fn changes_reading(invocation: &Invocation) -> bool {
    let mut is_value = false;
    for value in invocation.arguments() {
        let text = value.text.as_str();
        if text == "--" || text == "-" {
            return false;
        }
        if is_value {
            is_value = false;
            if !leaves_reading_alone(text) {
                return true;
            }
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else { return value.known().is_none() };
        is_value = letters.ends_with('o');
        if letters.contains(|letter: char| !"euxofCE".contains(letter)) {
            return true;
        }
    }
    false
}
