//! How secrets get into texts: encoders written for these tests, one for each habit.

use crate::mutation::Dice;

/// A name, and the encoder.
pub(super) type Encoder = (&'static str, fn(&str, &mut Dice) -> String);

pub(super) const ENCODERS: &[Encoder] = &[
    ("plain", |text, _| text.to_owned()),
    ("base64", |text, _| base64(text.as_bytes(), STANDARD)),
    ("base64 inside", |text, dice| base64(&inside(text, dice), STANDARD)),
    ("base64 url", |text, dice| base64(&inside(text, dice), URL_SAFE)),
    ("base64 unpadded", |text, dice| base64(&inside(text, dice), URL_SAFE).replace('=', "")),
    ("base64 wrapped", |text, dice| wrapped(&base64(&inside(text, dice), STANDARD), 76, "\n")),
    ("base64 indented", |text, dice| wrapped(&base64(&inside(text, dice), STANDARD), 64, "\r\n    ")),
    ("base64 wrapped in JSON", |text, dice| wrapped(&base64(&inside(text, dice), STANDARD), 76, "\\n")),
    ("base64 in a URL", |text, dice| percent(&base64(&inside(text, dice), STANDARD), false, upper)),
    ("hex", |text, _| text.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ("hex upper", |text, _| text.bytes().map(|byte| format!("{byte:02X}")).collect()),
    ("hex inside", |text, dice| inside(text, dice).iter().map(|byte| format!("{byte:02x}")).collect()),
    ("percent", |text, _| percent(text, false, upper)),
    ("percent lower", |text, _| percent(text, false, lower)),
    ("percent all", |text, _| percent(text, true, upper)),
    ("percent all lower", |text, _| percent(text, true, lower)),
    ("percent twice", |text, _| percent(&percent(text, false, upper), false, upper)),
    ("form", |text, _| percent(text, false, upper).replace("%20", "+")),
    ("JSON", |text, _| json(text)),
    ("JSON with slashes", |text, _| json(text).replace('/', "\\/")),
    ("JSON twice", |text, _| json(&json(text))),
    ("JSON in ASCII", |text, _| ascii(&json(text))),
    ("JSON all", |text, _| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
    ("JSON all upper", |text, _| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()),
    ("JSON at random", |text, dice| {
        let escape = |c: char, dice: &mut Dice| match dice.below(2) {
            0 => json(&c.to_string()),
            _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        };
        text.chars().map(|c| escape(c, dice)).collect()
    }),
    ("JSON of a URL", |text, _| json(&percent(text, false, upper))),
    ("JSON in a form", |text, _| percent(&json(text), false, upper)),
    ("shell", |text, _| {
        let quote =
            |c: char| if c.is_ascii_punctuation() || c == ' ' { format!("\\{c}") } else { c.to_string() };
        text.chars().map(quote).collect()
    }),
    ("HTML", |text, _| html(text, "&#39;")),
    ("HTML with hex", |text, _| html(text, "&#x27;")),
    ("HTML with zeros", |text, _| html(text, "&#039;")),
    ("HTML with names", |text, _| html(text, "&apos;").replace('é', "&eacute;").replace('/', "&sol;")),
    ("HTML all", |text, _| text.chars().map(|c| format!("&#{};", u32::from(c))).collect()),
    ("HTML all in hex", |text, _| text.chars().map(|c| format!("&#x{:X};", u32::from(c))).collect()),
    ("HTML twice", |text, _| html(&html(text, "&#39;"), "&#39;")),
    ("HTML in JSON", |text, _| json(&html(text, "&#39;")).replace('&', "\\u0026")),
];

/// The text within other bytes.
fn inside(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut noise = || -> Vec<u8> {
        let length = dice.below(60);
        (0..length).map(|_| u8::try_from(dice.below(256)).unwrap()).collect()
    };
    [noise(), text.as_bytes().to_vec(), noise()].concat()
}

pub(super) const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(super) fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut encoded = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            encoded.push(if place <= group.len() { char::from(alphabet[sextet]) } else { '=' });
        }
    }
    encoded
}

/// Every way to read the base64 in a text, at each offset and without regard for line breaks.
pub(super) fn base64_readings(text: &str) -> Vec<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'-' => Some(62),
        b'_' => Some(63),
        _ => STANDARD.iter().position(|known| *known == byte),
    };
    let text = text.replace("\\n", "").replace("%2B", "+").replace("%2F", "/");
    let mut runs: Vec<Vec<usize>> = vec![Vec::new()];
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        match value(byte) {
            Some(value) => runs.last_mut().unwrap().push(value),
            None => runs.push(Vec::new()),
        }
    }
    let decode = |sextets: &[usize]| -> Vec<u8> {
        let groups =
            sextets.chunks_exact(4).map(|group| group.iter().fold(0, |bits, sextet| bits << 6 | sextet));
        groups
            .flat_map(|bits| [bits >> 16, bits >> 8, bits].map(|byte| u8::try_from(byte & 255).unwrap()))
            .collect()
    };
    runs.iter().flat_map(|run| (0..4.min(run.len())).map(|offset| decode(&run[offset..]))).collect()
}

fn wrapped(text: &str, width: usize, line_break: &str) -> String {
    let lines: Vec<String> =
        text.as_bytes().chunks(width).map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
    lines.join(line_break)
}

fn upper(byte: u8) -> String {
    format!("%{byte:02X}")
}

fn lower(byte: u8) -> String {
    format!("%{byte:02x}")
}

fn percent(text: &str, all: bool, escape: fn(u8) -> String) -> String {
    let plain = |byte: u8| !all && (byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { escape(byte) }).collect()
}

/// Without the quotes around it.
fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted.strip_prefix('"').unwrap().strip_suffix('"').unwrap().to_owned()
}

fn ascii(text: &str) -> String {
    let escape = |c: char| match c {
        c if c.is_ascii() => c.to_string(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(escape).collect()
}

fn html(text: &str, apostrophe: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => apostrophe.to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}
