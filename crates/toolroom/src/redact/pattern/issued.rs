//! Keys that begin with the mark of who issued them. One more issuer is one more line.

use super::super::text::Text;
use super::class::Class;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::kind::Kind;

/// A key with a prefix.
pub(super) struct Issued {
    kind: Kind,
    pub(super) prefix: &'static str,
    edge: Edge,
    body: Body,
    /// How much of the prefix stays visible.
    shown: usize,
}

/// Where a prefix may stand.
#[derive(Clone, Copy)]
enum Edge {
    /// Where a word begins.
    Word,
    /// Also inside a word: it is like nothing else.
    Anywhere,
}

/// What has to follow a prefix.
#[derive(Clone, Copy)]
enum Body {
    /// So many characters of a class, or more.
    Least(Class, usize),
    /// The same, with a digit among the first ones: without any it is a name.
    Digits(Class, usize),
    /// So many letters and digits, some of both, before anything else: the prefix says little.
    Solid(usize),
    /// Exactly so many.
    Exactly(Class, usize),
}

/// As many bytes tell whether there are digits.
const DECIDED: usize = 64;

/// `SG.`, an id, a dot, the key.
pub(super) const SENDGRID: &str = "SG.";

/// Followed by an account's 32 hex digits.
pub(super) const TWILIO: &str = "SK";

