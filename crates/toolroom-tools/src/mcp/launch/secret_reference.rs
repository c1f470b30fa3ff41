//! Secrets that stand in arguments and in queries of addresses: `secret:NAME`, alone or behind a `=`.

/// How such a place begins.
const MARK: &str = "secret:";

/// What stands before the name of a secret, and the name, if a word is one of that kind.
#[must_use]
pub fn named_secret(word: &str) -> Option<(&str, &str)> {
    let (before, name) = match word.strip_prefix(MARK) {
        Some(name) => ("", name),
        None => {
            let at = word.find("=secret:")? + 1;
            let (before, rest) = word.split_at_checked(at)?;
            (before, rest.strip_prefix(MARK)?)
        }
    };
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(is_fine)).then_some((before, name))
}

/// Whether a word names a secret.
#[must_use]
pub fn names_secret(word: &str) -> bool {
    named_secret(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_alone_or_behind_its_flag() {
        assert_eq!(named_secret("secret:A.b-1"), Some(("", "A.b-1")));
        assert_eq!(named_secret("--key=secret:KEY"), Some(("--key=", "KEY")));
        for other in ["secret", "secret:", "secret:a b", "--secret", "a secret:b", "--x=y", "secret:$(id)"] {
            assert_eq!(named_secret(other), None, "{other}");
        }
    }
}
