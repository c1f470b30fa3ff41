//! Keys with their issuer's prefix. A new issuer is one line in the table.

use super::super::text::Text;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::format::SecretFormat;

/// A key with a prefix.
pub(super) struct PrefixedKey {
    format: SecretFormat,
    pub(super) prefix: &'static str,
    edge: Edge,
    body: KeyBody,
    /// Bytes of the prefix that stay visible.
    visible: usize,
}

/// Where a prefix may occur.
#[derive(Clone, Copy)]
enum Edge {
    /// At the beginning of a word.
    Word,
    /// Also inside a word, because it is unmistakable.
    Anywhere,
}

/// What follows a prefix.
#[derive(Clone, Copy)]
enum KeyBody {
    /// At least this many characters of a class.
    Least(ByteClass, usize),
    /// The same with a digit among the first ones; without a digit it is a name.
    Digits(ByteClass, usize),
    /// At least this many letters and digits, some of both, because the prefix is ambiguous.
    Solid(usize),
    /// Exactly this many characters of a class.
    Exactly(ByteClass, usize),
}

/// Bytes searched for a digit.
const DECIDED: usize = 64;

/// `SG.`, an id, a dot, the key.
pub(super) const SENDGRID: &str = "SG.";

/// Followed by an account's 32 hex digits.
pub(super) const TWILIO: &str = "SK";

