//! The collector of traces: configuration, `OTEL_*` variables and secrets joined.

use anyhow::{Context, anyhow};
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom_host::environment;
use toolroom_host::net::{EgressRule, Request};

use crate::config::{Config, ServiceUrl};
use crate::vault::Vault;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// A collector of traces.
#[derive(Debug, Clone)]
pub(crate) struct Collector {
    pub(super) url: String,
    /// The egress rule for its origin.
    pub(super) opening: Option<EgressRule>,
    pub(super) headers: Vec<(String, Secret)>,
    /// `service.name`.
    pub(super) service: String,
}

impl Collector {
    /// The collector of this configuration and of the environment, if there is one.
    ///
    /// # Errors
    /// When its configuration is invalid, so that traces are not lost silently.
    pub(crate) async fn find(config: &Config, vault: &Vault) -> anyhow::Result<Option<Self>> {
        let keys = &config.telemetry;
        let url = match (&keys.otlp_endpoint, environment::variable(ENDPOINT)) {
            (Some(url), _) => url.clone(),
            (None, Some(text)) => ServiceUrl::try_from(text)
                .map_err(|why| anyhow!("the variable {ENDPOINT} is not the URL of a collector: {why}"))?,
            (None, None) => return Ok(None),
        };
        let mut headers = match environment::variable(HEADERS) {
            Some(text) => {
                parse_headers(&text).with_context(|| format!("the variable {HEADERS} cannot be read"))?
            }
            None => Vec::new(),
        };
        if let Some(place) = &keys.otlp_key {
            let key = vault.key(place, &ProjectId::default()).await?;
            let key = key.map_err(|missing| anyhow!("`telemetry.otlp_key`: {missing}"))?;
            headers.push((keys.otlp_key_header.clone(), key));
        }
        for (name, value) in &headers {
            // Checks that the header is valid.
            Request::post("http://collector.invalid", "").secret_header(name, value.expose())?;
        }
        Ok(Some(Self {
            url: url.below("v1/traces"),
            opening: url.opening().cloned(),
            headers,
            service: environment::variable(SERVICE).unwrap_or_else(|| keys.service_name.clone()),
        }))
    }

    /// Values to redact.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        self.headers.iter().map(|(_, value)| value.clone())
    }
}

/// Parses `name=value,name=value` with percent-encoded values.
fn parse_headers(text: &str) -> anyhow::Result<Vec<(String, Secret)>> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            // The text holds a key, so errors do not quote it.
            let (name, value) =
                pair.split_once('=').context("write `name=value`, with commas between them")?;
            let value = unescaped(value.trim()).context("a value is not percent-encoded correctly")?;
            Ok((name.trim().to_owned(), Secret::new(format!("${HEADERS}"), value)))
        })
        .collect()
}

fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.extend(hex::decode(digits).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod settings_tests {
    use super::*;

    #[test]
    fn headers_are_read_as_every_exporter_reads_them() {
        let read = |text: &str| -> Option<Vec<(String, String)>> {
            let headers = parse_headers(text).ok()?;
            Some(headers.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect())
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            read("authorization=Basic%20YWI6Yw==, x-team = a,"),
            Some(vec![pair("authorization", "Basic YWI6Yw=="), pair("x-team", "a")])
        );
        assert_eq!(read(""), Some(Vec::new()));
        for wrong in ["x", "x=%2", "x=%zz", "x=%ff"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
