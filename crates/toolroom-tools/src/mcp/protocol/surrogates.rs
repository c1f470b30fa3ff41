//! Halves of characters in JSON.
//!
//! A text that was cut in the middle of an emoji ends in half of it, which many programs write down as an escape. That is
//! JSON by its grammar, and no text.

use memchr::memchr;

/// Bytes of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// The same JSON with a sign in the place of each half; nothing, if there is none.
pub(crate) fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = memchr(b'\\', json.get(at..).unwrap_or_default()) {
        at += found;
        at += match (unit(json, at), unit(json, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                mended.extend_from_slice(json.get(kept..at)?);
                mended.extend_from_slice(br"\ufffd");
                kept = at + ESCAPE;
                ESCAPE
            }
            (Some(_), _) => ESCAPE,
            (None, _) => 2,
        };
    }
    mended.extend_from_slice(json.get(kept..)?);
    (kept > 0).then_some(mended)
}

/// What is escaped here.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn halves_are_mended_and_whole_ones_stay() {
        for (json, expected) in [
            (r#""a\ud83d""#, Some("a\u{fffd}")),
            (r#""\ude00a""#, Some("\u{fffd}a")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            (r#""\ude00\ud83d\n""#, Some("\u{fffd}\u{fffd}\n")),
            (r#""\uD83D\u0041""#, Some("\u{fffd}A")),
            (r#""\ud83d\ude00 \u00e9 \" \\ud83d""#, None),
            (r#""\\\\ud83d""#, None),
            (r#""plain""#, None),
        ] {
            let mended = mended(json.as_bytes());
            let read = mended.map(|json| serde_json::from_slice::<Value>(&json).unwrap());
            assert_eq!(read, expected.map(Value::from), "{json}");
        }
        // What breaks off is no JSON either way.
        for broken in [r#""\"#, r#""\u"#, r#""\ud83"#, r#""\ud83d\"#, r#""\ud83d\u"#] {
            let _mended = mended(broken.as_bytes());
        }
    }
}
