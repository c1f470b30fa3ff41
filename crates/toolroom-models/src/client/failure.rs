//! What goes wrong on the way to a vendor, as models report it.

use toolroom::model::{ModelError, ModelErrorKind};
use toolroom_host::net::{NetError, Response, TimeoutKind, Url};

use super::endpoint::Endpoint;

/// How far it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing has come back.
    Request,
    /// The answer was on its way.
    Answer,
}

/// A failure of the network.
pub(super) fn failed(error: NetError, endpoint: &Endpoint, stage: Stage) -> ModelError {
    let kind = kind(&error);
    let title = &endpoint.title;
    let message = match (&error, stage) {
        (NetError::BadHeader { .. }, _) => {
            format!("the key of {title} holds a character that no key holds; set it anew")
        }
        (NetError::TooLarge { limit, .. }, _) => {
            format!("the answer of {title} does not end: {limit} bytes are the most that is taken")
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
        // Nothing of this passes by itself.
        NetError::BadUrl(_) | NetError::BadMethod(_) | NetError::Refused { .. } => ModelErrorKind::NotFound,
        NetError::TooLarge { .. } => ModelErrorKind::Endless,
        NetError::BadLength { .. }
        | NetError::TooManyHeaders { .. }
        | NetError::Encoding { .. }
        | NetError::Protocol { .. } => ModelErrorKind::Protocol,
        _ => ModelErrorKind::Network,
    }
}

/// With what to do, where nobody listens at all.
pub(super) fn unreachable(mut error: ModelError, endpoint: &Endpoint) -> ModelError {
    if let (ModelErrorKind::Network, Some(hint)) = (error.kind, &endpoint.hint) {
        error.message = format!("{}; {hint}", error.message);
    }
    error
}

/// A redirect, which is not followed: the key would go along, or the conversation.
pub(super) fn redirected(endpoint: &Endpoint, response: &Response) -> ModelError {
    let location = response.header("location").unwrap_or_default();
    let host = Url::parse(location).ok().and_then(|url| url.host_str().map(str::to_owned));
    let to = host.map(|host| format!(" to `{host}`")).unwrap_or_default();
    let message = format!(
        "{} redirects{to}, which is not followed with a key; set the base URL to where it really is",
        endpoint.title
    );
    ModelError {
        status: Some(response.status.as_u16()),
        ..ModelError::new(ModelErrorKind::NotFound, message)
    }
}

/// A page for people, where an answer for programs was asked for.
pub(super) fn no_web_page(endpoint: &Endpoint) -> ModelError {
    let message = format!("`{}` answers with a web page; set the base URL of the API", endpoint.base);
    ModelError::new(ModelErrorKind::NotFound, message)
}
