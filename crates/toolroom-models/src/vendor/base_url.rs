//! Base URLs of vendors, as users write them.
//!
//! The rule, so that addresses with and without a version both work:
//! - A bare host gets the vendor's own path (`/v1`, `/v1beta`, `/openai/v1` …).
//! - A path with a part such as `v1` or `v1beta` in it is used as it is.
//! - Any other path is used as it is by OpenAI's formats, and gets the version behind it with those of Anthropic and
//!   Google, whose own libraries expect addresses without it.
//! - What is the address of a whole endpoint (`…/chat/completions`) is cut back to its base.
//! - Without a scheme it is `http` for what runs locally, and else nothing: a key is not sent in the clear by mistake.

use std::fmt;

use thiserror::Error;
use toolroom_host::net::{EgressRule, Url};

use super::preset::{Auth, VendorPreset, WireKind};

/// Endpoint paths that users paste.
const ENDPOINTS: [&str; 4] = ["/chat/completions", "/responses", "/messages", "/completions"];

/// The base URL of a wire's endpoints, without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    opening: Option<EgressRule>,
}

/// Why an address is rejected. Never contains the whole address, because users put keys into it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BaseUrlError {
    /// It has no scheme, and none can be assumed.
    #[error("the base URL must begin with `https://` or `http://`")]
    Scheme,
    /// It is no address.
    #[error("the base URL cannot be read: {0}")]
    Unreadable(String),
    /// It holds more than an address.
    #[error("the base URL holds a user, a query or a fragment; write scheme, host and path only")]
    More,
}

