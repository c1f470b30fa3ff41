//! `[telemetry]`: where traces of `toolroom serve` go.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_host::net::{Opening, Url};

use super::KeyPlace;

/// `[telemetry]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryKeys {
    /// The collector that gets traces over OTLP/HTTP, such as `http://127.0.0.1:4318`; `OTEL_EXPORTER_OTLP_ENDPOINT` if
    /// absent, and none without both. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<CollectorUrl>,
    /// Where the key for the collector is: `secret:NAME` for what `toolroom secrets` keeps, or `$VARIABLE`. Never the
    /// key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_key: Option<KeyPlace>,
    /// The header in which that key is sent, as it is.
    pub otlp_key_header: String,
    /// What this server is called in traces; `OTEL_SERVICE_NAME` goes before it.
    pub service_name: String,
}

impl Default for TelemetryKeys {
    fn default() -> Self {
        Self {
            otlp_endpoint: None,
            otlp_key: None,
            otlp_key_header: "authorization".to_owned(),
            service_name: "toolroom".to_owned(),
        }
    }
}

/// The address of a collector: scheme, host, port and a path that `/v1/traces` is put behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CollectorUrl {
    text: String,
    opening: Option<Opening>,
}

impl CollectorUrl {
    /// Where traces are sent.
    #[must_use]
    pub fn traces(&self) -> String {
        format!("{}/v1/traces", self.text.trim_end_matches('/'))
    }

    /// What has to be open for it to be reached where it is not public: this one origin.
    #[must_use]
    pub fn opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }
}

impl TryFrom<String> for CollectorUrl {
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
            return Err("it holds a user, a query or a fragment; a key belongs into `otlp_key`".to_owned());
        }
        let place = url.host_str().zip(url.port_or_known_default());
        let opening = place.and_then(|(host, port)| format!("{host}:{port}").parse().ok());
        Ok(Self { text: text.trim().to_owned(), opening })
    }
}

impl From<CollectorUrl> for String {
    fn from(url: CollectorUrl) -> Self {
        url.text
    }
}

impl JsonSchema for CollectorUrl {
    fn schema_name() -> Cow<'static, str> {
        "CollectorUrl".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "collector-url", "pattern": "^https?://" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_address_without_a_key_in_it() {
        let read = |text: &str| CollectorUrl::try_from(text.to_owned());
        for (text, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otlp.example/api/", "https://otlp.example/api/v1/traces"),
        ] {
            let url = read(text).unwrap();
            assert_eq!(url.traces(), traces);
            assert!(url.opening().is_some());
        }
        for text in ["", "collector:4318", "ftp://a", "http://u:p@a", "http://a/?key=1", "http://a/#b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
