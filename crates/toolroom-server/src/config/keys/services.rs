//! `[search]`, `[location]`, `[calendar]` and `[telemetry]`: external services.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_tools::builtin::get_location_from_ip::Locator;
use toolroom_tools::builtin::web_search::EngineKind;

use crate::config::{SecretRef, ServiceUrl};

/// `[search]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchKeys {
    /// Search engines, tried in order until one answers. Default: all with a configured key or URL.
    #[schemars(length(max = 10))]
    pub providers: Vec<EngineKind>,
    /// Brave Search. Default key: `$BRAVE_API_KEY`.
    pub brave: EngineKeys,
    /// Tavily. Default key: `$TAVILY_API_KEY`.
    pub tavily: EngineKeys,
    /// A `SearXNG` instance with JSON output. Needs a URL, and a key only if a proxy in front of it does.
    pub searxng: EngineKeys,
}

impl SearchKeys {
    /// The keys of an engine.
    #[must_use]
    pub fn of(&self, engine: EngineKind) -> &EngineKeys {
        match engine {
            EngineKind::Brave => &self.brave,
            EngineKind::Tavily => &self.tavily,
            EngineKind::Searxng => &self.searxng,
        }
    }
}

/// `[search.<engine>]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineKeys {
    /// API key: `secret:NAME` for a secret of `toolroom secrets`, or `$VARIABLE`. Never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretRef>,
    /// URL, if not the default. May be a private address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
}

/// `[location]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocationKeys {
    /// Geolocation service. It receives only the public IP address of this machine.
    pub provider: Locator,
    /// URL of the service, if not the default. May be a private address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
}

/// `[calendar]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalendarKeys {
    /// `CalDAV` collection for `create_calendar_event`. Default: events are files in the workspace. May be a private
    /// address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
    /// User name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Password: `secret:NAME` for a secret of `toolroom secrets`, or `$VARIABLE`. Never the password itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretRef>,
}

/// `[telemetry]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryKeys {
    /// OTLP/HTTP endpoint for traces, such as `http://127.0.0.1:4318`. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`; without
    /// either, no traces are sent. May be a private address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<ServiceUrl>,
    /// Key of the collector: `secret:NAME` for a secret of `toolroom secrets`, or `$VARIABLE`. Never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_key: Option<SecretRef>,
    /// Header that carries the key.
    pub otlp_key_header: String,
    /// Service name in traces. `OTEL_SERVICE_NAME` takes precedence.
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
