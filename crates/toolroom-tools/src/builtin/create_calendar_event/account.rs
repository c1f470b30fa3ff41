//! The user's calendar on a CalDAV server.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{EgressRule, Method, Request};

use super::super::web::{Web, exchange, net_error};

/// Timeout of the server.
const LIMIT: Duration = Duration::from_secs(30);

/// A calendar that receives events.
pub struct CalendarAccount {
    /// The URL of the calendar collection.
    pub url: String,
    /// Opens the URL if it is not public.
    pub opening: Option<EgressRule>,
    /// User and password; `None` if the server needs none.
    pub credentials: Option<(String, Secret)>,
}

/// The calendars of projects.
pub trait Calendars: Send + Sync {
    /// The calendar of a project, if it has one.
    fn for_project<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Option<CalendarAccount>, ToolError>>;
}

/// No calendars.
pub struct NoCalendars;

impl Calendars for NoCalendars {
    fn for_project<'a>(
        &'a self,
        _: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Option<CalendarAccount>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

impl CalendarAccount {
    /// Adds a new event; never replaces an existing one.
    pub(super) async fn put(&self, web: &Web, id: &str, text: String) -> Result<(), ToolError> {
        let url = format!("{}/{id}.ics", self.url.trim_end_matches('/'));
        let mut request = Request::new(Method::PUT, url).body(text);
        let headers = [("content-type", "text/calendar; charset=utf-8"), ("if-none-match", "*")];
        for (name, value) in headers {
            request = request.header(name, value).map_err(|error| net_error(error, None))?;
        }
        if let Some((user, password)) = &self.credentials {
            let encoded = STANDARD.encode(format!("{user}:{}", password.expose()));
            let value = format!("Basic {encoded}");
            request =
                request.secret_header("authorization", &value).map_err(|error| net_error(error, None))?;
        }
        let client = web.client_for_service(self.opening.as_ref(), LIMIT);
        let response = exchange(&client, request).await.map_err(doubtful)?;
        match response.status.as_u16() {
            200..=299 => Ok(()),
            401 | 403 => {
                Err(refused("the calendar server rejected the login; see `[calendar]` in the configuration"))
            }
            412 => Err(refused("the event is already in the calendar")),
            300..=399 => Err(refused(
                "the calendar server redirects, which is not followed; set `calendar.url` to the target",
            )),
            other => Err(refused(&format!("the calendar server responded with status {other}"))),
        }
    }
}

fn refused(text: &str) -> ToolError {
    ToolError::new(ErrorKind::Upstream, text)
}

/// An event that was sent without a response may have been stored.
fn doubtful(error: ToolError) -> ToolError {
    match error.kind() {
        ErrorKind::Timeout | ErrorKind::Upstream => error.in_doubt(),
        _ => error,
    }
}
