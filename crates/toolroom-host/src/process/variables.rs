//! The environment of a program: a clean one, and what may be added.
//!
//! Only a few names without secrets are inherited from us. Callers may not set variables that make a harmless program load
//! or run something else: a command is judged by its words, so these must mean what they say.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::environment::path_variable;

/// Fixed search path, independent of the user.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Inherited if set.
const INHERITED: [&str; 18] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Inherited by desktop programs: variables of the graphical session.
const DESKTOP_VARIABLES: [&str; 18] = [
    "BROWSER",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DISPLAY",
    "GNOME_DESKTOP_SESSION_ID",
    "KDE_FULL_SESSION",
    "KDE_SESSION_VERSION",
    "PATH",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_DESKTOP",
    "XDG_SESSION_TYPE",
];

/// Prefixes of refused names.
const REFUSED_BEGINNINGS: [&str; 10] =
    ["BASH_FUNC_", "CARGO_", "DYLD_", "GIT_", "LD_", "LUA_", "MALLOC_", "NPM_CONFIG_", "RUSTC", "XDG_CONFIG"];

/// Exceptions: harmless names with a refused prefix.
const HARMLESS: [&str; 8] = [
    "CARGO_TERM_COLOR",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
];

/// Refused names: they control what is loaded or run first, or where such settings are stored.
const REFUSED: [&str; 57] = [
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GOFLAGS",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCALDOMAIN",
    "LOCPATH",
    "MANPAGER",
    "NLSPATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "RUBYLIB",
    "RUBYOPT",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "VISUAL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// The environment of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, OsString>,
}

/// Why a variable cannot be set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableError {
    /// It affects which code programs load or run.
    #[error(
        "`{name}` may not be set: it changes which code programs load or run; set it in the command itself"
    )]
    Refused {
        /// Its name.
        name: String,
    },
    /// The name is invalid.
    #[error("`{name}` is no name for a variable: use letters, digits and `_`, and no digit in front")]
    NoName {
        /// The name.
        name: String,
    },
    /// The value contains a zero byte.
    #[error("the value of `{name}` holds a zero byte, which no variable can")]
    ZeroByte {
        /// Its name.
        name: String,
    },
}

impl Variables {
    /// The environment of every program.
    #[must_use]
    pub fn clean() -> Self {
        Self::made_of(path_variable)
    }

    /// The environment of desktop programs, which act for the local user: includes the variables of the session and our own
    /// `PATH`.
    #[must_use]
    pub fn for_desktop() -> Self {
        let mut made = Self::clean();
        let ours = |name: &str| Some((name.to_owned(), path_variable(name)?.into_os_string()));
        made.values.extend(DESKTOP_VARIABLES.into_iter().filter_map(ours));
        made
    }

    fn made_of<V: Into<OsString>>(ours: impl Fn(&str) -> Option<V>) -> Self {
        let passed_on = INHERITED.into_iter().filter_map(|name| Some((name.to_owned(), ours(name)?.into())));
        let fixed = [("PATH", PATH), ("TERM", "dumb")].map(|(name, value)| (name.to_owned(), value.into()));
        Self { values: passed_on.chain(fixed).collect() }
    }

    /// Adds a variable. Names that affect which code a program runs are refused in any case.
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Result<Self, VariableError> {
        let value = value.into();
        let name = name.to_owned();
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_word || name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(VariableError::NoName { name });
        }
        if is_refused(&name) {
            return Err(VariableError::Refused { name });
        }
        if value.as_encoded_bytes().contains(&0) {
            return Err(VariableError::ZeroByte { name });
        }
        self.values.insert(name, value);
        Ok(self)
    }

    /// Adds a folder at the front of the search path, such as that of the program's interpreter. The folder comes from
    /// trusted code.
    #[must_use]
    pub fn with_programs_of(mut self, folder: &Path) -> Self {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(PATH);
        // A colon would separate a second folder.
        if !folder.as_os_str().as_encoded_bytes().contains(&b':') {
            self.values.insert("PATH".to_owned(), path);
        }
        self
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }
}

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let begins = REFUSED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    (begins && !HARMLESS.contains(&name.as_str())) || REFUSED.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_names_are_inherited() {
        let variables = Variables::made_of(|name| Some(format!("our {name}")));
        let names: Vec<&str> = variables.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), INHERITED.len() + 2);
        assert!(variables.iter().any(|(name, value)| name == "PATH" && value == PATH));
        assert!(variables.iter().any(|(name, value)| name == "HOME" && value == "our HOME"));
        let none = Variables::made_of(|_| None::<String>);
        assert_eq!(none.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["PATH", "TERM"]);
    }

    #[test]
    fn variables_that_affect_which_code_runs_are_refused() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "ld_preload",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PYTHONSTARTUP",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "GIT_EXTERNAL_DIFF",
            "BASH_FUNC_ls",
            "npm_config_script_shell",
            "HOME",
            "XDG_CONFIG_HOME",
            "PERL5OPT",
            "RUBYOPT",
            "RUSTC_WRAPPER",
            "CARGO_HOME",
            "LUA_INIT_5_4",
            "GLIBC_TUNABLES",
        ] {
            let refused = Variables::clean().with(name, "x");
            assert_eq!(refused, Err(VariableError::Refused { name: name.to_owned() }));
        }
        for name in
            ["FOO", "RUST_LOG", "HTTP_PROXY", "GIT_AUTHOR_NAME", "ENVIRONMENT", "LDAP", "TERM", "_", "a1"]
        {
            let variables = Variables::clean().with(name, "x").unwrap();
            assert!(variables.iter().any(|found| found == (name, OsStr::new("x"))), "{name}");
        }
    }

    #[test]
    fn an_invalid_variable_is_refused() {
        for name in ["", "1A", "A B", "A=B", "Ä", "A\0", "A-B"] {
            let refused = Variables::clean().with(name, "x");
            assert_eq!(refused, Err(VariableError::NoName { name: name.to_owned() }));
        }
        let zero = Variables::clean().with("A", "x\0y");
        assert_eq!(zero, Err(VariableError::ZeroByte { name: "A".to_owned() }));
    }

    #[test]
    fn the_lists_are_sorted_without_duplicates() {
        assert!(REFUSED.is_sorted_by(|one, next| one < next));
        assert!(REFUSED_BEGINNINGS.is_sorted_by(|one, next| one < next));
        assert!(HARMLESS.is_sorted_by(|one, next| one < next));
    }
}
