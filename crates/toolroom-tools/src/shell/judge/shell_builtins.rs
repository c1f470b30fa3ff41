//! What a shell does itself that changes how everything after it is read.

use super::call::Call;
use super::finding::Finding;
use super::started_by::valued;
use super::value::{UNKNOWN, Value};
use super::variables;

/// What bash does itself. Whoever redefines one of these changes what everything after it means, and what a lasting
/// shell says of itself.
const BUILTINS: &str = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs \
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local \
    logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend \
    test times trap true type typeset ulimit umask unalias unset wait";

/// Whether a name is that of a builtin.
pub(super) fn is_one(name: &str) -> bool {
    BUILTINS.split(' ').any(|builtin| builtin == name)
}

/// What speaks against a builtin.
pub(super) fn findings(call: &Call) -> Vec<Finding> {
    let name = call.name();
    let why = match name {
        "eval" => "runs a text as commands",
        "source" | "." if activated(call).is_some() => return Vec::new(),
        "source" | "." => "runs a file in the shell itself",
        "alias" | "unalias" => "changes what names of commands mean",
        "shopt" | "enable" | "bind" | "complete" | "compopt" | "emulate" | "zmodload" | "setopt"
        | "unsetopt" | "autoload" => "changes how the shell reads commands",
        "compgen" if call.has_option("CFW", &[]) => "runs a command",
        "hash" if call.has_option("p", &[]) => "changes which program a name means",
        "trap" => "runs a command later",
        "exec" => "replaces the shell, or its input and output",
        "mapfile" | "readarray" if call.has_option("C", &[]) => "runs a command for each line",
        "declare" | "typeset" | "local" if call.has_option("n", &[]) => "makes a name mean another variable",
        "set" if changes_reading(call) => "changes how the shell reads commands",
        "fc" => "runs a command of the history again",
        "suspend" | "logout" => "stops the shell",
        "builtin" | "command" => return Vec::new(),
        "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "read" | "mapfile"
        | "readarray" | "getopts" | "let" | "wait" => {
            return names(call);
        }
        "printf" if call.has_option("v", &[]) => return printed_to(call),
        _ => return Vec::new(),
    };
    vec![Finding::touch(why)]
}

/// The script of a Python environment in the project, which only sets variables of the shell.
pub(super) fn activated(call: &Call) -> Option<&Value> {
    match call.arguments() {
        [file] if matches!(call.name(), "source" | ".") => {
            let path = file.known()?.trim_start_matches("./");
            let is_activation =
                matches!(path, ".venv/bin/activate" | "venv/bin/activate" | "env/bin/activate");
            is_activation.then_some(file)
        }
        _ => None,
    }
}

/// `printf -v` names one variable.
fn printed_to(call: &Call) -> Vec<Finding> {
    let mut findings = names(call);
    let name = valued(call, "v", &[]).into_iter().next();
    if name.is_none_or(|name| name.known().is_none()) {
        findings.push(Finding::touch(UNKNOWN_NAMES));
    }
    findings
}

const UNKNOWN_NAMES: &str = "sets variables whose names are not known before";

/// Builtins that set variables by name.
fn names(call: &Call) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = call.name();
    for value in call.arguments() {
        if name == "let" {
            findings.extend(variables::named_in(&value.text));
            continue;
        }
        let text = value.text.as_str();
        // A value may be joined to the last option of a cluster.
        let joined = text
            .strip_prefix('-')
            .map_or("", |cluster| cluster.trim_start_matches(|sign: char| sign.is_ascii_lowercase()));
        findings
            .extend([text, joined].into_iter().find_map(|text| variables::judged(variables::assigned(text))));
        let (variable, assigned) = text.split_once('=').unwrap_or((text, ""));
        findings.extend(variables::judged_value(variable, assigned));
        if variables::is_command(variable) && assigned.contains(' ') {
            findings.push(Finding::opaque("a command that others run later"));
        }
        if assigned.starts_with('(') && assigned.contains(['$', '`']) {
            findings.push(Finding::opaque("a list in a text, whose commands would run"));
        }
        let is_unknown = value.may_be_option() && value.known().is_none() || variable.contains(UNKNOWN);
        if is_unknown && !matches!(name, "printf" | "wait") {
            findings.push(Finding::touch(UNKNOWN_NAMES));
        }
    }
    findings
}

/// Whether an option of `set -o` changes nothing about reading.
pub(super) fn leaves_reading_alone(option: &str) -> bool {
    ["pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "errtrace"].contains(&option)
}

/// Only the options of everyday scripts are known to leave reading alone.
fn changes_reading(call: &Call) -> bool {
    let mut is_value = false;
    for value in call.arguments() {
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
