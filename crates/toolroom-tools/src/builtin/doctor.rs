//! `doctor`: whether everything is in order, and what to do where it is not.
//!
//! The form of the answer is here; who examines what is behind [`Checkup`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use toolroom::BoxFuture;
use toolroom::call::{CallContext, UserLocation};
use toolroom::clock::Timestamp;
use toolroom::tool::{
    Capability, Effect, ErrorKind, IdError, NoArguments, Pool, Timeout, Tool, ToolError, tool_fn,
};

/// The checks every report has, whether there is something to check or not.
const ALWAYS: [&str; 7] = ["config", "memory", "context", "provider", "rag", "sessions", "disk"];

/// What to do instead, for a caller who may not see the report.
const INSTEAD: &str = "use `toolroom doctor` at the machine, or a key with the scope `manage` of the project `local`: with it \
                       call the tool directly, or `GET /v1/doctor`";

/// Longer than an examination takes itself.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The key of [`CallRequest::metadata`](toolroom::call::CallRequest::metadata) under which an entrance says `true` if the
/// caller manages this machine. Callers at the machine do.
pub const MANAGES_MACHINE: &str = "manages_machine";

/// Whoever can examine this toolroom.
pub trait Checkup: Send + Sync {
    /// Looks at everything, within some seconds.
    fn report(&self) -> BoxFuture<'_, Report>;
}

/// How grave something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// In order.
    Ok,
    /// Works, and somebody should look at it.
    Warning,
    /// Does not work.
    Error,
}

impl Gravity {
    /// The name used in reports and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CheckFinding")]
pub struct Finding {
    /// How grave it is.
    #[serde(rename = "status")]
    pub gravity: Gravity,
    /// What was found.
    pub details: String,
    /// A name that stays the same from version to version; absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// What to type; absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    /// All is well.
    #[must_use]
    pub fn ok(details: impl Into<String>) -> Self {
        Self { gravity: Gravity::Ok, details: details.into(), code: None, remedy: None }
    }

    /// It works, and somebody should look at it.
    #[must_use]
    pub fn warning(code: &'static str, details: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (details, remedy) = (details.into(), Some(remedy.into()));
        Self { gravity: Gravity::Warning, details, code: Some(code), remedy }
    }

    /// It does not work.
    #[must_use]
    pub fn error(code: &'static str, details: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { gravity: Gravity::Error, ..Self::warning(code, details, remedy) }
    }
}

/// What was found in one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The gravest finding.
    #[serde(flatten)]
    pub gravest: Finding,
    /// The others, gravest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Finding>,
}

impl Check {
    /// A part that is in order if nothing was found; `details` says so then.
    #[must_use]
    pub fn new(details: impl Into<String>, mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.gravity));
        let mut found = found.into_iter();
        let gravest = found.next().unwrap_or_else(|| Finding::ok(details));
        Self { gravest, further: found.collect() }
    }

    /// Everything that was found, gravest first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.gravest).chain(&self.further)
    }
}

/// What an examination found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorReport")]
pub struct Report {
    /// As its gravest finding.
    #[serde(serialize_with = "as_health")]
    #[schemars(with = "String")]
    pub status: Gravity,
    /// By name: those every report has first, in the order of the seed.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, Check>")]
    pub checks: Vec<(&'static str, Check)>,
    /// Everything that is not in order, in words.
    pub warnings: Vec<String>,
    /// When it was made.
    pub timestamp: String,
}

impl Report {
    /// A report of these checks. Those every report has and that are not among them are about parts that do not exist
    /// here.
    #[must_use]
    pub fn new(at: Timestamp, mut found: Vec<(&'static str, Check)>) -> Self {
        let mut checks = Vec::with_capacity(found.len() + ALWAYS.len());
        for name in ALWAYS {
            let place = found.iter().position(|(other, _)| *other == name);
            let absent = || (name, Check::new("not configured", Vec::new()));
            checks.push(place.map_or_else(absent, |place| found.remove(place)));
        }
        checks.extend(found);
        let wrong = checks.iter().flat_map(|(name, check)| check.findings().map(move |found| (name, found)));
        let wrong = wrong.filter(|(_, finding)| finding.gravity > Gravity::Ok);
        Self {
            status: checks.iter().map(|(_, check)| check.gravest.gravity).max().unwrap_or(Gravity::Ok),
            warnings: wrong.map(|(name, finding)| format!("{name}: {}", finding.details)).collect(),
            timestamp: rfc3339(at),
            checks,
        }
    }

    /// The status in the words of a report.
    #[must_use]
    pub const fn health(&self) -> &'static str {
        health(self.status)
    }
}

const fn health(gravity: Gravity) -> &'static str {
    match gravity {
        Gravity::Ok => "healthy",
        Gravity::Warning | Gravity::Error => gravity.as_str(),
    }
}

