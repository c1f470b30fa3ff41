//! Network errors as tool errors. The client's own text may name internal addresses, which only the operator sees.

use std::error::Error;

use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{DestinationRefusal, NetError, TimeoutKind};

const OPERATOR: &str = "an operator can open it in the configuration";

/// The error for a model. `asked` is the requested host: other hosts, reached by redirects, are described but not named.
pub(in super::super) fn net_error(error: NetError, asked: Option<&str>) -> ToolError {
    let (kind, text) = match &error {
        NetError::Refused { host, refusal } => {
            let is_asked = asked.is_none_or(|asked| asked == host);
            (ErrorKind::PermissionDenied, refused(host, refusal, is_asked))
        }
        NetError::BadUrl(_) | NetError::BadHeader { .. } | NetError::BadMethod(_) => {
            (ErrorKind::InvalidArguments, error.to_string())
        }
        NetError::Unresolvable { .. }
        | NetError::Connect { .. }
        | NetError::Tls { .. }
        | NetError::NoRoots
        // Nothing was sent yet, so nothing is in doubt.
        | NetError::Timeout { wait: TimeoutKind::Connect, .. } => (ErrorKind::Unreachable, error.to_string()),
        NetError::Timeout { .. } => (ErrorKind::Timeout, error.to_string()),
        NetError::TooLarge { .. } => (ErrorKind::Tool, error.to_string()),
        _ => (ErrorKind::Upstream, error.to_string()),
    };
    let tool_error = ToolError::new(kind, text);
    let tool_error = match &error {
        NetError::Refused { .. } => {
            tool_error.with_hint("do not try other ways to reach the same host: all of them are refused")
        }
        NetError::TooLarge { .. } => tool_error.with_hint(
            "request less, such as one page of a list or a smaller format; repeating the request does not help",
        ),
        NetError::OtherHost { .. } => tool_error.with_hint(
            "request that address directly: after private data and untrusted content were read, each host needs approval",
        ),
        NetError::TooManyRedirects { .. } | NetError::BadRedirect { .. } => {
            tool_error.with_hint("request the final address directly, if it is known; repeating does not help")
        }
        _ => tool_error,
    };
    match operator_cause(error) {
        Some(cause) => tool_error.caused_by(cause),
        None => tool_error,
    }
}

/// The cause for the operator: where a refused host is, and sources the text leaves out.
fn operator_cause(error: NetError) -> Option<Box<dyn Error + Send + Sync>> {
    match error {
        NetError::Refused { .. } => Some(error.into()),
        NetError::Unresolvable { source, .. } => Some(source.into()),
        NetError::Protocol { source, .. } => Some(source.into()),
        _ => None,
    }
}

fn refused(host: &str, refusal: &DestinationRefusal, is_asked: bool) -> String {
    let place = if is_asked { format!("`{host}`") } else { "the place it redirects to".to_owned() };
    match refusal {
        DestinationRefusal::Address { special, name, .. } => {
            let is = if name.is_some() { "leads to" } else { "is" };
            format!("{place} is not reached: it {is} {}; {OPERATOR}", special.kind)
        }
        DestinationRefusal::Own { .. } => format!("{place} is not reached: it is this machine; {OPERATOR}"),
        DestinationRefusal::Name { .. } | DestinationRefusal::Suffix { .. } => {
            format!("{place} is not reached: its name is that of something internal; {OPERATOR}")
        }
        DestinationRefusal::Port { port, service, .. } => {
            format!("{place} is not reached: port {port} is not for the web ({service}); {OPERATOR}")
        }
        DestinationRefusal::Downgrade | DestinationRefusal::OtherOrigin => {
            format!("{place} is not reached: {refusal}")
        }
        _ => format!("{place} is not reached: it is not where it should be"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;

    use toolroom_host::net::{Client, EgressPolicy};

    use super::super::methods::in_doubt;
    use super::*;

    #[test]
    fn a_refusal_names_its_reason_and_the_remedy() {
        let client = Client::new(EgressPolicy::public());
        for (url, kind, words) in [
            (
                "http://10.1.2.3/",
                ErrorKind::PermissionDenied,
                "`10.1.2.3` is not reached: it is a private address",
            ),
            (
                "http://0x7f.1/",
                ErrorKind::PermissionDenied,
                "`127.0.0.1` is not reached: it is a loopback address",
            ),
            ("http://localhost/", ErrorKind::PermissionDenied, "its name is that of something internal"),
            ("http://example.org:22/", ErrorKind::PermissionDenied, "port 22 is not for the web"),
            ("ftp://example.org/", ErrorKind::InvalidArguments, "only http and https"),
            ("http://me:secret@example.org/", ErrorKind::InvalidArguments, "send credentials in a header"),
            ("nonsense", ErrorKind::InvalidArguments, "the URL cannot be used"),
        ] {
            let error = net_error(client.judge(url).unwrap_err(), None);
            assert_eq!(error.kind(), kind, "{url}");
            assert!(error.for_model().contains(words), "{url}: {error}");
            assert!(!error.for_model().contains("secret"), "{error}");
            let is_refused = kind == ErrorKind::PermissionDenied;
            assert_eq!(error.for_model().contains("an operator can open it"), is_refused);
            assert_eq!(error.for_operator().is_some(), is_refused, "{url}: no duplicate cause");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn only_what_may_have_been_sent_is_in_doubt() {
        for (wait, kind, is_in_doubt) in [
            (TimeoutKind::Connect, ErrorKind::Unreachable, false),
            (TimeoutKind::Idle, ErrorKind::Timeout, true),
            (TimeoutKind::Total, ErrorKind::Timeout, true),
        ] {
            let late =
                NetError::Timeout { host: "example.org".to_owned(), wait, limit: Duration::from_secs(1) };
            let error = in_doubt(net_error(late, None));
            assert_eq!((error.kind(), error.is_in_doubt()), (kind, is_in_doubt), "{error}");
        }
    }

    #[test]
    fn a_cause_is_reported_once() {
        let source = || Arc::new(io::Error::other("because"));
        let host = || "example.org".to_owned();
        for (error, cause) in [
            (NetError::Connect { host: host(), source: source() }, None),
            (NetError::Tls { host: host(), source: source() }, None),
            (NetError::Unresolvable { host: host(), source: source() }, Some("because")),
            (NetError::Protocol { host: host(), source: source() }, Some("because")),
        ] {
            let error = net_error(error, None);
            assert_eq!(error.for_operator().as_deref(), cause, "{error}");
            assert_eq!(error.for_model().contains("because"), cause.is_none(), "{error}");
        }
    }

    #[test]
    fn the_target_of_a_redirect_is_reported_to_the_operator_only() {
        let client = Client::new(EgressPolicy::public());
        let refused = client.judge("http://10.1.2.3/").unwrap_err();
        let error = net_error(refused, Some("example.org"));
        assert_eq!(
            error.for_model(),
            "the place it redirects to is not reached: it is a private address; an operator can open it in the configuration"
        );
        assert!(error.for_operator().unwrap().contains("10.1.2.3"));
    }
}
