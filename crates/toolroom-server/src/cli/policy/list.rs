//! `toolroom policy list`: preset, rules, standing answers and built-in rules.

use std::path::PathBuf;

use serde::Serialize;
use toolroom::ledger::StandingAnswer;
use toolroom::policy::{BuiltInRule, DEFAULT_RULE, Preset, RuleText, Ruling};
use toolroom::scope::Scope;
use toolroom::tool::Risk;

use super::rules::{RuleStatus, file, in_order};
use crate::app::App;
use crate::cli::approvals::standing_answer::{all, sentence};
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, one_line, short_id, table, visible};
use crate::cli::console::time::remaining;
use crate::config::ConfigRule;

/// Column width of a condition; `policy export` shows all of it.
const CONDITION_CHARS: usize = 60;

#[derive(Serialize)]
struct PolicyListing<'a> {
    preset: Preset,
    preset_from: String,
    rules: Vec<ListedRule<'a>>,
    answers: Vec<ListedAnswer<'a>>,
    built_in: Vec<ListedBuiltIn>,
}

#[derive(Serialize)]
struct ListedRule<'a> {
    #[serde(flatten)]
    text: &'a RuleText,
    standing: RuleStatus,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Serialize)]
struct ListedAnswer<'a> {
    #[serde(flatten)]
    answer: &'a StandingAnswer,
    sentence: String,
    age_seconds: u64,
}

#[derive(Serialize)]
struct ListedBuiltIn {
    id: &'static str,
    effect: Ruling,
    meaning: String,
    asks: &'static str,
}

impl ListedBuiltIn {
    fn new(rule: &BuiltInRule) -> Self {
        let (about, how_often) = (rule.about, rule.how_often());
        let meaning = match rule.minimum_risk {
            None => format!("asks before a tool that {about}; off in this preset"),
            Some(Risk::Low) => format!("asks before a tool that {about}"),
            Some(Risk::Medium | Risk::High) => format!("asks before a tool of {how_often} that {about}"),
        };
        Self { id: rule.id, effect: Ruling::Ask, meaning, asks: how_often }
    }
}

pub(super) async fn run(app: &App, scope: &Scope, output: Output) -> anyhow::Result<Exit> {
    let preset = app.room.policy().preset();
    let answers = all(app, scope).await?;
    let now = app.room.clock().now();
    let document = PolicyListing {
        preset,
        preset_from: app.config.origin("policy.preset").to_string(),
        rules: in_order(&app.config).into_iter().map(listed).collect(),
        answers: answers
            .iter()
            .map(|answer| ListedAnswer {
                answer,
                sentence: sentence(answer),
                age_seconds: now.since(answer.at).as_secs(),
            })
            .collect(),
        built_in: preset.built_in().map(|rule| ListedBuiltIn::new(&rule)).collect(),
    };
    if output.is_json() {
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    output.data(&format!("{BOLD}preset{BOLD:#} {preset} ({})", visible(&document.preset_from)))?;
    section("rules", document.rules.iter().map(rule_cells), output)?;
    section("standing answers", document.answers.iter().map(answer_cells), output)?;
    section("built-in rules", document.built_in.iter().map(built_in_cells).chain([default_cells()]), output)?;
    if document.rules.is_empty() {
        let path = app.sources.user.display();
        output.talk(format_args!("\nNo rules configured; add them to {path}, see `toolroom init`"));
    }
    if document.answers.is_empty() {
        output.talk("No standing answers; create one with `toolroom approvals approve ID --always`");
    }
    Ok(Exit::Done)
}

fn listed(rule: &ConfigRule) -> ListedRule<'_> {
    ListedRule {
        text: &rule.text,
        standing: RuleStatus::new(rule),
        from: rule.origin.place(rule.line),
        file: file(&rule.origin),
        line: rule.line,
    }
}

fn section(title: &str, rows: impl Iterator<Item = Vec<String>>, output: Output) -> std::io::Result<()> {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    output.data(&format!("\n{BOLD}{title}{BOLD:#}\n{}", table(&rows)))
}

fn rule_cells(rule: &ListedRule<'_>) -> Vec<String> {
    let text = rule.text;
    let when = text.when.as_ref().map(|when| format!("when {}", one_line(when, CONDITION_CHARS)));
    let by = text.by.map(|by| format!("by {}", by.as_str()));
    vec![
        format!("  {}", visible(&text.id)),
        text.effect.as_str().to_owned(),
        visible(&text.tool),
        [when, by].into_iter().flatten().collect::<Vec<_>>().join(", "),
        format!("{DIM}{}{DIM:#}", visible(&rule.from)),
        rule.standing.note().to_owned(),
    ]
}

fn answer_cells(answer: &ListedAnswer<'_>) -> Vec<String> {
    let age = remaining(std::time::Duration::from_secs(answer.age_seconds));
    vec![
        format!("  {}", short_id(&answer.answer.id)),
        visible(&answer.sentence),
        format!("{DIM}{age} ago, call {}{DIM:#}", short_id(&answer.answer.call)),
    ]
}

fn built_in_cells(rule: &ListedBuiltIn) -> Vec<String> {
    vec![format!("  {}", rule.id), rule.effect.as_str().to_owned(), rule.meaning.clone()]
}

fn default_cells() -> Vec<String> {
    let meaning = "allows everything else".to_owned();
    vec![format!("  {DEFAULT_RULE}"), Ruling::Allow.as_str().to_owned(), meaning]
}
