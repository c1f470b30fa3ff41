//! `toolroom doctor`: prints the checks of [`crate::examination`] with their remedies. Changes nothing.

use std::io::{self, IsTerminal};

use anstyle::Style;
use clap::Args;
use toolroom_host::environment;
use toolroom_tools::builtin::doctor::{Checkup, Finding, Report, Severity};

use super::console::exit::Exit;
use super::console::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, visible};
use crate::doctor::Doctor;

/// Sections of the report: every check belongs to one.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Configuration", &["config", "policy", "secrets"]),
    ("Storage", &["store", "files", "disk"]),
    ("Work", &["instances", "approvals", "servers"]),
    ("Machine", &["sandbox", "clock"]),
    ("Agent", &["provider", "context", "sessions", "memory", "rag"]),
];

/// Length of the longest check name.
const NAME_CHARS: usize = 9;

#[derive(Args)]
pub(super) struct DoctorArgs {}

pub(super) async fn run(settings: &[String], _args: DoctorArgs, output: &Output) -> anyhow::Result<Exit> {
    let report = Doctor::from_environment(settings).report().await;
    if output.is_json() {
        output.document(&report)?;
    } else {
        output.data(&text(&report, SeverityMarks::for_terminal()))?;
    }
    Ok(match report.status {
        Severity::Ok | Severity::Warning => Exit::Done,
        Severity::Error => Exit::Failed,
    })
}

/// How a severity is printed: Unicode signs on capable terminals, words elsewhere.
#[derive(Clone, Copy)]
enum SeverityMarks {
    Signs,
    Words,
}

impl SeverityMarks {
    fn for_terminal() -> Self {
        let is_plain = environment::variable("TERM").is_none_or(|name| name == "dumb");
        if io::stdout().is_terminal() && !is_plain { Self::Signs } else { Self::Words }
    }

    const fn mark(self, severity: Severity) -> &'static str {
        match (self, severity) {
            (Self::Signs, Severity::Ok) => "✓",
            (Self::Signs, Severity::Warning) => "⚠",
            (Self::Signs, Severity::Error) => "✗",
            (Self::Words, Severity::Ok) => "ok     ",
            (Self::Words, Severity::Warning) => "warning",
            (Self::Words, Severity::Error) => "error  ",
        }
    }

    const fn arrow(self) -> &'static str {
        match self {
            Self::Signs => "→",
            Self::Words => "->",
        }
    }
}

const fn style(severity: Severity) -> Style {
    match severity {
        Severity::Ok => GREEN,
        Severity::Warning => YELLOW,
        Severity::Error => RED,
    }
}

fn text(report: &Report, marks: SeverityMarks) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{BOLD}{title}{BOLD:#}\n"));
        for name in names {
            let checks = report.checks.iter().filter(|(other, _)| other == name);
            let findings = checks.flat_map(|(_, check)| check.findings());
            findings.for_each(|finding| line(&mut text, name, finding, marks));
        }
    }
    text.push_str(&summary(report));
    text
}

fn line(text: &mut String, name: &str, finding: &Finding, marks: SeverityMarks) {
    let style = style(finding.severity);
    let mark = marks.mark(finding.severity);
    let details = visible(&finding.details);
    text.push_str(&format!("  {style}{mark}{style:#} {name:<NAME_CHARS$} {details}"));
    if let Some(code) = finding.code {
        text.push_str(&format!(" {DIM}({code}){DIM:#}"));
    }
    text.push('\n');
    if let Some(remedy) = &finding.remedy {
        text.push_str(&format!("    {} {}\n", marks.arrow(), visible(remedy)));
    }
}

fn summary(report: &Report) -> String {
    let count = |severity: Severity| {
        let findings = report.checks.iter().flat_map(|(_, check)| check.findings());
        findings.filter(|finding| finding.severity == severity).count()
    };
    let parts = [(Severity::Error, count(Severity::Error)), (Severity::Warning, count(Severity::Warning))];
    let parts = parts.into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(severity, count)| {
            format!("{count} {}{}", severity.as_str(), if count == 1 { "" } else { "s" })
        })
        .collect();
    let style = style(report.status);
    match parts.is_empty() {
        true => format!("{style}{}{style:#}", report.health()),
        false => format!("{style}{}{style:#}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_check_is_shown() {
        let report = Doctor::from_environment(&[]).report().await;
        for (name, _) in &report.checks {
            assert!(GROUPS.iter().any(|(_, names)| names.contains(name)), "{name} is in no group");
            assert!(name.len() <= NAME_CHARS);
        }
    }
}