fn as_health<S: Serializer>(gravity: &Gravity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(health(*gravity))
}

fn as_map<S: Serializer>(checks: &[(&'static str, Check)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(checks.len()))?;
    for (name, check) in checks {
        map.serialize_entry(name, check)?;
    }
    map.end()
}

fn rfc3339(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

pub(super) fn tool(checkup: Option<Arc<dyn Checkup>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Check that everything is in order, and what to do where it is not";
    let tool = tool_fn("builtin:doctor", description, move |context: CallContext, _none: NoArguments| {
        let checkup = checkup.clone();
        async move {
            let is_manager = context.metadata().get(MANAGES_MACHINE) == Some(&Value::Bool(true));
            if context.user_location() != UserLocation::Local && !is_manager {
                let text = "this is about the whole machine, which this caller does not manage";
                return Err(ToolError::new(ErrorKind::PermissionDenied, text).with_hint(INSTEAD));
            }
            let unavailable = || ToolError::new(ErrorKind::Tool, "nothing can be examined from here");
            Ok(checkup.ok_or_else(unavailable)?.report().await)
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Doctor")
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            .when_to_use("something does not work, or before relying on this installation")
            .category("diagnostics", &["doctor", "health", "status", "diagnose"])
            // Files, keys and the machine are looked at in between.
            .pool(Pool::Blocking)
            .timeout(Timeout::After(TIMEOUT))
    })))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1_773_662_400_000_000);

    #[test]
    fn a_report_has_the_seeds_shape_and_always_its_seven_checks() {
        let found = vec![
            ("store", Check::new("12 MB", Vec::new())),
            ("disk", Check::new("room", vec![Finding::warning("disk.low", "little room", "make room")])),
        ];
        let report = Report::new(AT, found);
        let absent = json!({"status": "ok", "details": "not configured"});
        let expected = json!({
            "status": "warning",
            "checks": {
                "config": absent, "memory": absent, "context": absent, "provider": absent, "rag": absent,
                "sessions": absent,
                "disk": {"status": "warning", "details": "little room", "code": "disk.low", "remedy": "make room"},
                "store": {"status": "ok", "details": "12 MB"},
            },
            "warnings": ["disk: little room"],
            "timestamp": "2026-03-16T12:00:00+00:00",
        });
        assert_eq!(serde_json::to_string(&report).unwrap(), expected.to_string(), "in this order");
        assert_eq!(Report::new(AT, Vec::new()).health(), "healthy");
    }

    #[test]
    fn the_gravest_finding_stands_for_the_others() {
        let warning = |code| Finding::warning(code, "odd", "look");
        let error = Finding::error("c", "broken", "mend");
        let check = Check::new("fine", vec![warning("a"), error.clone(), warning("b")]);
        assert_eq!((check.gravest.clone(), check.further.len()), (error, 2));
        let report = Report::new(AT, vec![("config", check)]);
        assert_eq!((report.health(), report.warnings.len()), ("error", 3));
        assert_eq!(report.warnings.first().unwrap(), "config: broken");
    }
}
