//! What a shell is told, in its own language.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::interpreter::Interpreter;

/// What bash does all its life: it reads a message from the line, up to a zero byte, and does what it says. Given its
/// script on standard input instead, it damages its own memory after commands that end within quotes.
pub(super) const BASH_LOOP: &str =
    "while IFS= TMOUT= read -r -d '' __toolroom; do eval \"$__toolroom\"; done";

/// Gives the words that we use their own meaning again, whatever functions a command has made, and keeps its code. An
/// assignment is no command, so no function is in its way; it makes bash keep to the standard, by which `trap`, `unset`
/// and `set` are found before any function. Traps go first, as they would run in between.
const BASH_OWN_WORDS: &str = "__toolroom=$? POSIXLY_CORRECT=; trap - DEBUG ERR RETURN; \
    unset -f command eval read set shopt trap unset; unset POSIXLY_CORRECT; \
    command shopt -u expand_aliases inherit_errexit";

/// One command, with a report behind it. Everything is read before any of it runs, so that nothing the command does to
/// the shell changes how the rest is read.
///
/// While the command runs, the line the script comes from is kept where no program can reach it, and the command has
/// an empty standard input. Its two streams are put back in place afterwards, should it have closed or moved them.
/// `8` and `9` hold them meanwhile, unseen by the command.
pub(super) fn told(
    interpreter: Interpreter,
    word: &str,
    command: &[u8],
    variables: &[(String, impl AsRef<OsStr>)],
) -> Vec<u8> {
    let mut script = match interpreter {
        // The message is nobody's business, and `break` and `continue` must not reach the loop around it.
        Interpreter::Bash => b"unset __toolroom; { { for _ in 1; do ".to_vec(),
        Interpreter::Sh => b"{ { ".to_vec(),
    };
    let mut tidy = String::new();
    for (name, value) in variables {
        script.extend_from_slice(name.as_bytes());
        script.push(b'=');
        script.extend(quoted(value.as_ref().as_bytes()));
        match interpreter {
            // In front of a command: for its time only.
            Interpreter::Bash => script.push(b' '),
            // Other shells keep what stands in front of `eval`.
            Interpreter::Sh => {
                script.extend_from_slice(format!("; export {name}; ").as_bytes());
                tidy.push_str(&format!("unset {name}; "));
            }
        }
    }
    script.extend_from_slice(match interpreter {
        Interpreter::Bash => b"eval ",
        // What cannot be read would end such a shell otherwise.
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

/// One word, whatever is in it.
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
