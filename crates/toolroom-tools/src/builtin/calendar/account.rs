//! The user's calendar on a server (CalDAV).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{EgressRule, Method, Request};

use super::super::web::{Web, ask, told};

/// How long a server may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A calendar that events are put into.
pub struct CalendarAccount {
    /// The address of the calendar: its collection.
    pub url: String,
    /// What has to be open for it to be reached where it is not public.
    pub opening: Option<EgressRule>,
    /// Who signs in, and with what; nobody, if the server wants nobody to.
    pub credentials: Option<(String, Secret)>,
}

/// Whose calendars there are.
pub trait Calendars: Send + Sync {
    /// The calendar of a project, if it has one.
    fn of<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Option<CalendarAccount>, ToolError>>;
}

/// Nobody has a calendar.
pub struct NoCalendars;

impl Calendars for NoCalendars {
    fn of<'a>(&'a self, _: &'a ProjectId) -> BoxFuture<'a, Result<Option<CalendarAccount>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

impl CalendarAccount {
    /// Puts a new event into it; one that is there already is never replaced.
    pub(super) async fn put(&self, web: &Web, id: &str, text: String) -> Result<(), ToolError> {
        let url = format!("{}/{id}.ics", self.url.trim_end_matches('/'));
        let mut request = Request::new(Method::PUT, url).body(text);
        let said = [("content-type", "text/calendar; charset=utf-8"), ("if-none-match", "*")];
        for (name, value) in said {
            request = request.header(name, value).map_err(|error| told(error, None))?;
        }
        if let Some((user, password)) = &self.credentials {
            let words = STANDARD.encode(format!("{user}:{}", password.expose()));
            let value = format!("Basic {words}");
            request = request.secret_header("authorization", &value).map_err(|error| told(error, None))?;
        }
        let client = web.reaching(self.opening.as_ref(), LIMIT);
        let arrived = ask(&client, request).await.map_err(doubtful)?;
        match arrived.status.as_u16() {
            200..=299 => Ok(()),
            401 | 403 => {
                Err(refused("the calendar server does not let us in; see `[calendar]` in the configuration"))
            }
            412 => Err(refused("the calendar has this event already")),
            300..=399 => Err(refused(
                "the calendar server leads elsewhere, which is not followed; set `calendar.url` to where it leads",
            )),
            other => Err(refused(&format!("the calendar server answered with status {other}"))),
        }
    }
}

fn refused(text: &str) -> ToolError {
    ToolError::new(ErrorKind::Upstream, text)
}

/// An event that was sent and not answered may be there.
fn doubtful(error: ToolError) -> ToolError {
    match error.kind() {
        ErrorKind::Timeout | ErrorKind::Upstream => error.in_doubt(),
        _ => error,
    }
}
