//! The environment of the process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The prefix of our own variables.
const OURS: &str = "TOOLROOM_";

/// A variable is a secret if a word of its name is one of these, or ends in one, as in `APIKEY` and `PGPASSWORD`.
const SECRET_ENDS: [&str; 10] = [
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATEKEY",
    "SECRET",
    "SECRETKEY",
    "TOKEN",
];

/// These count only as whole words: `MONKEY` is not a key, and `OLDPWD` is a folder.
const SECRET_WORDS: [&str; 10] =
    ["AUTHORIZATION", "BEARER", "COOKIE", "JWT", "KEY", "KEYS", "PASS", "PAT", "PWD", "SECRETS"];

/// Name endings of variables about a secret, which do not hold it.
const ABOUT: [&str; 12] =
    ["COUNT", "DIR", "FILE", "FORMAT", "LENGTH", "LIMIT", "NAME", "PATH", "SIZE", "SOCK", "TYPE", "URL"];

/// Values that are never secrets, in lower case.
const PLAIN: [&str; 12] =
    ["auto", "default", "disabled", "enabled", "false", "no", "none", "null", "off", "on", "true", "yes"];

/// A number with fewer digits is a setting.
const SECRET_DIGITS: usize = 6;

/// A variable's value. Empty counts as unset, as in the XDG specification; text that is not UTF-8 too.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable with a path, not necessarily UTF-8. Empty counts as unset.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the environment")]
pub fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The command line, including the program name.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the command line")]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The running program, to be started again. It is the same program even if its file has been replaced or deleted.
#[must_use]
pub fn own_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// The path of the running program, to be started later by another program.
///
/// # Errors
/// If the file is gone.
#[expect(clippy::disallowed_methods, reason = "this is the door: the file of our own program")]
pub fn program_file() -> std::io::Result<PathBuf> {
    let file = std::fs::read_link(own_program())?;
    // After a replacement the old program still runs, and its path leads nowhere.
    file.symlink_metadata().map(|_| file)
}

/// The time zone of this machine; UTC if not set.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: the system's time zone")]
pub fn time_zone() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::system()
}

/// The variables that hold a secret according to their name, with their values, so that these can be redacted. Existing
/// paths and plain words are not secrets, regardless of the name.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door: the environment, and whether a value is a path"
)]
pub fn secret_variables() -> Vec<(String, String)> {
    let exists = |value: &str| Path::new(value).symlink_metadata().is_ok();
    let texts = variables().filter_map(|(name, value)| Some((name, value.into_string().ok()?)));
    texts.filter(|(name, value)| is_secret(name, value, exists)).collect()
}

/// Whether a variable with this name and value holds a secret, by the same rule.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: whether a value is a path")]
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    is_secret(name, value, |value| Path::new(value).symlink_metadata().is_ok())
}

/// Our own variables with their values, UTF-8 or not. May include the secret [`crate::seal::KEY_VARIABLE`].
#[must_use]
pub fn toolroom_variables() -> Vec<(String, OsString)> {
    variables().filter(|(name, _)| name.starts_with(OURS)).collect()
}

/// All non-empty variables with a UTF-8 name.
#[expect(clippy::disallowed_methods, reason = "this is the door: the environment")]
fn variables() -> impl Iterator<Item = (String, OsString)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(_, value)| !value.is_empty())
}

fn is_secret(name: &str, value: &str, exists: impl Fn(&str) -> bool) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|character: char| !character.is_ascii_alphanumeric());
    let says_so =
        |word: &str| SECRET_WORDS.contains(&word) || SECRET_ENDS.iter().any(|end| word.ends_with(end));
    let is_about = words.clone().next_back().is_some_and(|last| ABOUT.contains(&last));
    if name == "PWD" || is_about || words.clone().any(|word| word == "PUBLIC") || !words.any(says_so) {
        return false;
    }
    let is_small_number = value.len() < SECRET_DIGITS && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = is_small_number || PLAIN.contains(&value.to_ascii_lowercase().as_str());
    // Checks the file system, because a base64 key may also begin with a slash.
    let is_path = value.contains('/') && exists(value);
    !is_plain && !is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, expected: bool) {
        let exists = |value: &str| value == "/etc/tls.pem";
        assert_eq!(is_secret(name, value, exists), expected, "{name}={value}");
    }

    #[test]
    fn secrets_are_recognized_by_name() {
        for name in [
            "OPENAI_API_KEY",
            "OPENAI_APIKEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "GITHUB_PAT",
            "HF_TOKEN",
            "npm_config__authToken",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "SMTP_PASSWD",
            "GPG_PASSPHRASE",
            "CLIENT_SECRET",
            "SECRET_KEY_BASE",
            "DJANGO_SECRET",
            "REGISTRY_CREDENTIALS",
            "SESSION_COOKIE",
            "API_KEYS",
            "TOKEN",
            "KEY",
            "TOOLROOM_MASTER_KEY",
            "my.service-token",
        ] {
            check(name, "s3cr3t-value", true);
        }
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "KEYBOARD_LAYOUT",
            "MONKEY",
            "TOKENIZER",
            "MAX_TOKENS",
            "COMPASS",
            "XDG_SESSION_ID",
            "PASSENGER",
            "SECRETARY",
            "SSH_PUBLIC_KEY",
            "TOKEN_URL",
            "KEY_FILE",
            "SSL_KEY_PATH",
            "TOKEN_LIMIT",
            "SECRET_NAME",
            "PASSWORD_LENGTH",
            "GPG_TTY",
            "AUTHOR",
            "",
        ] {
            check(name, "s3cr3t-value", false);
        }
    }

    #[test]
    fn plain_words_and_paths_are_not_secrets() {
        for value in ["true", "FALSE", "Off", "none", "1", "12345", "/etc/tls.pem"] {
            check("SOME_TOKEN", value, false);
        }
        for value in ["123456", "truer", "/etc/missing.pem", "/abc+def/ghi==", "hunter2", "correct horse"] {
            check("SOME_TOKEN", value, true);
        }
    }

    #[test]
    fn variables_are_those_of_the_process() {
        assert!(secret_variables().iter().all(|(name, value)| !name.is_empty() && !value.is_empty()));
        assert!(toolroom_variables().iter().all(|(name, _)| name.starts_with("TOOLROOM_")));
        assert!(variables().any(|(name, _)| name == "PATH"));
    }
}
