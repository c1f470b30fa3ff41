//! `toolroom policy export`: what holds, as TOML that can be pasted into a toolroom.toml.

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::{Value, json, to_value};
use toolroom::ledger::StandingAnswer;
use toolroom::policy::{Preset, Rule, RuleText, rule_text_of};
use toolroom::scope::Scope;
use toolroom_host::environment;

use super::rules::{Standing, in_order};
use crate::app::App;
use crate::cli::approvals::standing_answer::all;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};
use crate::cli::console::time::local_time;
use crate::config::value_text;

#[derive(Args)]
pub(super) struct ExportArgs {
    /// Only the standing answers, as rules
    #[arg(long, conflicts_with = "all")]
    answers: bool,
    /// The standing answers as well
    #[arg(long)]
    all: bool,
}

/// A rule, and what is said about it.
struct Exported {
    comment: String,
    text: RuleText,
    /// Why it is only shown, if it is.
    left_out: Option<String>,
}

pub(super) async fn run(app: &App, scope: &Scope, args: &ExportArgs, output: Output) -> anyhow::Result<Exit> {
    let preset = (!args.answers).then(|| app.room.policy().preset());
    let mut rules = if args.answers { Vec::new() } else { configured(app) };
    if args.answers || args.all {
        let zone = environment::time_zone();
        rules.extend(all(app, scope).await?.iter().map(|answer| Exported::of_answer(answer, &zone)));
    }
    if output.is_json() {
        let kept: Vec<&RuleText> =
            rules.iter().filter(|rule| rule.left_out.is_none()).map(|rule| &rule.text).collect();
        let document = match preset {
            Some(preset) => json!({"policy": {"preset": preset}, "rule": kept}),
            None => json!({"rule": kept}),
        };
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let preset = preset.map(|preset| preset_text(preset, &app.config.origin("policy.preset").to_string()));
    let blocks: Vec<String> = preset.into_iter().chain(rules.iter().map(Exported::toml)).collect();
    match blocks.is_empty() {
        true => output.talk("there are no standing answers"),
        false => output.data(&blocks.join("\n\n"))?,
    }
    Ok(Exit::Done)
}

fn preset_text(preset: Preset, from: &str) -> String {
    format!("[policy]\n# from {}\npreset = {}", visible(from), value_text(&Value::from(preset.as_str())))
}

fn configured(app: &App) -> Vec<Exported> {
    let exported = in_order(&app.config).into_iter().map(|rule| Exported {
        comment: format!("from {}", rule.origin.place(rule.line)),
        text: rule.text.clone(),
        left_out: match Standing::of(rule) {
            Standing::Holds | Standing::Narrows => None,
            Standing::Ignored => Some("its file is not trusted, so it allows nothing".to_owned()),
        },
    });
    exported.collect()
}

impl Exported {
    fn of_answer(answer: &StandingAnswer, zone: &TimeZone) -> Self {
        let at = local_time(answer.at, zone, "%Y-%m-%d %H:%M");
        let text = rule_text_of(answer);
        // A condition that cannot be read makes no rule that could be loaded.
        let unread = Rule::new(text.clone()).err().map(|error| format!("{:#}", anyhow::Error::new(error)));
        let narrow = answer.destination.as_ref().map(|_| "no rule is about one destination alone".to_owned());
        let left_out = narrow.or(unread);
        Self { comment: format!("a standing answer of {at}"), text, left_out }
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
