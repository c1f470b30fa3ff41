//! `get_local_time`: the current date and time.

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::tool::{Effect, ErrorKind, IdError, Tool, ToolError, tool_fn};

#[derive(Deserialize, JsonSchema)]
struct GetLocalTimeArguments {
    /// IANA time zone such as `Europe/Berlin`; default: the user's own
    timezone: Option<String>,
}

#[derive(Serialize)]
struct LocalTime {
    iso_datetime: String,
    display_datetime: String,
    timezone: String,
    day_of_week: String,
    utc_offset: String,
}

pub(super) fn tool(home: TimeZone) -> Result<Arc<dyn Tool>, IdError> {
    let tool = tool_fn(
        "builtin:get_local_time",
        "Return the current local date and time",
        move |context, arguments: GetLocalTimeArguments| {
            let answer = now(&context, &home, arguments.timezone.as_deref());
            async move { answer }
        },
    )?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Local Time")
            .effect(Effect::Read)
            .capabilities(&[])
            .when_to_use("the answer depends on today's date, the weekday or the time of day")
            .category("time", &["time", "date", "clock", "timezone"])
            .usage_example("what time is it?")
            .usage_example("which day is it today?")
            .usage_example("what time is it in Tokyo right now?")
    })))
}

fn now(context: &CallContext, home: &TimeZone, wanted: Option<&str>) -> Result<LocalTime, ToolError> {
    let zone = match wanted {
        Some(name) => TimeZone::get(name).map_err(|error| {
            let text = format!("unknown time zone `{name}`; use an IANA name such as `Europe/Berlin`");
            ToolError::new(ErrorKind::InvalidArguments, text).caused_by(error)
        })?,
        None => home.clone(),
    };
    let instant = Timestamp::from_microsecond(context.now().as_micros())
        .map_err(|error| ToolError::new(ErrorKind::Crashed, "the clock is out of range").caused_by(error))?;
    Ok(local_time(&instant.to_zoned(zone)))
}

fn local_time(now: &Zoned) -> LocalTime {
    let utc_offset = now.strftime("%:z").to_string();
    LocalTime {
        iso_datetime: now.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
        display_datetime: now.strftime("%A, %-d %B %Y, %H:%M").to_string(),
        // A zone without an IANA name goes by its offset.
        timezone: now.time_zone().iana_name().unwrap_or(&utc_offset).to_owned(),
        day_of_week: now.strftime("%A").to_string(),
        utc_offset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_has_all_fields() {
        let zone = TimeZone::get("Asia/Tashkent").unwrap();
        let now = "2026-11-15T04:05:06Z".parse::<Timestamp>().unwrap().to_zoned(zone);
        let expected = serde_json::json!({
            "iso_datetime": "2026-11-15T09:05:06",
            "display_datetime": "Sunday, 15 November 2026, 09:05",
            "timezone": "Asia/Tashkent",
            "day_of_week": "Sunday",
            "utc_offset": "+05:00",
        });
        assert_eq!(serde_json::to_value(local_time(&now)).unwrap(), expected);

        let nameless = now.with_time_zone(TimeZone::posix("<+05>-5").unwrap());
        assert_eq!(local_time(&nameless).timezone, "+05:00");
    }
}
