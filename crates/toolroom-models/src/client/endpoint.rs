//! A vendor's address and authentication.

use toolroom::redact::Secret;
use toolroom_host::net::{NetError, Request};

use crate::vendor::{Auth, BaseUrl, WireKind};
use crate::wire::{WireOptions, escaped};

/// Shorter keys are not redacted in error messages, because they occur in ordinary words.
const MIN_HIDDEN_BYTES: usize = 6;

/// A vendor's address and authentication. The key is never shown.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The vendor's display name.
    pub title: String,
    /// The wire format.
    pub wire: WireKind,
    /// The base URL.
    pub base: BaseUrl,
    /// The authentication scheme.
    pub auth: Auth,
    /// The key, if there is one.
    pub key: Option<Secret>,
    /// The version of the API, if one is required.
    pub api_version: Option<String>,
    /// Advice if it cannot be reached.
    pub hint: Option<String>,
}

impl Endpoint {
    /// The request with this body.
    pub(super) fn request(&self, options: &WireOptions, body: String) -> Result<Request, NetError> {
        let mut request = Request::post(self.url(options), body)
            .header("content-type", "application/json")?
            .header("accept", "text/event-stream, application/json")?
            // Compression delays events.
            .header("accept-encoding", "identity")?;
        if let (Auth::Anthropic, Some(version)) = (self.auth, &self.api_version) {
            request = request.header("anthropic-version", version)?;
        }
        let Some(key) = self.key.as_ref().map(|key| key.expose().trim()) else { return Ok(request) };
        match self.auth {
            Auth::Bearer => request.secret_header("authorization", &format!("Bearer {key}")),
            Auth::Anthropic => request.secret_header("x-api-key", key),
            Auth::Google => request.secret_header("x-goog-api-key", key),
            Auth::Azure => request.secret_header("api-key", key),
        }
    }

    fn url(&self, options: &WireOptions) -> String {
        let path = self.wire.wire().path(options);
        if self.auth != Auth::Azure {
            return self.base.endpoint(&path);
        }
        // The newer API is below `/openai/v1` and has the model in the body; the older one has deployments.
        let url = match self.base.as_str().ends_with("/v1") {
            true => return self.base.endpoint(&path),
            false => self.base.endpoint(&format!("deployments/{}/{path}", escaped(&options.model))),
        };
        match &self.api_version {
            Some(version) => format!("{url}?api-version={}", escaped(version)),
            None => url,
        }
    }

    /// Removes the key from a text. Vendors repeat it in errors.
    pub(super) fn hide_key(&self, text: &mut String) {
        let key = self.key.as_ref().map(|key| key.expose().trim()).unwrap_or_default();
        if key.len() >= MIN_HIDDEN_BYTES && text.contains(key) {
            *text = text.replace(key, "***");
        }
    }
}
