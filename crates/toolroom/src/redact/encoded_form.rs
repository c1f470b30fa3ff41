//! The encodings in which a secret may occur in a text. Escapes are not among them: texts are unescaped instead, because
//! writers escape differently.

use zeroize::Zeroizing;

use super::lines::parts;
use super::secret::{MIN_EXACT_CHARS, Secret};

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes to search for.
pub(super) struct EncodedForm {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    pub(super) trailing: Trailing,
}

/// What may follow a form and belongs to the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trailing {
    /// Nothing.
    Nothing,
    /// A base64 character with bits of the secret and of the text after it, and padding.
    Base64,
}

/// Every form of a secret; none if it is too short.
pub(super) fn forms(secret: &Secret) -> Vec<EncodedForm> {
    if secret.is_too_short() {
        return Vec::new();
    }
    spellings(&secret.value).iter().flat_map(|text| encodings(text.as_bytes())).collect()
}

/// The value as its owner would type it, whole and in parts.
fn spellings(value: &str) -> Vec<Zeroizing<String>> {
    let trimmed = value.trim();
    let mut texts = vec![value.to_owned(), trimmed.to_owned()];
    if trimmed.contains('\n') {
        let unix = trimmed.replace("\r\n", "\n");
        texts.push(unix.replace('\n', "\r\n"));
        texts.push(unix);
    }
    texts.extend(parts(value));
    // URL forms encode a space as `+`.
    let pluses: Vec<_> =
        texts.iter().filter(|text| text.contains(' ')).map(|text| text.replace(' ', "+")).collect();
    texts.extend(pluses);
    texts.retain(|text| text.chars().nth(MIN_EXACT_CHARS - 1).is_some());
    texts.into_iter().map(Zeroizing::new).collect()
}

fn encodings(bytes: &[u8]) -> Vec<EncodedForm> {
    let exact = |bytes: Vec<u8>| EncodedForm { bytes: Zeroizing::new(bytes), trailing: Trailing::Nothing };
    let mut forms = vec![
        exact(bytes.to_vec()),
        exact(hex::encode(bytes).into_bytes()),
        exact(hex::encode_upper(bytes).into_bytes()),
    ];
    for offset in 0..3 {
        for alphabet in [STANDARD, URL_SAFE] {
            let ends_inside = !(offset + bytes.len()).is_multiple_of(3);
            let trailing = if ends_inside { Trailing::Base64 } else { Trailing::Nothing };
            forms.push(EncodedForm { bytes: base64_inside(bytes, offset, alphabet), trailing });
        }
    }
    forms
}

/// The base64 characters that depend on `bytes` only, if they begin `offset` bytes after the start of a group of three.
fn base64_inside(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> Zeroizing<Vec<u8>> {
    let mut padded = Zeroizing::new(vec![0; offset]);
    padded.extend_from_slice(bytes);
    let first = (8 * offset).div_ceil(6);
    let end = 8 * padded.len() / 6;
    let character = |index: usize| {
        let byte = |at: usize| padded.get(at).copied().map_or(0, u16::from);
        let (at, shift) = (6 * index / 8, 6 * index % 8);
        let bits = (byte(at) << 8 | byte(at + 1)) >> (10 - shift) & 63;
        alphabet.get(usize::from(bits)).copied()
    };
    Zeroizing::new((first..end).filter_map(character).collect())
}

/// Whether a base64 text of either alphabet may hold this byte.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: &str) -> Vec<String> {
        let forms = forms(&Secret::new("name", value));
        forms.iter().map(|form| String::from_utf8(form.bytes.to_vec()).unwrap()).collect()
    }

    #[test]
    fn a_form_depends_on_the_secret_only() {
        let texts = texts("sub?je>ct");
        // `xsub?je>ct` and `xysub?je>ct` in base64, without the characters that also hold bits of x, y or padding.
        for form in ["sub?je>ct", "7375623f6a653e6374", "7375623F6A653E6374"] {
            assert!(texts.iter().any(|text| text == form), "{form} in {texts:?}");
        }
        for (whole, form) in [
            ("c3ViP2plPmN0", "c3ViP2plPmN0"),
            ("eHN1Yj9qZT5jdA==", "N1Yj9qZT5jd"),
            ("eHlzdWI_amU-Y3Q=", "zdWI_amU-Y3"),
            ("eHlzdWI/amU+Y3Q=", "zdWI/amU+Y3"),
        ] {
            assert!(whole.contains(form) && texts.iter().any(|text| text == form), "{form} in {texts:?}");
        }
    }

    #[test]
    fn lines_of_a_key_count_on_their_own_but_not_its_frame() {
        let key =
            "-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkqhki\r\nshort\r\n-----END PRIVATE KEY-----\r\n";
        let texts = texts(key);
        assert!(texts.iter().any(|text| text == "MIIEvQIBADANBgkqhki"));
        assert!(texts.iter().any(|text| text == &key.trim().replace("\r\n", "\n")));
        assert!(!texts.iter().any(|text| text == "short" || text == "-----END PRIVATE KEY-----"));
    }

    #[test]
    fn short_and_blank_values_have_no_forms() {
        for value in ["", "1234567", "  1234567\n", "            ", "äöüßäöü"] {
            assert!(forms(&Secret::new("name", value)).is_empty(), "{value}");
        }
        assert!(!forms(&Secret::new("name", "äöüßäöüß")).is_empty());
    }
}
