//! Detects private keys.

/// How much of a file is searched.
pub(super) const HEAD_BYTES: usize = 1024 * 1024;

/// Line prefixes of keys in formats other than PEM.
const OTHER_KEYS: [&[u8]; 2] = [b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1"];

/// Maximum length of the key type in a header: `RSA `, `ENCRYPTED `.
const MAX_KIND_BYTES: usize = 32;

/// Whether these bytes contain the header of a private key. A header in a string literal, as in source code, does not
/// count: it must be followed by a line break or an escaped one.
pub(super) fn has_private_key(bytes: &[u8]) -> bool {
    let begins_a_line = |at: usize| at == 0 || bytes.get(at - 1).is_some_and(|byte| !byte.is_ascii_graphic());
    OTHER_KEYS.iter().any(|key| memchr::memmem::find_iter(bytes, key).any(begins_a_line))
        || memchr::memmem::find_iter(bytes, b"PRIVATE KEY").any(|at| is_pem_header(bytes, at))
}

/// Whether this is a PEM header followed by a line break.
fn is_pem_header(bytes: &[u8], at: usize) -> bool {
    let (before, rest) = bytes.split_at(at);
    let before = before.get(before.len().saturating_sub(MAX_KIND_BYTES)..).unwrap_or_default();
    let Some(begin) = memchr::memmem::rfind(before, b"-----BEGIN ") else { return false };
    let kind = before.get(begin + b"-----BEGIN ".len()..).unwrap_or_default();
    let rest = rest.strip_prefix(b"PRIVATE KEY").unwrap_or_default();
    let rest = rest.strip_prefix(b" BLOCK").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b"-----") else { return false };
    let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    let rest = rest.get(blank..).unwrap_or_default();
    kind.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9'))
        && [b"\n".as_slice(), b"\\n", b"\\r"].iter().any(|end| rest.starts_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembled here, so that this file does not look like a key itself.
    fn header(kind: &str) -> String {
        format!("-----BEGIN {kind}-----\nMIIE\n")
    }

    #[test]
    fn a_key_is_found_wherever_its_header_is() {
        for kind in [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ] {
            let key = header(kind);
            for text in [
                key.clone(),
                format!("\u{feff}\r\n {key}"),
                format!("# Keys\n\nA key looks so:\n\n{key}"),
                format!("{}{key}", "x".repeat(500_000)),
                header("CERTIFICATE") + &key,
                key.replace('\n', "\r\n"),
                format!("{{\"private_key\": \"{}\"}}", key.escape_default()),
            ] {
                assert!(has_private_key(text.as_bytes()), "{kind}");
            }
        }
        assert!(has_private_key(b"PuTTY-User-Key-File-3: ssh-ed25519\n"));
        assert!(has_private_key(b"# created: today\nAGE-SECRET-KEY-1QQ\n"));
    }

    #[test]
    fn certificates_public_keys_and_source_code_are_not_keys() {
        for content in [
            header("CERTIFICATE"),
            header("PUBLIC KEY"),
            header("EC PARAMETERS"),
            "{\"private_key\": \"see the vault\"}".to_owned(),
            "layout = \"de\"\n".to_owned(),
            format!("const HEADER: &str = \"{}\";\n", "-----BEGIN PRIVATE KEY-----"),
            "text.startswith('AGE-SECRET-KEY-1')\n".to_owned(),
            "a PRIVATE KEY-----\n".to_owned(),
            String::new(),
        ] {
            assert!(!has_private_key(content.as_bytes()), "{content}");
        }
    }
}
