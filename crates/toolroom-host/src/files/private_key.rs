//! Whether the beginning of a file is a private key.

/// How much of a file is looked at.
pub(super) const HEAD_BYTES: usize = 16 * 1024;

/// What the first line of a key begins with, in formats other than PEM.
const OTHER_KEYS: [&[u8]; 2] = [b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1"];

/// Names that end so hold keys and certificates and nothing else; a key may follow a certificate there.
const BUNDLES: [&str; 4] = [".pem", ".key", ".p8", ".pk8"];

/// Whether this is how a private key begins. A text that shows one further down, such as a guide, is none, unless
/// its name says that it is a bundle; key files of cloud services are JSON with a key inside.
pub(super) fn is_private_key(name: &str, head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let name = name.to_lowercase();
    let first = lines.next().unwrap_or_default();
    if OTHER_KEYS.iter().any(|key| first.starts_with(key)) || is_pem_header(first) {
        return true;
    }
    if BUNDLES.iter().any(|end| name.ends_with(end)) {
        return lines.any(is_pem_header);
    }
    name.ends_with(".json")
        && finds(head, b"\"private_key\"").is_some_and(|rest| finds(rest, b"PRIVATE KEY-----").is_some())
}

fn is_pem_header(line: &[u8]) -> bool {
    let ends = [b"PRIVATE KEY-----".as_slice(), b"PRIVATE KEY BLOCK-----"];
    line.starts_with(b"-----BEGIN ") && ends.iter().any(|end| line.ends_with(end))
}

/// What follows the first `wanted`.
fn finds<'a>(text: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let at = memchr::memmem::find(text, wanted)?;
    text.get(at + wanted.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that this file does not look like a key itself.
    fn header(kind: &str) -> String {
        format!("-----BEGIN {kind}-----\nMIIE\n")
    }

    #[test]
    fn a_key_is_known_by_its_first_line() {
        for kind in [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ] {
            let key = header(kind);
            for name in ["deploy", "notes.txt", "x.PEM", "y.key"] {
                assert!(is_private_key(name, key.as_bytes()), "{name}: {kind}");
                assert!(is_private_key(name, format!("\u{feff}\r\n {key}").as_bytes()), "{name}: {kind}");
            }
        }
        assert!(is_private_key("a.txt", b"PuTTY-User-Key-File-3: ssh-ed25519\n"));
        assert!(is_private_key("a.txt", b"AGE-SECRET-KEY-1QQ\n"));
    }

    #[test]
    fn a_bundle_and_a_service_account_are_known_by_what_follows() {
        let bundle = header("CERTIFICATE") + &header("PRIVATE KEY");
        assert!(
            is_private_key("site.pem", bundle.as_bytes()) && is_private_key("SITE.KEY", bundle.as_bytes())
        );
        let account =
            format!("{{\"type\": \"x\", \"private_key\": \"{}\"}}", header("PRIVATE KEY").escape_default());
        assert!(is_private_key("account.json", account.as_bytes()));
        assert!(!is_private_key("account.json", b"{\"private_key\": \"see the vault\"}"));
    }

    #[test]
    fn certificates_public_keys_and_texts_about_keys_are_none() {
        for (name, content) in [
            ("ca.pem", header("CERTIFICATE")),
            ("public.key", header("PUBLIC KEY")),
            ("server.key", header("EC PARAMETERS")),
            ("guide.md", format!("# Keys\n\nA key looks so:\n\n{}", header("PRIVATE KEY"))),
            ("keyboard.key", "layout = \"de\"\n".to_owned()),
            ("key.rs", format!("const HEADER: &str = \"{}\";", "-----BEGIN PRIVATE KEY-----")),
            ("empty.pem", String::new()),
        ] {
            assert!(!is_private_key(name, content.as_bytes()), "{name}");
        }
        let parameters_first = header("EC PARAMETERS") + &header("EC PRIVATE KEY");
        assert!(is_private_key("server.key", parameters_first.as_bytes()));
    }
}
