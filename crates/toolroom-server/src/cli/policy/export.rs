//! `toolroom policy export`: rules and standing answers as TOML for a toolroom.toml.

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::{Value, json, to_value};
use toolroom::ledger::StandingAnswer;
use toolroom::policy::{Preset, Rule, RuleText, rule_text_of};
use toolroom::scope::Scope;
use toolroom_host::environment;

use super::rules::{RuleStatus, in_order};
use crate::app::App;
use crate::cli::approvals::standing_answer::all;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};
use crate::cli::console::time::local_time;
use crate::config::value_text;

#[derive(Args)]
pub(super) struct ExportArgs {
    /// Only standing answers, as rules
    #[arg(long, conflicts_with = "all")]
    answers: bool,
    /// Include standing answers
    #[arg(long)]
    all: bool,
}

struct ExportedRule {
    comment: String,
    text: RuleText,
    /// Why the rule is commented out, if it is.
    left_out: Option<String>,
}

pub(super) async fn run(app: &App, scope: &Scope, args: &ExportArgs, output: Output) -> anyhow::Result<Exit> {
    let preset = (!args.answers).then(|| app.room.policy().preset());
    let mut rules = if args.answers { Vec::new() } else { configured(app) };
    if args.answers || args.all {
        let zone = environment::time_zone();
        rules.extend(all(app, scope).await?.iter().map(|answer| ExportedRule::from_answer(answer, &zone)));
    }
    if output.is_json() {
        let included: Vec<&RuleText> =
            rules.iter().filter(|rule| rule.left_out.is_none()).map(|rule| &rule.text).collect();
        let document = match preset {
            Some(preset) => json!({"policy": {"preset": preset}, "rule": included}),
            None => json!({"rule": included}),
        };
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let preset = preset.map(|preset| preset_text(preset, &app.config.origin("policy.preset").to_string()));
    let blocks: Vec<String> = preset.into_iter().chain(rules.iter().map(ExportedRule::toml)).collect();
    match blocks.is_empty() {
        true => output.talk("No standing answers"),
        false => output.data(&blocks.join("\n\n"))?,
    }
    Ok(Exit::Done)
}

fn preset_text(preset: Preset, from: &str) -> String {
    format!("[policy]\n# from {}\npreset = {}", visible(from), value_text(&Value::from(preset.as_str())))
}

fn configured(app: &App) -> Vec<ExportedRule> {
    let exported = in_order(&app.config).into_iter().map(|rule| ExportedRule {
        comment: format!("from {}", rule.origin.place(rule.line)),
        text: rule.text.clone(),
        left_out: match RuleStatus::new(rule) {
            RuleStatus::Holds | RuleStatus::Narrows => None,
            RuleStatus::Ignored => Some("its file is not trusted, so it has no effect".to_owned()),
        },
    });
    exported.collect()
}

impl ExportedRule {
    fn from_answer(answer: &StandingAnswer, zone: &TimeZone) -> Self {
        let at = local_time(answer.at, zone, "%Y-%m-%d %H:%M");
        let text = rule_text_of(answer);
        // An unreadable condition would make the file invalid.
        let invalid = Rule::new(text.clone()).err().map(|error| format!("{:#}", anyhow::Error::new(error)));
        let narrow =
            answer.destination.as_ref().map(|_| "rules cannot be limited to a destination".to_owned());
        let left_out = narrow.or(invalid);
        Self { comment: format!("standing answer of {at}"), text, left_out }
    }

    fn toml(&self) -> String {
        let fields = match to_value(&self.text) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let lines = fields.iter().map(|(name, value)| format!("{name} = {}", value_text(value)));
        let block = std::iter::once("[[rule]]".to_owned()).chain(lines);
        let comment = visible(&self.comment);
        match &self.left_out {
            None => format!("# {comment}\n{}", block.collect::<Vec<_>>().join("\n")),
            Some(why) => {
                let block = block.map(|line| format!("# {line}")).collect::<Vec<_>>().join("\n");
                format!("# {comment}; left out: {}\n{block}", visible(why))
            }
        }
    }
}
