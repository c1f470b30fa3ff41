//! Variables that change what runs.

use super::finding::Finding;

const NAMES: [&str; 62] = [
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "CDPATH",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "PAGER",
    "MANPAGER",
    "MANOPT",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "BROWSER",
    "HOME",
    "HISTFILE",
    "HISTSIZE",
    "HISTFILESIZE",
    "HISTCONTROL",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONWARNINGS",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_INIT",
    "PHPRC",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "MAKEFLAGS",
    "MAKEFILES",
    "TAR_OPTIONS",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "ZDOTDIR",
    "FPATH",
    "GCONV_PATH",
    "TERMINFO",
    "POSIXLY_CORRECT",
    "GLOBIGNORE",
];

const BEGINNINGS: [&str; 7] =
    ["LD_", "DYLD_", "GIT_", "BASH_FUNC_", "MALLOC_", "CARGO_TARGET_", "npm_config_"];

/// What speaks against setting a variable.
pub(super) fn judged(name: &str) -> Option<Finding> {
    let changes = NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    changes.then(|| Finding::touch(format!("sets `{name}`, which changes what programs do")))
}

/// The variable in `NAME=value`, `NAME+=value` or `NAME[…]=value`, or the whole if it is only a name.
pub(super) fn assigned(text: &str) -> &str {
    text.split(['=', '+', '[']).next().unwrap_or(text)
}

/// Whether a text is `NAME=value`.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
