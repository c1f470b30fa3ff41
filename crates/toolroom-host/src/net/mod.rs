//! The one way to the network: an HTTP client that reaches the public internet and what trusted configuration opens.
//!
//! Everything that speaks HTTP goes through a [`Client`], made from a [`EgressPolicy`] that says how far it may go: tools,
//! models, MCP, webhooks, imports. No library is given a connection; those that bring an HTTP trait of their own get
//! an implementation of it over [`Http`].
//!
//! ```text
//! send     Target::judge   the URL is read once; scheme, host name, port, literal address are judged
//!          Gate            the name is looked up, every address judged, one of those dialled, the peer compared
//!          Hop::follow     a redirect is judged anew; what may be a credential stays with its origin
//!          Flow, Body      bytes are counted before and after decoding; silence and the whole are timed
//! ```
//!
//! The gate is what connections are made by, so it judges everything once more, whoever asks. Proxies are not used:
//! with one, somebody else would look names up. We are one ([`Proxy`]), for confined programs that have no other way out;
//! [`ConversationProxies`] are those of all conversations.

pub mod address;
mod allowance;
mod body;
mod client;
mod connector;
mod conversation_proxies;
mod egress_policy;
mod egress_rule;
mod error;
mod flow;
mod frames;
mod host_port;
mod interfaces;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod response;
mod target;
mod tls;
mod transport;

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
pub use url::Url;

pub use self::body::Body;
pub use self::client::{Client, Http};
pub use self::conversation_proxies::{ConversationProxies, ConversationProxyError, OpenedHost};
pub use self::egress_policy::{EgressPolicy, HttpLimits, RootError};
pub use self::egress_rule::{EgressRule, EgressRuleError};
pub use self::error::{DestinationRefusal, NetError, SizeMeasure, TimeoutKind, UrlProblem};
pub use self::host_port::HostPort;
pub use self::proxy::Proxy;
pub use self::request::{Request, check_header};
pub use self::resolve::{BoxFuture, Resolve, SystemResolver};
pub use self::response::Response;
pub use self::target::Target;
