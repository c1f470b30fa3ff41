//! The scripts that control a shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::interpreter::Interpreter;

/// The main loop of bash: reads a message up to a zero byte from the socket and evaluates it. With a script on standard
/// input, bash corrupts its memory after commands that end within quotes.
pub(super) const BASH_LOOP: &str =
    "while IFS= TMOUT= read -r -d '' __toolroom; do eval \"$__toolroom\"; done";

/// Restores the builtins we use, even if a command has redefined them as functions, and keeps the exit code. An assignment
/// cannot be redefined; it enables POSIX mode, in which `trap`, `unset` and `set` take precedence over functions. Traps
/// are removed first, because they would run in between.
const BASH_OWN_WORDS: &str = "__toolroom=$? POSIXLY_CORRECT=; trap - DEBUG ERR RETURN; \
    unset -f command eval read set shopt trap unset; unset POSIXLY_CORRECT; \
    command shopt -u expand_aliases inherit_errexit";

/// One command, followed by a report. Everything is parsed before any of it runs, so that the command cannot change how
/// the rest is parsed.
///
/// While the command runs, the socket is kept where no program can reach it, and standard input is empty. The output
/// streams are restored afterwards, in case the command closed or moved them; descriptors `8` and `9` keep them, hidden
/// from the command.
pub(super) fn command_script(
    interpreter: Interpreter,
    word: &str,
    command: &[u8],
    variables: &[(String, impl AsRef<OsStr>)],
) -> Vec<u8> {
    let mut script = match interpreter {
        // The variable must not be inherited, and `break` and `continue` must not affect the surrounding loop.
        Interpreter::Bash => b"unset __toolroom; { { for _ in 1; do ".to_vec(),
        Interpreter::Sh => b"{ { ".to_vec(),
    };
    let mut tidy = String::new();
    for (name, value) in variables {
        script.extend_from_slice(name.as_bytes());
        script.push(b'=');
        script.extend(quoted(value.as_ref().as_bytes()));
        match interpreter {
            // A prefix assignment: valid for the command only.
            Interpreter::Bash => script.push(b' '),
            // Other shells keep assignments before `eval`.
            Interpreter::Sh => {
                script.extend_from_slice(format!("; export {name}; ").as_bytes());
                tidy.push_str(&format!("unset {name}; "));
            }
        }
    }
    script.extend_from_slice(match interpreter {
        Interpreter::Bash => b"eval ",
        // A syntax error would end such a shell.
        Interpreter::Sh => b"command eval ",
    });
    script.extend(quoted(command));
    let (end_of_loop, own_words, state, end) = match interpreter {
        Interpreter::Bash => ("; done", BASH_OWN_WORDS, "command declare -p; command declare -f", '\0'),
        Interpreter::Sh => ("", "__toolroom=$?; unset -f command", "command export -p", '\n'),
    };
    script.extend_from_slice(
        format!(
            " </dev/null 8>&- 9>&-{end_of_loop}; {{ {own_words}; set +euvx; command unalias -a; {tidy}\
             command printf '{word} %s\\n\\0' \"$__toolroom\"; unset __toolroom; command pwd -P; command printf '\\0umask '; command umask; {state}; \
             command printf '\\0%s\\0' {word}; }} 2>/dev/null >&0; }} >&8 2>&9; }} 8>&1 9>&2{end}"
        )
        .as_bytes(),
    );
    script
}

/// Quotes any bytes as one word.
pub(super) fn quoted(text: &[u8]) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in text {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}
