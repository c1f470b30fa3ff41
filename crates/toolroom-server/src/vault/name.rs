//! What a secret may be called, whoever names it.

use toolroom::redact::Redactor;

/// Room for the longest name that is made here, of a server and of what it calls its key.
const MAX_CHARS: usize = 140;

/// Why a text is no name of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretNameError {
    /// It looks like the value, so it is not repeated.
    #[error("the name of a secret looks like its value")]
    IsValue,
    /// It could not be typed, or not be told from other words in a line.
    #[error("the name of a secret has 1 to {MAX_CHARS} letters, digits, `_`, `-` and `.`")]
    NotPlain,
}

/// Whether a secret may have this name.
pub(crate) fn check_secret_name(name: &str) -> Result<(), SecretNameError> {
    // Whoever writes NAME=VALUE, or forgets the name, has put the value there.
    if name.contains('=') || Redactor::default().redact_text(name) != name {
        return Err(SecretNameError::IsValue);
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // A name that begins with `-` would be taken for an option wherever it is typed.
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