/// Every prefix; longer ones before those they begin with.
pub(super) static ISSUED: &[Issued] = &{
    use Body::{Digits, Exactly, Least, Solid};
    use Class::{Alnum, Base64, Capital, Hex, Path, Token, Word};
    use Edge::Anywhere;
    [
        Issued::new(Kind::AwsKeyId, "AKIA", Exactly(Capital, 16)),
        Issued::new(Kind::AwsKeyId, "ASIA", Exactly(Capital, 16)),
        Issued::new(Kind::AwsKeyId, "ABIA", Exactly(Capital, 16)),
        Issued::new(Kind::AwsKeyId, "ACCA", Exactly(Capital, 16)),
        Issued::new(Kind::GithubToken, "ghp_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::GithubToken, "gho_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::GithubToken, "ghu_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::GithubToken, "ghs_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::GithubToken, "ghr_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::GithubToken, "github_pat_", Least(Word, 22)).at(Anywhere),
        Issued::new(Kind::GitlabToken, "glpat-", Least(Token, 20)).at(Anywhere),
        Issued::new(Kind::StripeKey, "sk_live_", Least(Alnum, 16)).at(Anywhere),
        Issued::new(Kind::StripeKey, "sk_test_", Least(Alnum, 16)).at(Anywhere),
        Issued::new(Kind::StripeKey, "rk_live_", Least(Alnum, 16)).at(Anywhere),
        Issued::new(Kind::StripeKey, "rk_test_", Least(Alnum, 16)).at(Anywhere),
        Issued::new(Kind::WebhookSecret, "whsec_", Least(Base64, 24)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxa-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxb-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxc-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxd-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxe-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxp-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxr-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xoxs-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackToken, "xapp-", Digits(Token, 10)).at(Anywhere),
        Issued::new(Kind::SlackWebhook, "hooks.slack.com/", Digits(Path, 24)).at(Anywhere).shown(),
        Issued::new(Kind::AnthropicKey, "sk-ant-", Least(Token, 20)).at(Anywhere),
        Issued::new(Kind::OpenaiKey, "sk-proj-", Least(Token, 20)),
        Issued::new(Kind::OpenaiKey, "sk-svcacct-", Least(Token, 20)),
        Issued::new(Kind::OpenaiKey, "sk-admin-", Least(Token, 20)),
        Issued::new(Kind::OpenaiKey, "sk-", Solid(20)),
        Issued::new(Kind::GoogleKey, "AIza", Least(Token, 35)),
        Issued::new(Kind::GoogleKey, "GOCSPX-", Least(Token, 20)),
        Issued::new(Kind::GoogleToken, "ya29.", Least(Token, 20)),
        Issued::new(Kind::HuggingFaceToken, "hf_", Least(Alnum, 30)),
        Issued::new(Kind::NpmToken, "npm_", Least(Alnum, 36)).at(Anywhere),
        Issued::new(Kind::PypiToken, "pypi-", Least(Token, 50)).at(Anywhere),
        Issued::new(Kind::DigitaloceanToken, "dop_v1_", Least(Hex, 64)).at(Anywhere),
        Issued::new(Kind::DigitaloceanToken, "doo_v1_", Least(Hex, 64)).at(Anywhere),
        Issued::new(Kind::DigitaloceanToken, "dor_v1_", Least(Hex, 64)).at(Anywhere),
        Issued::new(Kind::ToolroomKey, "trk_prod_", Least(Alnum, 30)).at(Anywhere),
        Issued::new(Kind::ToolroomKey, "trk_test_", Least(Alnum, 30)).at(Anywhere),
        Issued::new(Kind::ToolroomKey, "tru_", Least(Token, 40)).at(Anywhere),
        Issued::new(Kind::TwilioKey, TWILIO, Exactly(Hex, 32)),
    ]
};

impl Issued {
    const fn new(kind: Kind, prefix: &'static str, body: Body) -> Self {
        Self { kind, prefix, edge: Edge::Word, body, shown: 0 }
    }

    const fn at(self, edge: Edge) -> Self {
        Self { edge, ..self }
    }

    /// The prefix is no secret and says where the secret belongs.
    const fn shown(self) -> Self {
        Self { shown: self.prefix.len(), ..self }
    }

    /// The bytes that may come at `place` of the first three.
    pub(super) const fn begins(&self, place: usize, byte: u8) -> bool {
        let prefix = self.prefix.as_bytes();
        #[expect(clippy::indexing_slicing, reason = "the length is looked at first")]
        if place < prefix.len() {
            return prefix[place] == byte;
        }
        match self.body {
            Body::Least(class, _) | Body::Digits(class, _) | Body::Exactly(class, _) => class.has(byte),
            Body::Solid(_) => Class::Alnum.has(byte),
        }
    }

    pub(super) fn check(&self, text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
        let mut cursor = Cursor::new(text, at);
        cursor.literal(self.prefix)?;
        if matches!(self.edge, Edge::Word) && !text.is_edge(at) {
            return Err(Miss::Other);
        }
        let start = at + self.shown;
        let class = match self.body {
            Body::Least(class, least) => {
                cursor.beginning(class, least, least)?;
                class
            }
            Body::Digits(class, least) => {
                let beginning = cursor.beginning(class, least, DECIDED)?;
                if !beginning.iter().any(u8::is_ascii_digit) {
                    return Err(Miss::Other);
                }
                class
            }
            Body::Solid(least) => {
                let beginning = cursor.beginning(Class::Alnum, least, least)?;
                let digits = beginning.iter().filter(|byte| byte.is_ascii_digit()).count();
                if digits == 0 || digits == least {
                    return Err(Miss::Other);
                }
                Class::Token
            }
            Body::Exactly(class, length) => {
                cursor.run(class, length..=length)?;
                let ends = cursor.peek()?.is_none_or(|byte| !Class::Word.has(byte));
                return if ends { Ok(cursor.hide_to_here(self.kind, start)) } else { Err(Miss::Other) };
            }
        };
        Ok(cursor.hide(self.kind, start, Extent::Run(class)))
    }
}

/// `SG.` and two parts.
pub(super) fn sendgrid(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(SENDGRID)?;
    if !text.is_edge(at) {
        return Err(Miss::Other);
    }
    cursor.run(Class::Token, 16..=32)?;
    cursor.literal(".")?;
    cursor.beginning(Class::Token, 32, 32)?;
    Ok(cursor.hide(Kind::SendgridKey, at, Extent::Run(Class::Token)))
}
