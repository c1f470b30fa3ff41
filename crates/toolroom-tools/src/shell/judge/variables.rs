//! Variables that affect which code runs.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::report::Concern;
use super::value::UNKNOWN;

/// Names, separated by spaces.
const NAMES: &str = "PATH IFS ENV BASH_ENV BASHOPTS SHELLOPTS PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 CDPATH SHELL EDITOR \
    VISUAL FCEDIT PAGER MANPAGER MANOPT LESSOPEN LESSCLOSE LESS LESSKEY LESSKEYIN LESSKEY_SYSTEM LESSEDIT MORE BROWSER \
    HOME HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE NODE_OPTIONS NODE_PATH PYTHONSTARTUP PYTHONPATH \
    PYTHONHOME PYTHONINSPECT PYTHONWARNINGS PYTHONUSERBASE PYTHONBREAKPOINT PYTHONEXECUTABLE PYTHONPLATLIBDIR \
    PYTHONPYCACHEPREFIX PERL5OPT PERL5LIB PERL5DB PERLLIB PERL5SHELL RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE \
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH JAVA_HOME MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS LUA_INIT \
    LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO CARGO_HOME \
    RUSTUP_HOME RUSTUP_TOOLCHAIN MAKEFLAGS GNUMAKEFLAGS MAKEFILES GOFLAGS GOROOT GOTOOLCHAIN CCACHE_PREFIX TAR_OPTIONS \
    TAPE ZIPOPT ZDOTDIR FPATH GCONV_PATH LOCPATH TERMINFO POSIXLY_CORRECT GLOBIGNORE EXECIGNORE BASH_CMDS \
    BASH_ALIASES BASH_COMPAT BASH_LOADABLES_PATH BASH_XTRACEFD TMOUT INPUTRC CURL_HOME WGETRC VIMINIT EXINIT \
    MYVIMRC RIPGREP_CONFIG_PATH BAT_PAGER BAT_CONFIG_PATH XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME OPENSSL_CONF \
    OPENSSL_ENGINES OPENSSL_MODULES CVS_RSH SVN_SSH HGRCPATH HGEDITOR BORG_RSH R_PROFILE R_PROFILE_USER R_ENVIRON \
    R_ENVIRON_USER JULIA_LOAD_PATH JULIA_DEPOT_PATH TCLLIBPATH ERL_LIBS ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS \
    DOTNET_STARTUP_HOOKS CORECLR_PROFILER CORECLR_PROFILER_PATH GTK_MODULES GIO_EXTRA_MODULES QT_PLUGIN_PATH";

const BEGINNINGS: [&str; 16] = [
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "MALLOC_",
    "CARGO_TARGET_",
    "CARGO_BUILD_",
    "CARGO_ALIAS_",
    "npm_config_",
    "NPM_CONFIG_",
    "YARN_",
    "BUN_",
    "RSYNC_",
    "SSH_",
    "SUDO_",
    "FZF_",
];

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());

/// Variables whose value is a command.
const COMMANDS: [&str; 9] = ["CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "HOSTCC", "CARGO_RUNNER"];

/// Whether the value of a variable is a command that other programs run.
pub(super) fn is_command(name: &str) -> bool {
    COMMANDS.contains(&name)
}

/// Concerns about the value of a variable.
pub(super) fn judged_value(name: &str, value: &str) -> Option<Concern> {
    let why = match name {
        "LANG" | "LC_ALL" | "LC_CTYPE" => {
            let small = value.to_ascii_lowercase();
            // In other encodings a byte of a letter may be a backslash.
            let is_plain = matches!(small.as_str(), "" | "c" | "posix")
                || small.ends_with(".utf-8")
                || small.ends_with(".utf8")
                || !small.contains('.') && !small.contains(UNKNOWN);
            if is_plain {
                return None;
            }
            "an encoding in which a shell reads other signs than there are"
        }
        "RUSTFLAGS" | "RUSTDOCFLAGS" | "CFLAGS" | "CXXFLAGS" | "LDFLAGS"
            if ["linker", "plugin", "-B", "-specs"].iter().any(|word| value.contains(word)) =>
        {
            "flags that start a program"
        }
        _ => return None,
    };
    Some(Concern::touch(why))
}

/// The concern about the first such variable in an arithmetic expression.
pub(super) fn named_in(arithmetic: &str) -> Option<Concern> {
    let is_sign = |sign: char| !(sign.is_ascii_alphanumeric() || sign == '_');
    arithmetic.split(is_sign).find_map(judged)
}

/// The concern about setting a variable.
pub(super) fn judged(name: &str) -> Option<Concern> {
    let changes = KNOWN.contains(name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    changes.then(|| Concern::touch(format!("sets `{name}`, which changes what programs do")))
}

/// The variable in `NAME=value`, `NAME+=value` or `NAME[…]=value`, or the whole text if it is only a name.
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
