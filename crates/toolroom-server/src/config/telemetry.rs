//! `[telemetry]`: where traces of `toolroom serve` go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeyPlace, ServiceUrl};

/// `[telemetry]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryKeys {
    /// The collector that gets traces over OTLP/HTTP, such as `http://127.0.0.1:4318`; `OTEL_EXPORTER_OTLP_ENDPOINT` if
    /// absent, and none without both. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<ServiceUrl>,
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
