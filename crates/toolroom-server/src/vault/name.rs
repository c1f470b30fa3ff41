//! Names of secrets.

use toolroom::redact::Redactor;

/// Enough for the longest generated name, made of a server and its variable.
const MAX_CHARS: usize = 140;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretNameError {
    /// It looks like a value, so it is not quoted.
    #[error("the name of a secret looks like its value")]
    IsValue,
    #[error("the name of a secret has 1 to {MAX_CHARS} letters, digits, `_`, `-` and `.`")]
    NotPlain,
}

pub(crate) fn check_secret_name(name: &str) -> Result<(), SecretNameError> {
    // NAME=VALUE, or a forgotten name, puts the value here.
    if name.contains('=') || Redactor::default().redact_text(name) != name {
        return Err(SecretNameError::IsValue);
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // A leading `-` would be read as a flag.
    match !name.starts_with('-') && (1..=MAX_CHARS).contains(&name.len()) && name.chars().all(is_allowed) {
        true => Ok(()),
        false => Err(SecretNameError::NotPlain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_no_values() {
        let longest_made = format!("mcp.{}.{}-12", "s".repeat(64), "K".repeat(60));
        for name in ["A", "GITHUB_TOKEN", "smtp.password", "db-1", &longest_made, &"n".repeat(MAX_CHARS)] {
            assert_eq!(check_secret_name(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "ä", "a/b", "a:b", "a\n", "-a", "$(id)", &"n".repeat(MAX_CHARS + 1)] {
            assert_eq!(check_secret_name(name), Err(SecretNameError::NotPlain), "{name}");
        }
        for name in ["TOKEN=abc", "ghp_0123456789abcdefghijklmnopqrstuvwxyzABCD"] {
            assert_eq!(check_secret_name(name), Err(SecretNameError::IsValue), "{name}");
        }
    }
}
