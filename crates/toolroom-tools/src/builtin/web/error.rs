//! What a model is told when there is no response. The client's own words may name addresses inside a network, which
//! are for the operator.

use std::error::Error;

use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{DestinationRefusal, NetError, TimeoutKind};

const OPERATOR: &str = "an operator can open it in the configuration";

/// The error of a tool. `asked` is the host that was asked for: about others a redirect has led to only what they are is
/// told.
pub(in super::super) fn told(error: NetError, asked: Option<&str>) -> ToolError {
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
    let told = ToolError::new(kind, text);
    let told = match &error {
        NetError::Refused { .. } => {
            told.with_hint("do not try other ways to the same place: all of them are refused")
        }
        NetError::TooLarge { .. } => told.with_hint(
            "ask for less, such as one page of a list or another form of the same; repeating does not help",
        ),
        NetError::OtherHost { .. } => told.with_hint(
            "ask for that address itself: after private data and untrusted content were read, each host is asked about",
        ),
        NetError::TooManyRedirects { .. } | NetError::BadRedirect { .. } => {
            told.with_hint("ask for the address it should lead to, if that is known; repeating does not help")
        }
        _ => told,
    };
    match unsaid(error) {
        Some(cause) => told.caused_by(cause),
        None => told,
    }
}

/// What the operator is told besides: where a refused place is, and causes that the text leaves out.
fn unsaid(error: NetError) -> Option<Box<dyn Error + Send + Sync>> {
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

    use super::super::sending::in_doubt;
    use super::*;

    #[test]
    fn a_refusal_says_what_it_is_and_who_can_change_it() {
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
            let error = told(client.judge(url).unwrap_err(), None);
            assert_eq!(error.kind(), kind, "{url}");
            assert!(error.for_model().contains(words), "{url}: {error}");
            assert!(!error.for_model().contains("secret"), "{error}");
            let is_refused = kind == ErrorKind::PermissionDenied;
            assert_eq!(error.for_model().contains("an operator can open it"), is_refused);
            assert_eq!(error.for_operator().is_some(), is_refused, "{url}: nothing is said twice");
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
            let error = in_doubt(told(late, None));
            assert_eq!((error.kind(), error.is_in_doubt()), (kind, is_in_doubt), "{error}");
        }
    }

    #[test]
    fn a_cause_is_told_once() {
        let source = || Arc::new(io::Error::other("because"));
        let host = || "example.org".to_owned();
        for (error, cause) in [
            (NetError::Connect { host: host(), source: source() }, None),
            (NetError::Tls { host: host(), source: source() }, None),
            (NetError::Unresolvable { host: host(), source: source() }, Some("because")),
            (NetError::Protocol { host: host(), source: source() }, Some("because")),
        ] {
            let error = told(error, None);
            assert_eq!(error.for_operator().as_deref(), cause, "{error}");
            assert_eq!(error.for_model().contains("because"), cause.is_none(), "{error}");
        }
    }

    #[test]
    fn where_a_redirect_leads_is_for_the_operator() {
        let client = Client::new(EgressPolicy::public());
        let refused = client.judge("http://10.1.2.3/").unwrap_err();
        let error = told(refused, Some("example.org"));
        assert_eq!(
            error.for_model(),
            "the place it redirects to is not reached: it is a private address; an operator can open it in the configuration"
        );
        assert!(error.for_operator().unwrap().contains("10.1.2.3"));
    }
}
