//! `doctor`: checks the installation and suggests remedies.
//!
//! The report is defined here; the checks are behind [`Checkup`].

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

/// The checks of every report, even for parts that do not exist.
const ALWAYS: [&str; 7] = ["config", "memory", "context", "provider", "rag", "sessions", "disk"];

/// What a caller without access can do instead.
const INSTEAD: &str = "use `toolroom doctor` at the machine, or a key with the scope `manage` of the project `local`: with it \
                       call the tool directly, or `GET /v1/doctor`";

/// Longer than any check takes.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The key of [`CallRequest::metadata`](toolroom::call::CallRequest::metadata) that is `true` if the caller manages this
/// machine. Local callers always do.
pub const MANAGES_MACHINE: &str = "manages_machine";

/// Runs the checks of this installation.
pub trait Checkup: Send + Sync {
    /// Runs all checks, within a few seconds.
    fn report(&self) -> BoxFuture<'_, Report>;
}

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No problem.
    Ok,
    /// Works, but needs attention.
    Warning,
    /// Does not work.
    Error,
}

impl Severity {
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

/// A finding of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CheckFinding")]
pub struct Finding {
    /// How severe it is.
    #[serde(rename = "status")]
    pub severity: Severity,
    /// The text.
    pub details: String,
    /// A code that is stable across versions; absent if there is no problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The command that helps; absent if there is no problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    /// No problem.
    #[must_use]
    pub fn ok(details: impl Into<String>) -> Self {
        Self { severity: Severity::Ok, details: details.into(), code: None, remedy: None }
    }

    /// Works, but needs attention.
    #[must_use]
    pub fn warning(code: &'static str, details: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (details, remedy) = (details.into(), Some(remedy.into()));
        Self { severity: Severity::Warning, details, code: Some(code), remedy }
    }

    /// It does not work.
    #[must_use]
    pub fn error(code: &'static str, details: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Error, ..Self::warning(code, details, remedy) }
    }
}

/// The findings of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The most severe finding.
    #[serde(flatten)]
    pub worst: Finding,
    /// The other findings, most severe first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Finding>,
}

impl Check {
    /// A check with these findings; `details` is the text if there are none.
    #[must_use]
    pub fn new(details: impl Into<String>, mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let mut found = found.into_iter();
        let worst = found.next().unwrap_or_else(|| Finding::ok(details));
        Self { worst, further: found.collect() }
    }

    /// All findings, most severe first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.worst).chain(&self.further)
    }
}

/// The report of all checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorReport")]
pub struct Report {
    /// The most severe status.
    #[serde(serialize_with = "as_health")]
    #[schemars(with = "String")]
    pub status: Severity,
    /// By name; first those every report has, in a fixed order.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, Check>")]
    pub checks: Vec<(&'static str, Check)>,
    /// All problems as text.
    pub warnings: Vec<String>,
    /// When the report was made.
    pub timestamp: String,
}

impl Report {
    /// Creates a report. Standard checks that are missing from `found` are reported as not configured.
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
        let wrong = wrong.filter(|(_, finding)| finding.severity > Severity::Ok);
        Self {
            status: checks.iter().map(|(_, check)| check.worst.severity).max().unwrap_or(Severity::Ok),
            warnings: wrong.map(|(name, finding)| format!("{name}: {}", finding.details)).collect(),
            timestamp: rfc3339(at),
            checks,
        }
    }

    /// The overall status as reports spell it.
    #[must_use]
    pub const fn health(&self) -> &'static str {
        health(self.status)
    }
}

const fn health(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "healthy",
        Severity::Warning | Severity::Error => severity.as_str(),
    }
}

fn as_health<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(health(*severity))
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
    let description = "Check that this installation works, and suggest remedies for problems";
    let tool = tool_fn("builtin:doctor", description, move |context: CallContext, _none: NoArguments| {
        let checkup = checkup.clone();
        async move {
            let is_manager = context.metadata().get(MANAGES_MACHINE) == Some(&Value::Bool(true));
            if context.user_location() != UserLocation::Local && !is_manager {
                let text = "the report is about the whole machine, which this caller does not manage";
                return Err(ToolError::new(ErrorKind::PermissionDenied, text).with_hint(INSTEAD));
            }
            let unavailable =
                || ToolError::new(ErrorKind::Tool, "the installation cannot be checked from here");
            Ok(checkup.ok_or_else(unavailable)?.report().await)
        }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Doctor")
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            .when_to_use("something does not work, or before relying on this installation")
            .category("diagnostics", &["doctor", "health", "status", "diagnose"])
            // Reads files and keys in between.
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
    fn a_report_always_has_its_seven_checks_in_order() {
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
    fn the_most_severe_finding_stands_for_the_check() {
        let warning = |code| Finding::warning(code, "odd", "look");
        let error = Finding::error("c", "broken", "mend");
        let check = Check::new("fine", vec![warning("a"), error.clone(), warning("b")]);
        assert_eq!((check.worst.clone(), check.further.len()), (error, 2));
        let report = Report::new(AT, vec![("config", check)]);
        assert_eq!((report.health(), report.warnings.len()), ("error", 3));
        assert_eq!(report.warnings.first().unwrap(), "config: broken");
    }
}
