//! A call in a chat, as one line or in detail.

use anstyle::Style;
use serde_json::Value;
use toolroom::conversation::{CallNotice, NumberedEvent, RunEvent};

use crate::cli::console::output::{BOLD, DIM, GREEN, RED, YELLOW, one_line, visible};
use crate::cli::console::time::elapsed;
use toolroom::schema::plain;

/// Column width of arguments.
const ARGUMENT_CHARS: usize = 48;

/// Longer results are in the log.
const RESULT_CHARS: usize = 4_000;

/// A call and its result.
#[derive(Debug, Clone)]
pub(in crate::cli) struct CallCard {
    notice: CallNotice,
    end: Option<CardEnd>,
}

#[derive(Debug, Clone)]
struct CardEnd {
    outcome: String,
    result: String,
    duration_us: u64,
}

impl CallCard {
    pub(super) fn begun(notice: &CallNotice) -> Self {
        Self { notice: notice.clone(), end: None }
    }

    /// Applies the event that ends the call; returns whether it did.
    pub(super) fn apply(&mut self, event: &RunEvent) -> bool {
        match event {
            RunEvent::CallEnded { id, outcome, result, duration_us, .. } if *id == self.notice.id => {
                let (outcome, result) = (outcome.clone(), plain(result));
                self.end = Some(CardEnd { outcome, result, duration_us: *duration_us });
                true
            }
            RunEvent::Asks { id, .. } | RunEvent::Handed { id, .. } if *id == self.notice.id => {
                self.end =
                    Some(CardEnd { outcome: "pending".to_owned(), result: String::new(), duration_us: 0 });
                true
            }
            _ => false,
        }
    }

    /// All calls of a run.
    pub(in crate::cli) fn all(events: &[NumberedEvent]) -> Vec<Self> {
        let mut cards: Vec<Self> = Vec::new();
        for NumberedEvent { event, .. } in events {
            match event {
                RunEvent::CallBegan(notice) => {
                    // A call begins again after its approval.
                    cards.retain(|card| card.notice.id != notice.id);
                    cards.push(Self::begun(notice));
                }
                event => drop(cards.iter_mut().any(|card| card.apply(event))),
            }
        }
        cards
    }

    /// One line: state, tool, arguments, duration and size of the result.
    pub(in crate::cli) fn line(&self) -> String {
        let (dot, end) = match &self.end {
            None => (YELLOW, "running".to_owned()),
            Some(end) => (style_of(&end.outcome), end.summary()),
        };
        let title = one_line(&self.notice.title, ARGUMENT_CHARS);
        let arguments = one_line(&argument_pairs(&self.notice.arguments), ARGUMENT_CHARS);
        format!("{dot}●{dot:#} {BOLD}{title}{BOLD:#}  {arguments}  {DIM}{end}{DIM:#}")
    }

    /// The line with arguments and result below.
    pub(in crate::cli) fn details(&self) -> String {
        let arguments = serde_json::to_string_pretty(&self.notice.arguments).unwrap_or_default();
        let result = self.end.as_ref().map(|end| end.result.as_str()).unwrap_or_default();
        let shown: String = result.chars().take(RESULT_CHARS).collect();
        let more = if shown.len() < result.len() { "\n…" } else { "" };
        let part = |name: &str, text: &str| format!("{DIM}{name:<10}{DIM:#}{}", indented(text));
        let (arguments, result) = (part("arguments", &arguments), part("result", &format!("{shown}{more}")));
        format!("{}\n  {arguments}\n  {result}", self.line())
    }
}

impl CardEnd {
    fn summary(&self) -> String {
        match self.outcome.as_str() {
            "done" => format!("{} · {}", elapsed(self.duration_us), size(self.result.len())),
            "pending" => "waiting for approval".to_owned(),
            outcome => format!("{outcome} · {}", elapsed(self.duration_us)),
        }
    }
}

fn style_of(outcome: &str) -> Style {
    match outcome {
        "done" => GREEN,
        "pending" | "cancelled" => YELLOW,
        _ => RED,
    }
}

/// `key=value`, one after the other.
fn argument_pairs(arguments: &Value) -> String {
    match arguments {
        Value::Object(arguments) => {
            let pairs = arguments.iter().map(|(name, value)| format!("{name}={}", plain(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        other => plain(other),
    }
}

/// Indents untrusted rows, so that none looks like a card.
fn indented(text: &str) -> String {
    visible(text).replace('\n', &format!("\n{}", " ".repeat(12)))
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        bytes => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolroom::ledger::CallId;
    use toolroom::model::ModelCallId;

    use super::*;

    fn shown(outcome: &str, result: Value) -> (String, String) {
        let id = ModelCallId::new("c1");
        let notice = CallNotice {
            id: id.clone(),
            tool: "builtin:calculator".into(),
            title: "Calculator\u{1b}[2J".to_owned(),
            arguments: Arc::new(json!({"expression": "17*23"})),
        };
        let mut card = CallCard::begun(&notice);
        let ended = RunEvent::CallEnded {
            id,
            call: CallId::new("call_1"),
            tool: "builtin:calculator".into(),
            outcome: outcome.to_owned(),
            result: Arc::new(result),
            artifact: None,
            offers: Vec::new(),
            duration_us: 2_500,
        };
        assert!(card.apply(&ended));
        let strip = |text: String| anstream::adapter::strip_str(&text).to_string();
        (strip(card.line()), strip(card.details()))
    }

    #[test]
    fn a_card_is_one_line_with_details_on_demand() {
        let (line, details) = shown("done", json!(391));
        assert_eq!(line, "● Calculator\\u{1b}[2J  expression=17*23  2 ms · 3 B");
        assert!(details.ends_with("  result    391"), "{details}");
        assert!(details.contains("\"expression\": \"17*23\""), "{details}");
    }

    #[test]
    fn a_result_cannot_imitate_a_card() {
        let (line, details) = shown("failed", json!("one\n● Calculator  done\u{1b}[1A"));
        assert!(line.ends_with("failed · 2 ms"), "{line}");
        assert!(details.contains("\n            ● Calculator  done\\u{1b}[1A"), "{details}");
    }
}
