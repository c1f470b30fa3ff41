//! Network failures as model errors.

use toolroom::model::{ModelError, ModelErrorKind};
use toolroom_host::net::{NetError, Response, TimeoutKind, Url};

use super::endpoint::Endpoint;

/// When it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before a response.
    Request,
    /// During the answer.
    Answer,
}

/// A network failure.
pub(super) fn failed(error: NetError, endpoint: &Endpoint, stage: Stage) -> ModelError {
    let kind = kind(&error);
    let title = &endpoint.title;
    let message = match (&error, stage) {
        (NetError::BadHeader { .. }, _) => {
            format!("the key of {title} has an invalid character; set it again")
        }
        (NetError::TooLarge { limit, .. }, _) => {
            format!("the answer of {title} exceeds the limit of {limit} bytes")
        }
        (_, Stage::Answer) => format!("the answer of {title} broke off: {error}"),
        (_, Stage::Request) => format!("{title} cannot be reached: {error}"),
    };
    ModelError::new(kind, message).caused_by(error)
}

const fn kind(error: &NetError) -> ModelErrorKind {
    match error {
        NetError::Timeout { wait: TimeoutKind::Connect, .. } => ModelErrorKind::Network,
        NetError::Timeout { .. } => ModelErrorKind::Timeout,
        NetError::BadHeader { .. } => ModelErrorKind::Auth,
        // A retry cannot help.
        NetError::BadUrl(_) | NetError::BadMethod(_) | NetError::Refused { .. } => ModelErrorKind::NotFound,
        NetError::TooLarge { .. } => ModelErrorKind::Endless,
        NetError::BadLength { .. }
        | NetError::TooManyHeaders { .. }
        | NetError::Encoding { .. }
        | NetError::Protocol { .. } => ModelErrorKind::Protocol,
        _ => ModelErrorKind::Network,
    }
}

/// Adds advice if the vendor cannot be reached.
pub(super) fn unreachable(mut error: ModelError, endpoint: &Endpoint) -> ModelError {
    if let (ModelErrorKind::Network, Some(hint)) = (error.kind, &endpoint.hint) {
        error.message = format!("{}; {hint}", error.message);
    }
    error
}

/// A redirect. Not followed, because it would forward the key or the conversation.
pub(super) fn redirected(endpoint: &Endpoint, response: &Response) -> ModelError {
    let location = response.header("location").unwrap_or_default();
    let host = Url::parse(location).ok().and_then(|url| url.host_str().map(str::to_owned));
    let to = host.map(|host| format!(" to `{host}`")).unwrap_or_default();
    let message = format!(
        "{} redirects{to}, which is not followed with a key; set the base URL to the final address",
        endpoint.title
    );
    ModelError {
        status: Some(response.status.as_u16()),
        ..ModelError::new(ModelErrorKind::NotFound, message)
    }
}

/// A web page instead of an API response.
pub(super) fn no_web_page(endpoint: &Endpoint) -> ModelError {
    let message = format!("`{}` answers with a web page; set the base URL of the API", endpoint.base);
    ModelError::new(ModelErrorKind::NotFound, message)
}
