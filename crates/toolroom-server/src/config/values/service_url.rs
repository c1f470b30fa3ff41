//! URLs of services, and the check that keys are not sent unencrypted.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_host::net::{EgressRule, Url};

use crate::config::{Config, VendorKeys};

/// The URL of a service: scheme, host, port and path. Configuring it allows tools to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServiceUrl {
    text: String,
    opening: Option<EgressRule>,
}

impl ServiceUrl {
    /// The URL as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A URL below it.
    #[must_use]
    pub fn below(&self, path: &str) -> String {
        format!("{}/{path}", self.text.trim_end_matches('/'))
    }

    /// Whether it is unencrypted HTTP to a public address. No secret may be sent there.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        Url::parse(&self.text).is_ok_and(|url| EgressRule::is_overheard(&url))
    }

    /// The error message for a secret sent to an insecure URL.
    #[must_use]
    pub fn insecure_message(what: &str, key: &str) -> String {
        format!("{what} would be sent unencrypted over `http://`; use `https://` in `{key}`")
    }

    /// The network destination to open if it is not public.
    #[must_use]
    pub fn opening(&self) -> Option<&EgressRule> {
        self.opening.as_ref()
    }
}

impl TryFrom<String> for ServiceUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let url = Url::parse(text.trim()).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("must start with `http://` or `https://`".to_owned());
        }
        let has_more = !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some();
        if has_more {
            return Err("must not contain a user, query or fragment; keys have their own setting".to_owned());
        }
        let host = url.host_str().zip(url.port_or_known_default());
        let opening = host.and_then(|(host, port)| format!("{host}:{port}").parse().ok());
        Ok(Self { text: text.trim().to_owned(), opening })
    }
}

impl From<ServiceUrl> for String {
    fn from(url: ServiceUrl) -> Self {
        url.text
    }
}

impl JsonSchema for ServiceUrl {
    fn schema_name() -> Cow<'static, str> {
        "ServiceUrl".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "service-url", "pattern": "^https?://" })
    }
}

/// Services whose key would be sent to an insecure URL, each with a message.
pub(in crate::config) fn insecure_services(config: &Config) -> Vec<(&'static str, String)> {
    let Config { calendar, search, telemetry, .. } = config;
    let services = [
        ("calendar.url", calendar.url.as_ref(), calendar.password.is_some(), "the password"),
        ("search.brave.url", search.brave.url.as_ref(), search.brave.key.is_some(), "its key"),
        ("search.tavily.url", search.tavily.url.as_ref(), search.tavily.key.is_some(), "its key"),
        ("search.searxng.url", search.searxng.url.as_ref(), search.searxng.key.is_some(), "its key"),
        (
            "telemetry.otlp_endpoint",
            telemetry.otlp_endpoint.as_ref(),
            telemetry.otlp_key.is_some(),
            "the key of the collector",
        ),
    ];
    let check = |(key, url, has_key, what): (&'static str, Option<&ServiceUrl>, bool, &str)| {
        url.filter(|url| has_key && url.is_insecure())
            .map(|_| (key, format!("is insecure: {}", ServiceUrl::insecure_message(what, key))))
    };
    services.into_iter().filter_map(check).collect()
}

/// The same for a vendor, if one table has both key and URL. Checked again when a model is opened.
pub(in crate::config) fn insecure_vendor(vendor: &str, keys: &VendorKeys) -> Option<(String, String)> {
    let url = ServiceUrl::try_from(keys.base_url.clone()?).ok()?;
    let key = format!("vendor.{vendor}.base_url");
    let message = format!("is insecure: {}", ServiceUrl::insecure_message("its key", &key));
    (keys.key.is_some() && url.is_insecure()).then_some((key, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_url_contains_no_key() {
        let read = |text: &str| ServiceUrl::try_from(text.to_owned());
        for (text, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otlp.example/api/", "https://otlp.example/api/v1/traces"),
        ] {
            let url = read(text).unwrap();
            assert_eq!(url.below("v1/traces"), traces);
            assert!(url.opening().is_some());
        }
        for (text, is_insecure) in [
            ("http://search.example", true),
            ("HTTP://8.8.8.8/", true),
            ("https://search.example", false),
            ("http://127.0.0.1:8888", false),
            ("http://nas.lan/dav", false),
        ] {
            assert_eq!(read(text).unwrap().is_insecure(), is_insecure, "{text}");
        }
        for text in ["", "collector:4318", "ftp://a", "http://u:p@a", "http://a/?key=1", "http://a/#b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
