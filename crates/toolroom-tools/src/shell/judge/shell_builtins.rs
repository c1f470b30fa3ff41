//! What a shell does itself that changes how everything after it is read.

use super::call::Call;
use super::finding::Finding;
use super::variables;

/// What bash does itself. Whoever redefines one of these changes what everything after it means, and what a lasting
/// shell says of itself.
const BUILTINS: [&str; 61] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Whether a name is that of a builtin.
pub(super) fn is_one(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// What speaks against a builtin.
pub(super) fn findings(call: &Call) -> Vec<Finding> {
    let name = call.name();
    let why = match name {
        "eval" => "runs a text as commands",
        "source" | "." => "runs a file in the shell itself",
        "alias" | "unalias" => "changes what names of commands mean",
        "shopt" | "enable" | "bind" | "complete" | "compopt" | "emulate" | "zmodload" | "setopt"
        | "unsetopt" | "autoload" => "changes how the shell reads commands",
        "compgen" if call.has_option("CF", &[]) => "runs a command",
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
        | "readarray" | "getopts" | "let" => {
            return names(call);
        }
        "printf" if call.has_option("v", &[]) => return names(call),
        _ => return Vec::new(),
    };
    vec![Finding::touch(why)]
}

/// Builtins that set variables by name.
fn names(call: &Call) -> Vec<Finding> {
    let mut findings = Vec::new();
    for value in call.arguments() {
        // A value may be joined to its option.
        let joined = value.text.strip_prefix('-').and_then(|option| option.get(1..));
        let text = variables::assigned(joined.filter(|rest| !rest.is_empty()).unwrap_or(&value.text));
        findings.extend(variables::judged(text));
        let is_unknown = value.may_be_option() && value.known().is_none();
        if is_unknown
            && matches!(
                call.name(),
                "export" | "declare" | "typeset" | "read" | "readonly" | "local" | "unset"
            )
        {
            findings.push(Finding::touch("sets variables whose names are not known before"));
        }
    }
    findings
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
            if !matches!(
                text,
                "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob" | "noclobber" | "errtrace"
            ) {
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
