//! `get_location_from_ip`: the approximate location of this machine.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::tool::{
    Capability, Effect, ErrorKind, IdError, NoArguments, Timeout, Tool, ToolError, tool_fn,
};
use toolroom_host::net::{EgressRule, Request};

use super::web::{Web, exchange, net_error};

const ID: &str = "builtin:get_location_from_ip";

const DESCRIPTION: &str = "Get the approximate location of this machine from its public IP address: city, region, \
    country, coordinates and time zone.";

const LIMIT: Duration = Duration::from_secs(10);

/// Maximum characters of each text in a response.
const MAX_CHARS: usize = 200;

/// The supported services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Locator {
    /// ipwho.is
    #[default]
    Ipwhois,
    /// ipapi.co
    Ipapi,
    /// ipinfo.io
    Ipinfo,
}

impl Locator {
    const fn usual_url(self) -> &'static str {
        match self {
            Self::Ipwhois => "https://ipwho.is/",
            Self::Ipapi => "https://ipapi.co/json/",
            Self::Ipinfo => "https://ipinfo.io/json",
        }
    }
}

/// The configured service.
#[derive(Debug, Clone, Default)]
pub struct LocationService {
    /// The service.
    pub locator: Locator,
    /// Its address, if not the default.
    pub url: Option<String>,
    /// Opens the address if it is not public.
    pub opening: Option<EgressRule>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Location {
    success: bool,
    city: Option<String>,
    region: Option<String>,
    country: Option<String>,
    country_code: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    timezone: Option<String>,
    zip: Option<String>,
    isp: Option<String>,
    ip: Option<String>,
}

/// A response of any of the services; each omits some fields.
#[derive(Deserialize)]
struct ServiceResponse {
    success: Option<bool>,
    /// Set by ipapi.co on failure.
    error: Option<serde_json::Value>,
    #[serde(alias = "reason")]
    message: Option<String>,
    ip: Option<String>,
    city: Option<String>,
    region: Option<String>,
    /// A name, or a code if `country_name` is set.
    country: Option<String>,
    country_name: Option<String>,
    country_code: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    /// Latitude and longitude in one text.
    loc: Option<String>,
    postal: Option<String>,
    timezone: Option<ServiceTimeZone>,
    connection: Option<Connection>,
    org: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ServiceTimeZone {
    Name(String),
    Described { id: Option<String> },
}

#[derive(Deserialize)]
struct Connection {
    isp: Option<String>,
}

pub(super) fn tool(web: Arc<Web>, service: LocationService) -> Result<Arc<dyn Tool>, IdError> {
    let service = Arc::new(service);
    let tool = tool_fn(ID, DESCRIPTION, move |_, _: NoArguments| {
        let (web, service) = (Arc::clone(&web), Arc::clone(&service));
        async move { located(&web, &service).await }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Location")
            .effect(Effect::Read)
            // The location is private, and a third party reports it. Nothing from the caller is sent.
            .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted])
            .timeout(Timeout::After(LIMIT + Duration::from_secs(10)))
            .when_to_use("the answer depends on where the user is, and the location is unknown")
            .category("location", &["location", "city", "country", "ip", "where"])
            .usage_example("where am I?")
            .usage_example("what is the weather like here?")
    })))
}

async fn located(web: &Web, service: &LocationService) -> Result<Location, ToolError> {
    let url = service.url.as_deref().unwrap_or_else(|| service.locator.usual_url());
    let request =
        Request::get(url).header("accept", "application/json").map_err(|error| net_error(error, None))?;
    let response = exchange(&web.client_for_service(service.opening.as_ref(), LIMIT), request).await?;
    if !response.status.is_success() {
        let text = format!("the location service responded with status {}", response.status.as_u16());
        return Err(upstream(text));
    }
    let answer: ServiceResponse = serde_json::from_slice(&response.body)
        .map_err(|error| upstream("the location service sent no location").caused_by(error))?;
    location(answer)
}

