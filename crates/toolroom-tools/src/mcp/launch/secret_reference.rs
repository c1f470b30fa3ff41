//! References to secrets in arguments and in queries of URLs: `secret:NAME`, alone or after a `=`.

const PREFIX: &str = "secret:";

/// The text before a secret reference and the secret's name, if the word is a reference.
#[must_use]
pub fn named_secret(word: &str) -> Option<(&str, &str)> {
    let (before, name) = match word.strip_prefix(PREFIX) {
        Some(name) => ("", name),
        None => {
            let at = word.find("=secret:")? + 1;
            let (before, rest) = word.split_at_checked(at)?;
            (before, rest.strip_prefix(PREFIX)?)
        }
    };
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(is_fine)).then_some((before, name))
}

/// Whether a word is a secret reference.
#[must_use]
pub fn names_secret(word: &str) -> bool {
    named_secret(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_stands_alone_or_after_its_flag() {
        assert_eq!(named_secret("secret:A.b-1"), Some(("", "A.b-1")));
        assert_eq!(named_secret("--key=secret:KEY"), Some(("--key=", "KEY")));
        for other in ["secret", "secret:", "secret:a b", "--secret", "a secret:b", "--x=y", "secret:$(id)"] {
            assert_eq!(named_secret(other), None, "{other}");
        }
    }
}
