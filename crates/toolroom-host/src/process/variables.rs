//! The environment of a program: a clean one, and what may be added to it.
//!
//! Nothing of ours is passed on but a few names that hold no secret. Whoever adds variables may not choose those that
//! make a harmless program load or run something else: a command is judged by its words, and they must mean what they
//! say.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::environment::path_variable;

/// Where programs are looked for: the usual places, and none that depends on who we are.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Passed on if they are set.
const PASSED_ON: [&str; 18] = [
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

/// What programs of the desktop are told about the session of the person at this machine.
const OF_DESKTOP: [&str; 18] = [
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

/// Beginnings of names that are refused.
const REFUSED_BEGINNINGS: [&str; 10] =
    ["BASH_FUNC_", "CARGO_", "DYLD_", "GIT_", "LD_", "LUA_", "MALLOC_", "NPM_CONFIG_", "RUSTC", "XDG_CONFIG"];

/// Of the refused beginnings, names that only say who and how.
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

/// Names that are refused: what to load, what to run first, where rules of that kind are kept.
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

/// Why a variable cannot be added.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableError {
    /// It decides what other programs load or run.
    #[error(
        "`{name}` may not be set: it changes which code programs load or run; say it in the command itself"
    )]
    Refused {
        /// Its name.
        name: String,
    },
    /// It is no name.
    #[error("`{name}` is no name for a variable: use letters, digits and `_`, and no digit in front")]
    NoName {
        /// What was given.
        name: String,
    },
    /// No variable can hold it.
    #[error("the value of `{name}` holds a zero byte, which no variable can")]
    ZeroByte {
        /// Its name.
        name: String,
    },
}

impl Variables {
    /// What every program gets.
    #[must_use]
    pub fn clean() -> Self {
        Self::made_of(path_variable)
    }

    /// What programs of the desktop get, which act for the person at this machine: the variables of their session and
    /// their own `PATH` as well.
    #[must_use]
    pub fn for_desktop() -> Self {
        let mut made = Self::clean();
        let ours = |name: &str| Some((name.to_owned(), path_variable(name)?.into_os_string()));
        made.values.extend(OF_DESKTOP.into_iter().filter_map(ours));
        made
    }

    fn made_of<V: Into<OsString>>(ours: impl Fn(&str) -> Option<V>) -> Self {
        let passed_on = PASSED_ON.into_iter().filter_map(|name| Some((name.to_owned(), ours(name)?.into())));
        let fixed = [("PATH", PATH), ("TERM", "dumb")].map(|(name, value)| (name.to_owned(), value.into()));
        Self { values: passed_on.chain(fixed).collect() }
    }

    /// The same with one variable more. Names that change which code a program runs are refused, whatever their case.
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

    /// The same for a program that finds others first in this folder: that of its own interpreter. The folder comes from
    /// whoever may choose the program.
    #[must_use]
    pub fn with_programs_of(mut self, folder: &Path) -> Self {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(PATH);
        // A colon would name a second folder.
        if !folder.as_os_str().as_encoded_bytes().contains(&b':') {
            self.values.insert("PATH".to_owned(), path);
        }
        self
    }

    /// All of them.
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
    fn nothing_but_the_listed_names_is_passed_on() {
        let variables = Variables::made_of(|name| Some(format!("our {name}")));
        let names: Vec<&str> = variables.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), PASSED_ON.len() + 2);
        assert!(variables.iter().any(|(name, value)| name == "PATH" && value == PATH));
        assert!(variables.iter().any(|(name, value)| name == "HOME" && value == "our HOME"));
        let none = Variables::made_of(|_| None::<String>);
        assert_eq!(none.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["PATH", "TERM"]);
    }

    #[test]
    fn what_changes_which_code_runs_is_refused() {
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
    fn what_is_no_variable_is_refused() {
        for name in ["", "1A", "A B", "A=B", "Ä", "A\0", "A-B"] {
            let refused = Variables::clean().with(name, "x");
            assert_eq!(refused, Err(VariableError::NoName { name: name.to_owned() }));
        }
        let zero = Variables::clean().with("A", "x\0y");
        assert_eq!(zero, Err(VariableError::ZeroByte { name: "A".to_owned() }));
    }

    #[test]
    fn the_lists_are_sorted_and_hold_nothing_twice() {
        assert!(REFUSED.is_sorted_by(|one, next| one < next));
        assert!(REFUSED_BEGINNINGS.is_sorted_by(|one, next| one < next));
        assert!(HARMLESS.is_sorted_by(|one, next| one < next));
    }
}
