//! Values whose name marks them as secrets: `password=…`, `"api_key": "…"`, `?token=…`.
//!
//! Source code is full of `token = expression`, so a name is not enough. A value is a secret by its length in a URL's query
//! or a variable in capital letters, elsewhere by its digits. A quoted text with spaces is a sentence.

use super::super::text::{Text, TextEnd};
use super::LOOK_BACK;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::format::SecretFormat;

/// Minimum length of a secret value.
const MIN_VALUE: usize = 8;

/// Bytes of a value that decide whether it looks like a secret.
pub(super) const DECIDED: usize = 64;

/// Spaces on either side of `=` or `:`.
const MAX_SPACES: usize = 8;

/// Characters of a name before the keyword.
const MAX_LEAD: usize = 40;
const _: () = assert!(MAX_LEAD + "&amp;".len() < LOOK_BACK, "a name and what is before it can be looked at");

const KEYWORDS: &[(&str, SecretFormat)] = &[
    ("password", SecretFormat::Password),
    ("passwd", SecretFormat::Password),
    ("passphrase", SecretFormat::Password),
    ("token", SecretFormat::Token),
    ("secret", SecretFormat::Secret),
    ("api_key", SecretFormat::ApiKey),
    ("api-key", SecretFormat::ApiKey),
    ("apikey", SecretFormat::ApiKey),
    ("access_key", SecretFormat::ApiKey),
    ("access-key", SecretFormat::ApiKey),
    ("accesskey", SecretFormat::ApiKey),
];

/// What may follow a keyword in a name.
const SUFFIXES: &[(&str, Suffix)] = &[
    ("_access_key", Suffix::AccessKey),
    ("-access-key", Suffix::AccessKey),
    ("accesskey", Suffix::AccessKey),
    ("_key", Suffix::Key),
    ("-key", Suffix::Key),
    ("key", Suffix::Key),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Suffix {
    AccessKey,
    Key,
}

/// Names of tokens that are not secret.
const NON_SECRET_NAMES: [&[u8]; 7] = [b"next", b"page", b"cursor", b"continu", b"sync", b"csrf", b"xsrf"];

/// An AWS secret access key has 40 base64 characters.
const AWS_SECRET_LENGTH: usize = 40;

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    let kind = name_end(&mut cursor)?;
    let name_end = cursor.at;
    let separator = separator(&mut cursor)?;
    let lead = lead(text, at);
    let start = cursor.at;
    let is_query = is_query(text, lead);
    let class = if is_query { ByteClass::Query } else { ByteClass::Value };
    let extent = separator.quote.map_or(Extent::Run(class), Extent::Quoted);
    let secret = extent.measure(text, start);
    if secret.continues.is_some() && secret.end < start + DECIDED {
        return Err(Miss::Undecided(at));
    }
    let value = text.slice(start, secret.end.min(start + DECIDED));
    let is_code = separator.quote.is_none()
        && (is_code(text, start, value) || !separator.is_tight && is_constant(value));
    let name = text.slice(lead, name_end);
    let by_length = separator.is_tight && value.len() >= MIN_VALUE && (is_query || is_capital(name));
    let is_secret = by_length || looks_secret(kind, value);
    if !is_secret || is_code || is_placeholder(value) || is_non_secret_name(name) {
        return Err(Miss::Other);
    }
    Ok(cursor.hide(kind, start, extent))
}

/// The format of `value` if it looks like a secret under `name` in an object.
pub(in crate::redact) fn named_value(name: &str, value: &str) -> Option<SecretFormat> {
    if !may_name_secret(name.as_bytes()) {
        return None;
    }
    let value = value.as_bytes();
    if value.len() < MIN_VALUE
        || value.iter().any(u8::is_ascii_whitespace)
        || is_non_secret_name(name.as_bytes())
    {
        return None;
    }
    let text = Text::new(name.as_bytes(), TextEnd::Final);
    let ends_name = |at: usize| {
        let mut cursor = Cursor::new(&text, at);
        name_end(&mut cursor).ok().filter(|_| cursor.at == name.len())
    };
    let kind = (0..name.len()).find_map(ends_name)?;
    let is_secret = looks_secret(kind, value) || is_capital(name.as_bytes());
    (is_secret && !is_placeholder(value)).then_some(kind)
}

