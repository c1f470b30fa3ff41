//! `create_calendar_event`: saves an event as a file, and in the user's calendar if one is configured.

mod account;
mod ics;
mod period;

pub use account::{CalendarAccount, Calendars, NoCalendars};

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::call::{CallContext, UserLocation};
use toolroom::schema::Problem;
use toolroom::tool::{
    Arguments, Capability, Effect, ErrorKind, IdError, Offer, OfferedFile, Risk, Timeout, Tool, ToolError,
    ToolOutput, tool_fn,
};
use toolroom_host::desktop::Desktop;
use toolroom_host::files::Parents;

use super::ToolDependencies;
use super::desktop::in_workspace;
use super::files::Files;
use super::web::Web;
use ics::Event;
use period::Period;

/// The folder for event files in the workspace.
const FOLDER: &str = "calendar";

/// Characters of the title in the file name.
const SLUG_CHARS: usize = 40;

#[derive(Deserialize, JsonSchema)]
struct CalendarEventArguments {
    /// Title of the event
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// When it starts, such as `2026-03-01T14:00`; in the user's time zone unless another one is given
    start_time: String,
    /// When it ends; default: one hour after the start. For an all-day event, its last day
    end_time: Option<String>,
    /// Description of the event
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// Location of the event
    #[schemars(length(max = 1_000))]
    location: Option<String>,
    /// Whether the event lasts whole days
    #[serde(default)]
    all_day: bool,
    /// Minutes before the start at which to remind
    #[serde(default = "default_reminder")]
    #[schemars(range(min = 0, max = 40_320))]
    reminder_minutes: u32,
}

fn default_reminder() -> u32 {
    15
}

struct Calendar {
    accounts: Arc<dyn Calendars>,
    desktop: Desktop,
    files: Files,
    web: Arc<Web>,
    zone: TimeZone,
}

pub(super) fn tool(dependencies: &ToolDependencies) -> Result<Arc<dyn Tool>, IdError> {
    let calendar = Arc::new(Calendar {
        accounts: Arc::clone(&dependencies.calendars),
        desktop: Desktop::new(dependencies.supervisor.clone()),
        files: dependencies.files.clone(),
        web: Arc::clone(&dependencies.web),
        zone: dependencies.time_zone.clone(),
    });
    let zone = dependencies.time_zone.clone();
    let description = "Create a calendar event: added to the user's calendar if one is configured, and saved as an .ics file in \
                       the workspace, which is otherwise opened or offered to the user";
    let tool = tool_fn("builtin:create_calendar_event", description, move |context, arguments| {
        let calendar = Arc::clone(&calendar);
        async move { calendar.create(&context, arguments).await }
    })?;
    Ok(Arc::new(tool.check(move |arguments| problems(&zone, arguments)).with(|spec| {
        spec.title("Calendar Event")
            .effect(Effect::OnceOnlyWrite)
            .capabilities(&[Capability::Writes, Capability::Egress])
            .risk(Risk::Medium)
            .timeout(Timeout::After(Duration::from_secs(60)))
            .when_to_use("the user wants an appointment, a meeting or a deadline in their calendar")
            .category("calendar", &["calendar", "event", "appointment", "meeting", "schedule"])
            .usage_example("put lunch with Ann on Friday at noon into my calendar")
    })))
}

fn problems(zone: &TimeZone, arguments: &Arguments) -> Vec<Problem> {
    let text = |name: &str| arguments.get(name).and_then(serde_json::Value::as_str);
    if text("title").is_some_and(|title| title.trim().is_empty()) {
        return vec![Problem::new("/title", "must not be blank; give the event a title")];
    }
    let all_day = arguments.get("all_day").and_then(serde_json::Value::as_bool).unwrap_or_default();
    let Some(start) = text("start_time") else { return Vec::new() };
    match Period::read(zone, start, text("end_time"), all_day) {
        Ok(_) => Vec::new(),
        Err(problem) => vec![problem],
    }
}

impl Calendar {
    async fn create(
        &self,
        context: &CallContext,
        arguments: CalendarEventArguments,
    ) -> Result<ToolOutput, ToolError> {
        let period =
            Period::read(&self.zone, &arguments.start_time, arguments.end_time.as_deref(), arguments.all_day)
                .map_err(|problem| ToolError::invalid(problem.to_string()))?;
        let made_at = Timestamp::from_microsecond(context.now().as_micros()).map_err(|error| {
            ToolError::new(ErrorKind::Crashed, "the clock is out of range").caused_by(error)
        })?;
        let event = Event {
            id: context.call_id().as_str(),
            made_at,
            period,
            title: &arguments.title,
            description: arguments.description.as_deref(),
            location: arguments.location.as_deref(),
            reminder_minutes: arguments.reminder_minutes,
        };
        let text = event.text();
        let path = format!("{FOLDER}/{}", file_name(&event));
        let (start, end) = event.period.display(&self.zone);
        let mut value = json!({
            "success": true, "title": arguments.title, "start_time": start, "end_time": end,
            "all_day": event.period.is_all_day(), "reminder_minutes": arguments.reminder_minutes, "path": path,
        });
        let account = self.accounts.for_project(&context.scope().project).await?;
        let (content, name) = (text.clone(), path.clone());
        let write = move |workspace: &toolroom_host::files::Workspace| {
            workspace.write(&name, content.as_bytes(), Parents::Create)?;
            workspace.locate(&name)
        };
        let found = in_workspace(&self.files, context, write).await?;
        let mut set = |name: &str, field: serde_json::Value| {
            value.as_object_mut().map(|fields| fields.insert(name.to_owned(), field));
        };
        if let Some(account) = account {
            account.put(&self.web, event.id, text).await.map_err(|error| {
                error.with_hint(format!(
                    "the event was saved in `{path}`; opening that file adds it to a calendar"
                ))
            })?;
            set("message", "the event is in the user's calendar".into());
            return Ok(ToolOutput::new(value));
        }
        if context.user_location() == UserLocation::Remote {
            let attachment = context.attachment("text/calendar", text.into_bytes());
            let file = OfferedFile::from_attachment(&attachment, &path);
            set("artifact", attachment.id().as_str().into());
            set("message", "the event is offered to the client of the user as a file".into());
            let output = ToolOutput::new(value).with_attachments(vec![attachment]);
            return Ok(output.offering(Offer::OpenFile(file)));
        }
        // The file exists even if it cannot be opened.
        let opened = self.desktop.open_file(&found.place).await;
        let place = found.place.display();
        let message = match opened {
            Ok(()) => format!(
                "the event is open in the user's calendar program, which asks whether to save it: {place}"
            ),
            Err(error) => format!("the event is in the file {place}; it could not be opened: {error}"),
        };
        set("message", message.into());
        Ok(ToolOutput::new(value))
    }
}

/// A descriptive and unique file name.
fn file_name(event: &Event<'_>) -> String {
    let mut slug = String::new();
    for char in event.title.chars().flat_map(char::to_lowercase) {
        if char.is_alphanumeric() {
            slug.push(char);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.chars().take(SLUG_CHARS).collect();
    let end = event.id.get(event.id.len().saturating_sub(8)..).unwrap_or(event.id);
    let name = [event.period.first_day(), slug.trim_matches('-').to_owned(), end.to_owned()];
    format!("{}.ics", name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-"))
}