impl BaseUrl {
    /// Parses the address of a vendor with this wire format.
    ///
    /// # Errors
    /// When it is no address.
    pub fn read(text: &str, preset: &VendorPreset, wire: WireKind) -> Result<Self, BaseUrlError> {
        let text = text.trim();
        let has_scheme = text.contains("://");
        let whole = match (has_scheme, preset.local) {
            (true, _) => text.to_owned(),
            (false, true) => format!("http://{text}"),
            (false, false) => return Err(BaseUrlError::Scheme),
        };
        let mut url = Url::parse(&whole).map_err(|error| BaseUrlError::Unreadable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BaseUrlError::Scheme);
        }
        if !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some()
        {
            return Err(BaseUrlError::More);
        }
        let Some(host) = url.host_str() else {
            return Err(BaseUrlError::Unreadable("it has no host".to_owned()));
        };
        // `0.0.0.0` is reached at the loopback address.
        let host = if host == "0.0.0.0" || host == "[::]" { "127.0.0.1".to_owned() } else { host.to_owned() };
        let cannot = |()| BaseUrlError::Unreadable("its host or port cannot be used".to_owned());
        url.set_host(Some(&host)).map_err(|error| BaseUrlError::Unreadable(error.to_string()))?;
        if !has_scheme && !names_port(text) {
            url.set_port(preset.port).map_err(cannot)?;
        }
        let path = path(url.path(), preset, wire);
        url.set_path("");
        let opening = url.port_or_known_default().and_then(|port| format!("{host}:{port}").parse().ok());
        let text = format!("{}{path}", url.as_str().trim_end_matches('/'));
        Ok(Self { text, opening })
    }

    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The egress rule that opens this origin.
    #[must_use]
    pub fn opening(&self) -> Option<&EgressRule> {
        self.opening.as_ref()
    }

    /// Whether it is where `other` is: the same scheme, host and port.
    pub(crate) fn is_same_origin(&self, other: &Self) -> bool {
        let origin = |url: &Self| Url::parse(&url.text).ok().map(|url| url.origin());
        origin(self) == origin(other)
    }

    /// Whether the connection is unencrypted and not local: no key is sent there.
    pub(crate) fn is_unencrypted(&self) -> bool {
        Url::parse(&self.text).is_ok_and(|url| EgressRule::is_overheard(&url))
    }

    /// The address of a wire's endpoint.
    pub(crate) fn endpoint(&self, path: &str) -> String {
        format!("{}/{path}", self.text)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn path(path: &str, preset: &VendorPreset, wire: WireKind) -> String {
    let mut path = path.trim_end_matches('/');
    if let Some(base) = ENDPOINTS.iter().find_map(|endpoint| path.strip_suffix(endpoint)) {
        path = base.trim_end_matches('/');
    }
    let has_version = path.split('/').any(is_version);
    let adds = match wire {
        // Deployments have a path of their own, which is the client's business.
        _ if preset.auth == Auth::Azure => path.is_empty(),
        WireKind::OpenaiChat | WireKind::OpenaiResponses => path.is_empty(),
        WireKind::Anthropic | WireKind::Gemini => !has_version,
    };
    match (adds, path.is_empty()) {
        (false, _) => path.to_owned(),
        (true, true) => preset.version_path.clone(),
        // The last part is the version itself; what stands before it belongs to the vendor's own host.
        (true, false) => {
            let version = preset.version_path.rsplit('/').next().unwrap_or_default();
            format!("{path}/{version}")
        }
    }
}

/// Whether an address without scheme names its port. Once it is read as one of the web, 80 is as good as none.
fn names_port(text: &str) -> bool {
    let host = text.split('/').next().unwrap_or_default();
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    host.rsplit_once(':').is_some_and(|(_, port)| is_number(port))
}

/// `v1`, `v1beta`, `v2alpha1`.
fn is_version(part: &str) -> bool {
    let Some(rest) = part.strip_prefix('v') else { return false };
    rest.starts_with(|first: char| first.is_ascii_digit()) && rest.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::preset::preset;
    use super::*;

    fn read(vendor: &str, text: &str) -> String {
        let preset = preset(vendor).unwrap();
        BaseUrl::read(text, preset, preset.wire).unwrap().to_string()
    }

    #[test]
    fn with_and_without_a_version_both_lead_to_the_same() {
        for (vendor, text, expected) in [
            ("openai", "https://api.openai.com", "https://api.openai.com/v1"),
            ("openai", "https://api.openai.com/v1/", "https://api.openai.com/v1"),
            ("openai", "http://127.0.0.1:4010/v1/chat/completions", "http://127.0.0.1:4010/v1"),
            ("openai", "https://proxy.example/llm", "https://proxy.example/llm"),
            (
                "openai",
                "https://generativelanguage.googleapis.com/v1beta/openai",
                "https://generativelanguage.googleapis.com/v1beta/openai",
            ),
            ("anthropic", "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1"),
            ("anthropic", "https://proxy.example/anthropic", "https://proxy.example/anthropic/v1"),
            ("anthropic", "https://proxy.example/anthropic/v1", "https://proxy.example/anthropic/v1"),
            ("gemini", "http://127.0.0.1:4010/", "http://127.0.0.1:4010/v1beta"),
            ("gemini", "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/v1"),
            ("groq", "https://api.groq.com", "https://api.groq.com/openai/v1"),
            ("ollama", "box", "http://box:11434/v1"),
            ("ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("ollama", "10.0.0.7:8000", "http://10.0.0.7:8000/v1"),
            ("ollama", "https://ollama.example", "https://ollama.example/v1"),
            ("ollama", "[::1]:11434", "http://[::1]:11434/v1"),
            ("azure", "https://me.openai.azure.com/", "https://me.openai.azure.com/openai"),
            ("azure", "https://me.openai.azure.com/openai/v1", "https://me.openai.azure.com/openai/v1"),
        ] {
            assert_eq!(read(vendor, text), expected, "{vendor}: {text}");
        }
    }

    #[test]
    fn the_one_origin_is_opened() {
        let opening = |text: &str| {
            let preset = preset("ollama").unwrap();
            BaseUrl::read(text, preset, preset.wire).unwrap().opening().map(ToString::to_string)
        };
        assert_eq!(opening("box").as_deref(), Some("box:11434"));
        assert_eq!(opening("https://box").as_deref(), Some("box:443"));
        assert_eq!(opening("[::1]:80").as_deref(), Some("[::1]:80"));
    }

    #[test]
    fn what_is_no_address_says_why_and_repeats_no_secret() {
        let preset = preset("openai").unwrap();
        for (text, word) in [
            ("api.openai.com", "begin with"),
            ("ftp://x", "begin with"),
            ("https://", "cannot be read"),
            ("https://me:hunter2@x.example", "scheme, host and path"),
            ("https://x.example/v1?key=hunter2", "scheme, host and path"),
        ] {
            let error = BaseUrl::read(text, preset, preset.wire).unwrap_err().to_string();
            assert!(error.contains(word) && !error.contains("hunter2"), "{text}: {error}");
        }
    }
}
