//! The network door: an HTTP client that reaches the public internet and what trusted configuration opens.
//!
//! All HTTP goes through a [`Client`] with an [`EgressPolicy`]: tools, models, MCP, webhooks, imports. No library gets a
//! connection; those with an HTTP trait of their own get an implementation over [`Http`].
//!
//! ```text
//! send     Target::judge    parses the URL once; judges scheme, host name, port, literal address
//!          EgressConnector  resolves the name, judges every address, dials one of them, verifies the peer
//!          Hop::follow      judges a redirect anew; possible credentials stay with their origin
//!          Flow, Body       count bytes before and after decoding; idle and total timeouts
//! ```
//!
//! The connector makes every connection, so it judges again for any caller. Proxies are not used, because they would
//! resolve names themselves. [`Proxy`] is one, for confined programs without another network; [`ConversationProxies`]
//! has those of all conversations.

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