fn location(answer: ServiceResponse) -> Result<Location, ToolError> {
    let is_refused = answer.success == Some(false)
        || answer.error.as_ref().is_some_and(|error| *error != serde_json::Value::Bool(false));
    if is_refused {
        let why = answer.message.map(short).unwrap_or_else(|| "no reason given".to_owned());
        return Err(upstream(format!("the location service failed: {why}")));
    }
    let (latitude, longitude) = match answer.loc.as_deref().and_then(|loc| loc.split_once(',')) {
        Some((north, east)) => (north.trim().parse().ok(), east.trim().parse().ok()),
        None => (answer.latitude, answer.longitude),
    };
    let is_code = |text: &String| text.len() == 2;
    let country_code = answer.country_code.or_else(|| answer.country.clone().filter(is_code));
    let country = answer.country_name.or(answer.country);
    if answer.city.is_none() && country.is_none() && latitude.is_none() {
        return Err(upstream("the location service sent no location"));
    }
    Ok(Location {
        success: true,
        city: answer.city.map(short),
        region: answer.region.map(short),
        country: country.map(short),
        country_code: country_code.map(short),
        latitude,
        longitude,
        timezone: answer
            .timezone
            .and_then(|zone| match zone {
                ServiceTimeZone::Name(name) => Some(name),
                ServiceTimeZone::Described { id } => id,
            })
            .map(short),
        zip: answer.postal.map(short),
        isp: answer.connection.and_then(|connection| connection.isp).or(answer.org).map(short),
        ip: answer.ip.map(short),
    })
}

fn short(text: String) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => text,
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
    }
}

fn upstream(text: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Upstream, text).with_hint("ask the user where they are")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(answer: Value) -> Result<Value, String> {
        let answer = serde_json::from_value(answer).unwrap();
        location(answer).map(|found| serde_json::to_value(found).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_provider_gives_the_same_fields() {
        let expected = json!({
            "success": true, "city": "Tashkent", "region": "Toshkent", "country": "Uzbekistan",
            "country_code": "UZ", "latitude": 41.2, "longitude": 69.2, "timezone": "Asia/Tashkent",
            "zip": "100000", "isp": "Uztelecom", "ip": "203.0.113.7",
        });
        let ipwhois = json!({
            "success": true, "ip": "203.0.113.7", "city": "Tashkent", "region": "Toshkent", "country": "Uzbekistan",
            "country_code": "UZ", "latitude": 41.2, "longitude": 69.2, "postal": "100000",
            "timezone": {"id": "Asia/Tashkent", "utc": "+05:00"}, "connection": {"asn": 1, "isp": "Uztelecom"},
        });
        assert_eq!(read(ipwhois), Ok(expected.clone()));
        let ipapi = json!({
            "ip": "203.0.113.7", "city": "Tashkent", "region": "Toshkent", "country": "UZ",
            "country_name": "Uzbekistan", "country_code": "UZ", "latitude": 41.2, "longitude": 69.2,
            "postal": "100000", "timezone": "Asia/Tashkent", "org": "Uztelecom",
        });
        assert_eq!(read(ipapi), Ok(expected.clone()));
        let ipinfo = json!({
            "ip": "203.0.113.7", "city": "Tashkent", "region": "Toshkent", "country": "UZ", "loc": "41.2,69.2",
            "postal": "100000", "timezone": "Asia/Tashkent", "org": "Uztelecom",
        });
        let mut without_name = expected;
        without_name["country"] = json!("UZ");
        assert_eq!(read(ipinfo), Ok(without_name));
    }

    #[test]
    fn a_response_without_a_location_is_an_error() {
        let refused = read(json!({"success": false, "message": "reserved range"})).unwrap_err();
        assert!(refused.contains("failed: reserved range"), "{refused}");
        let refused = read(json!({"error": true, "reason": "RateLimited"})).unwrap_err();
        assert!(refused.contains("RateLimited"), "{refused}");
        assert!(read(json!({})).unwrap_err().contains("sent no location"));
    }
}