/// Whether a name ends with a keyword or a suffix of one.
fn may_name_secret(name: &[u8]) -> bool {
    let endings: &[&[u8]] = match name.last().map(u8::to_ascii_lowercase) {
        Some(b'd') => &[b"password", b"passwd"],
        Some(b'e') => &[b"passphrase"],
        Some(b'n') => &[b"token"],
        Some(b't') => &[b"secret"],
        Some(b'y') => &[b"key"],
        _ => &[],
    };
    let ends_with = |ending: &&[u8]| {
        let start = name.len().checked_sub(ending.len());
        start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    endings.iter().any(ends_with)
}

/// Reads a keyword and its suffix up to the end of the name.
fn name_end(cursor: &mut Cursor<'_, '_>) -> Result<SecretFormat, Miss> {
    let kind = cursor.one_of(KEYWORDS)?;
    let suffix = match cursor.one_of(SUFFIXES) {
        Ok(suffix) => Some(suffix),
        Err(Miss::Other) => None,
        Err(undecided) => return Err(undecided),
    };
    if cursor.peek()?.is_some_and(|byte| ByteClass::Token.has(byte)) {
        return Err(Miss::Other);
    }
    Ok(if kind == SecretFormat::Secret && suffix == Some(Suffix::AccessKey) {
        SecretFormat::AwsSecretKey
    } else {
        kind
    })
}

/// The separator between a name and its value.
pub(super) struct Separator {
    /// The quote around the value.
    pub(super) quote: Option<u8>,
    /// Whether it is a single `=`, without space or quote.
    is_tight: bool,
}

pub(super) fn separator(cursor: &mut Cursor<'_, '_>) -> Result<Separator, Miss> {
    let start = cursor.at;
    // The end of a quoted name, or of one in brackets.
    cursor.any_of(b"\\")?;
    if cursor.any_of(b"\"'`")?.is_some() {
        cursor.any_of(b"]")?;
    }
    spaces(cursor)?;
    match cursor.any_of(b"=:")? {
        Some(b'=') => {
            cursor.any_of(b">")?;
        }
        Some(_) => {
            cursor.any_of(b"=")?;
        }
        None => return Err(Miss::Other),
    }
    let is_tight = cursor.at == start + 1 && cursor.text.byte(start) == Some(b'=');
    if cursor.any_of(b"=:~")?.is_some() {
        return Err(Miss::Other);
    }
    spaces(cursor)?;
    let mut escaped = false;
    for _ in 0..3 {
        escaped |= cursor.any_of(b"\\")?.is_some();
    }
    let quote = cursor.any_of(b"\"'`")?;
    if escaped && quote.is_none() {
        return Err(Miss::Other);
    }
    // Within escaped quotes a backslash is the end, as it is for a value without quotes.
    Ok(Separator { quote: quote.filter(|_| !escaped), is_tight })
}

pub(super) fn spaces(cursor: &mut Cursor<'_, '_>) -> Result<(), Miss> {
    for _ in 0..MAX_SPACES {
        if cursor.any_of(b" \t")?.is_none() {
            break;
        }
    }
    Ok(())
}

/// The start of the name whose keyword is at `at`.
fn lead(text: &Text<'_>, at: usize) -> usize {
    let before = text.slice(at.saturating_sub(MAX_LEAD), at);
    at - before.iter().rev().take_while(|byte| ByteClass::Dotted.has(**byte)).count()
}

fn is_query(text: &Text<'_>, lead: usize) -> bool {
    matches!(text.before(lead), Some(b'?' | b'&' | b'#'))
        || text.slice(lead.saturating_sub(5), lead) == b"&amp;"
}

fn is_capital(name: &[u8]) -> bool {
    !name.iter().any(u8::is_ascii_lowercase)
}

fn is_non_secret_name(name: &[u8]) -> bool {
    let holds = |part: &[u8]| name.windows(part.len()).any(|here| here.eq_ignore_ascii_case(part));
    NON_SECRET_NAMES.into_iter().any(holds)
}

/// Whether a value is a placeholder for a secret, or one of our markers.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let variable = |name: &[u8]| name.iter().all(|byte| ByteClass::Word.has(*byte));
    match value {
        [b'$', b'{' | b'(', ..] | [b'{' | b'<', ..] => true,
        [b'$', name @ ..] | [b'%', name @ .., b'%'] if variable(name) => true,
        [b'[', rest @ ..] if rest.starts_with(b"redacted") || rest.starts_with(b"secret") => true,
        [first, rest @ ..] => rest.iter().all(|byte| byte == first),
        [] => true,
    }
}

/// Whether an unquoted value is an expression of source code.
pub(super) fn is_code(text: &Text<'_>, start: usize, value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
            && part.iter().all(|byte| ByteClass::Word.has(*byte))
            && part.len() <= 20
    };
    let holds = |part: &[u8]| value.windows(part.len()).any(|here| here == part);
    let is_called =
        value.len() < DECIDED && text.byte(start + value.len()).is_some_and(|byte| b"([{<".contains(&byte));
    is_called
        || holds(b"::")
        || holds(b"->")
        || value.contains(&b'.') && value.split(|byte| *byte == b'.').all(is_name)
}

/// `SOME_NAME_2`: the name of a type or a constant.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_') && value.iter().all(|byte| ByteClass::Capital.has(*byte) || *byte == b'_')
}

/// Whether a value has the characters of a secret rather than of a word.
pub(super) fn looks_secret(kind: SecretFormat, value: &[u8]) -> bool {
    let (mut digits, mut lower, mut upper, mut other, mut special) = (0, 0, 0, 0, 0);
    for byte in value {
        *match byte {
            b'0'..=b'9' => &mut digits,
            b'a'..=b'z' => &mut lower,
            b'A'..=b'Z' => &mut upper,
            b'_' | b'-' | b'.' | b'/' | b':' => continue,
            0..=0x7f => &mut special,
            0x80.. => &mut other,
        } += 1;
    }
    let letters = lower + upper + other;
    if value.len() < MIN_VALUE || is_location(value) {
        return false;
    }
    if kind == SecretFormat::AwsSecretKey {
        return value.len() == AWS_SECRET_LENGTH && value.iter().all(|byte| ByteClass::Base64.has(*byte));
    }
    if kind == SecretFormat::Password && digits == value.len() {
        return true;
    }
    letters > 0 && digits > 0 && (digits > 1 || special > 0 || lower > 0 && upper > 0)
}

/// Whether a value is a path or a URL.
fn is_location(value: &[u8]) -> bool {
    matches!(value, [b'/', ..] | [b'.' | b'~', b'/', ..] | [b'.', b'.', b'/', ..])
        || value.windows(3).any(|part| part == b"://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_and_suffix_is_recognised_by_its_end() {
        let endings = KEYWORDS.iter().map(|(word, _)| *word).chain(SUFFIXES.iter().map(|(word, _)| *word));
        for ending in endings {
            assert!(may_name_secret(ending.as_bytes()), "{ending}");
            assert!(may_name_secret(format!("MY_{}", ending.to_ascii_uppercase()).as_bytes()), "{ending}");
        }
        assert!(!may_name_secret(b"city") && !may_name_secret(b"y") && !may_name_secret(b""));
    }
}
