//! Keys that would go over a way that others can listen to. Said when the configuration is read: a call that is refused for
//! it comes late, and whoever wrote it down is gone.

use super::{Config, ServiceUrl, VendorKeys};

/// The keys with such an address, and what is wrong with each.
pub(super) fn overheard(config: &Config) -> Vec<(&'static str, String)> {
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
    let refused = |(key, url, has_key, what): (&'static str, Option<&ServiceUrl>, bool, &str)| {
        url.filter(|url| has_key && url.is_overheard())
            .map(|_| (key, format!("cannot be used: {}", ServiceUrl::listened_to(what, key))))
    };
    services.into_iter().filter_map(refused).collect()
}

/// The same for a vendor of models, as far as one table says both. Whoever opens a model looks once more.
pub(super) fn overheard_vendor(vendor: &str, keys: &VendorKeys) -> Option<(String, String)> {
    let url = ServiceUrl::try_from(keys.base_url.clone()?).ok()?;
    let key = format!("vendor.{vendor}.base_url");
    let message = format!("cannot be used: {}", ServiceUrl::listened_to("its key", &key));
    (keys.key.is_some() && url.is_overheard()).then_some((key, message))
}
