//! Addresses of services that somebody runs or pays for.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_host::net::{EgressRule, Url};

/// The address of a service: scheme, host, port and a path. Whoever writes it down lets tools reach it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServiceUrl {
    text: String,
    opening: Option<EgressRule>,
}

impl ServiceUrl {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A place below it.
    #[must_use]
    pub fn below(&self, path: &str) -> String {
        format!("{}/{path}", self.text.trim_end_matches('/'))
    }

    /// Whether others can listen to what is said to it on the way: nothing secret goes there.
    #[must_use]
    pub fn is_overheard(&self) -> bool {
        Url::parse(&self.text).is_ok_and(|url| EgressRule::is_overheard(&url))
    }

    /// What to say where something secret would go over such a way, and what to do.
    #[must_use]
    pub fn listened_to(what: &str, key: &str) -> String {
        format!("others can listen to what goes over `http://`, {what} among it; write `https://` in `{key}`")
    }

    /// What has to be open for it to be reached where it is not public: this one origin.
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
            return Err("it begins with `http://` or `https://`".to_owned());
        }
        let has_more = !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some();
        if has_more {
            return Err(
                "it holds a user, a query or a fragment; a key has a place of its own beside it".to_owned()
            );
        }
        let place = url.host_str().zip(url.port_or_known_default());
        let opening = place.and_then(|(host, port)| format!("{host}:{port}").parse().ok());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_an_address_without_a_key_in_it() {
        let read = |text: &str| ServiceUrl::try_from(text.to_owned());
        for (text, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otlp.example/api/", "https://otlp.example/api/v1/traces"),
        ] {
            let url = read(text).unwrap();
            assert_eq!(url.below("v1/traces"), traces);
            assert!(url.opening().is_some());
        }
        for (text, is_overheard) in [
            ("http://search.example", true),
            ("HTTP://8.8.8.8/", true),
            ("https://search.example", false),
            ("http://127.0.0.1:8888", false),
            ("http://nas.lan/dav", false),
        ] {
            assert_eq!(read(text).unwrap().is_overheard(), is_overheard, "{text}");
        }
        for text in ["", "collector:4318", "ftp://a", "http://u:p@a", "http://a/?key=1", "http://a/#b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