/// Every prefix; longer ones before those they begin with.
pub(super) static PREFIXED_KEYS: &[PrefixedKey] = &{
    use ByteClass::{Alnum, Base64, Capital, Hex, Path, Token, Word};
    use Edge::Anywhere;
    use KeyBody::{Digits, Exactly, Least, Solid};
    [
        PrefixedKey::new(SecretFormat::AwsKeyId, "AKIA", Exactly(Capital, 16)),
        PrefixedKey::new(SecretFormat::AwsKeyId, "ASIA", Exactly(Capital, 16)),
        PrefixedKey::new(SecretFormat::AwsKeyId, "ABIA", Exactly(Capital, 16)),
        PrefixedKey::new(SecretFormat::AwsKeyId, "ACCA", Exactly(Capital, 16)),
        PrefixedKey::new(SecretFormat::GithubToken, "ghp_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GithubToken, "gho_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GithubToken, "ghu_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GithubToken, "ghs_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GithubToken, "ghr_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GithubToken, "github_pat_", Least(Word, 22)).at(Anywhere),
        PrefixedKey::new(SecretFormat::GitlabToken, "glpat-", Least(Token, 20)).at(Anywhere),
        PrefixedKey::new(SecretFormat::StripeKey, "sk_live_", Least(Alnum, 16)).at(Anywhere),
        PrefixedKey::new(SecretFormat::StripeKey, "sk_test_", Least(Alnum, 16)).at(Anywhere),
        PrefixedKey::new(SecretFormat::StripeKey, "rk_live_", Least(Alnum, 16)).at(Anywhere),
        PrefixedKey::new(SecretFormat::StripeKey, "rk_test_", Least(Alnum, 16)).at(Anywhere),
        PrefixedKey::new(SecretFormat::WebhookSecret, "whsec_", Least(Base64, 24)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxa-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxb-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxc-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxd-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxe-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxp-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxr-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xoxs-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackToken, "xapp-", Digits(Token, 10)).at(Anywhere),
        PrefixedKey::new(SecretFormat::SlackWebhook, "hooks.slack.com/", Digits(Path, 24))
            .at(Anywhere)
            .with_visible_prefix(),
        PrefixedKey::new(SecretFormat::AnthropicKey, "sk-ant-", Least(Token, 20)).at(Anywhere),
        PrefixedKey::new(SecretFormat::OpenaiKey, "sk-proj-", Least(Token, 20)),
        PrefixedKey::new(SecretFormat::OpenaiKey, "sk-svcacct-", Least(Token, 20)),
        PrefixedKey::new(SecretFormat::OpenaiKey, "sk-admin-", Least(Token, 20)),
        PrefixedKey::new(SecretFormat::OpenaiKey, "sk-", Solid(20)),
        PrefixedKey::new(SecretFormat::GoogleKey, "AIza", Least(Token, 35)),
        PrefixedKey::new(SecretFormat::GoogleKey, "GOCSPX-", Least(Token, 20)),
        PrefixedKey::new(SecretFormat::GoogleToken, "ya29.", Least(Token, 20)),
        PrefixedKey::new(SecretFormat::HuggingFaceToken, "hf_", Least(Alnum, 30)),
        PrefixedKey::new(SecretFormat::NpmToken, "npm_", Least(Alnum, 36)).at(Anywhere),
        PrefixedKey::new(SecretFormat::PypiToken, "pypi-", Least(Token, 50)).at(Anywhere),
        PrefixedKey::new(SecretFormat::DigitaloceanToken, "dop_v1_", Least(Hex, 64)).at(Anywhere),
        PrefixedKey::new(SecretFormat::DigitaloceanToken, "doo_v1_", Least(Hex, 64)).at(Anywhere),
        PrefixedKey::new(SecretFormat::DigitaloceanToken, "dor_v1_", Least(Hex, 64)).at(Anywhere),
        PrefixedKey::new(SecretFormat::ToolroomKey, "trk_prod_", Least(Alnum, 30)).at(Anywhere),
        PrefixedKey::new(SecretFormat::ToolroomKey, "trk_test_", Least(Alnum, 30)).at(Anywhere),
        PrefixedKey::new(SecretFormat::ToolroomKey, "tru_", Least(Token, 40)).at(Anywhere),
        PrefixedKey::new(SecretFormat::TwilioKey, TWILIO, Exactly(Hex, 32)),
    ]
};

impl PrefixedKey {
    const fn new(format: SecretFormat, prefix: &'static str, body: KeyBody) -> Self {
        Self { format, prefix, edge: Edge::Word, body, visible: 0 }
    }

    const fn at(self, edge: Edge) -> Self {
        Self { edge, ..self }
    }

    /// Keeps the prefix visible: it is not secret and names the issuer.
    const fn with_visible_prefix(self) -> Self {
        Self { visible: self.prefix.len(), ..self }
    }

    /// Whether `byte` may be at this position of the first three.
    pub(super) const fn begins(&self, position: usize, byte: u8) -> bool {
        let prefix = self.prefix.as_bytes();
        #[expect(clippy::indexing_slicing, reason = "the length is looked at first")]
        if position < prefix.len() {
            return prefix[position] == byte;
        }
        match self.body {
            KeyBody::Least(class, _) | KeyBody::Digits(class, _) | KeyBody::Exactly(class, _) => {
                class.has(byte)
            }
            KeyBody::Solid(_) => ByteClass::Alnum.has(byte),
        }
    }

    pub(super) fn check(&self, text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
        let mut cursor = Cursor::new(text, at);
        cursor.literal(self.prefix)?;
        if matches!(self.edge, Edge::Word) && !text.is_edge(at) {
            return Err(Miss::Other);
        }
        let start = at + self.visible;
        let class = match self.body {
            KeyBody::Least(class, least) => {
                cursor.beginning(class, least, least)?;
                class
            }
            KeyBody::Digits(class, least) => {
                let beginning = cursor.beginning(class, least, DECIDED)?;
                if !beginning.iter().any(u8::is_ascii_digit) {
                    return Err(Miss::Other);
                }
                class
            }
            KeyBody::Solid(least) => {
                let beginning = cursor.beginning(ByteClass::Alnum, least, least)?;
                let digits = beginning.iter().filter(|byte| byte.is_ascii_digit()).count();
                if digits == 0 || digits == least {
                    return Err(Miss::Other);
                }
                ByteClass::Token
            }
            KeyBody::Exactly(class, length) => {
                cursor.run(class, length..=length)?;
                let ends = cursor.peek()?.is_none_or(|byte| !ByteClass::Word.has(byte));
                return if ends { Ok(cursor.hide_to_here(self.format, start)) } else { Err(Miss::Other) };
            }
        };
        Ok(cursor.hide(self.format, start, Extent::Run(class)))
    }
}

/// `SG.` and two parts.
pub(super) fn sendgrid(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(SENDGRID)?;
    if !text.is_edge(at) {
        return Err(Miss::Other);
    }
    cursor.run(ByteClass::Token, 16..=32)?;
    cursor.literal(".")?;
    cursor.beginning(ByteClass::Token, 32, 32)?;
    Ok(cursor.hide(SecretFormat::SendgridKey, at, Extent::Run(ByteClass::Token)))
}
