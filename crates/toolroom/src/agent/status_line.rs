//! A status line for a run, made from its events.

use std::collections::VecDeque;

use super::title::cut;
use crate::conversation::RunEvent;
use crate::model::ModelCallId;

/// Most characters of the detail after the first words.
const DETAIL_CHARS: usize = 60;

/// Characters of reasoning that are stored to find its last line.
const THOUGHT_CHARS: usize = 400;

/// What a run is doing. Takes its events in order; [`StatusLine::line`] is the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusLine {
    doing: Doing,
    running: Vec<Running>,
    asked: Vec<ModelCallId>,
    /// Calls that the client has to run.
    handed: Vec<ModelCallId>,
    thoughts: VecDeque<char>,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Doing {
    #[default]
    Nothing,
    Working,
    Thinking,
    Writing(String),
    Answering,
    Waiting {
        answers: usize,
        results: usize,
    },
    Again {
        reason: String,
        next: Option<String>,
        after_ms: Option<u64>,
    },
    Finishing,
}

#[derive(Debug, Clone, PartialEq)]
struct Running {
    id: ModelCallId,
    title: String,
    progress: Option<String>,
}

impl StatusLine {
    /// Updates the state with the next event.
    pub fn update(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { .. } | RunEvent::Asking { .. } => {
                // The last answer is asked for because of a guard, and stays what it is.
                if self.doing != Doing::Finishing {
                    self.doing = Doing::Working;
                }
                self.running.clear();
                self.asked.clear();
                self.handed.clear();
                self.thoughts.clear();
            }
            RunEvent::Text { .. } => self.doing = Doing::Answering,
            RunEvent::Reasoning { text } => {
                self.thoughts.extend(text.chars());
                let surplus = self.thoughts.len().saturating_sub(THOUGHT_CHARS);
                self.thoughts.drain(..surplus);
                self.doing = Doing::Thinking;
            }
            RunEvent::Writing { tool } => self.doing = Doing::Writing(bare(tool).to_owned()),
            RunEvent::Void { reason, next, after_ms } => {
                let next = next.as_deref().map(str::to_owned);
                self.doing = Doing::Again { reason: reason.clone(), next, after_ms: *after_ms };
                self.thoughts.clear();
            }
            RunEvent::Answered { .. } | RunEvent::Compacted { .. } => self.doing = Doing::Working,
            RunEvent::CallBegan(call) => {
                self.doing = Doing::Working;
                self.end(&call.id);
                let title = if call.title.is_empty() { bare(&call.tool) } else { &call.title };
                self.running.push(Running { id: call.id.clone(), title: title.to_owned(), progress: None });
            }
            RunEvent::CallProgress { id, message, fraction } => {
                if let Some(running) = self.running.iter_mut().find(|running| running.id == *id) {
                    running.progress = Some(progress(message, *fraction));
                }
            }
            RunEvent::CallEnded { id, .. } => self.end(id),
            RunEvent::Asks { id, .. } => {
                self.end(id);
                self.asked.push(id.clone());
            }
            RunEvent::Handed { id, .. } => {
                self.end(id);
                self.handed.push(id.clone());
            }
            RunEvent::Guarded { .. } => self.doing = Doing::Finishing,
            RunEvent::Warned { .. } => {}
            RunEvent::Waiting { calls } => {
                let results = self.handed.len().min(calls.len());
                self.running.clear();
                self.asked.clear();
                self.handed.clear();
                self.doing = Doing::Waiting { answers: calls.len() - results, results };
            }
            RunEvent::Done { .. } | RunEvent::Failed(_) | RunEvent::Cancelled => *self = Self::default(),
        }
    }

    /// The line; `None` while nothing happens.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        match (self.running.as_slice(), &self.doing) {
            ([], Doing::Working) if !(self.asked.is_empty() && self.handed.is_empty()) => {
                Some(waiting(self.asked.len(), self.handed.len()))
            }
            ([], Doing::Nothing) => None,
            ([], Doing::Working) => Some("Working…".to_owned()),
            ([], Doing::Thinking) => Some(detailed("Thinking…", &self.thought())),
            ([], Doing::Writing(tool)) => Some(detailed("Working…", tool)),
            ([], Doing::Answering) => Some("Answering…".to_owned()),
            ([], Doing::Waiting { answers, results }) => Some(waiting(*answers, *results)),
            ([], Doing::Finishing) => Some("Finishing…".to_owned()),
            ([], Doing::Again { reason, next, after_ms }) => {
                let what = match (next, after_ms.map(|ms| ms.div_ceil(1_000))) {
                    (Some(next), _) => format!("Asking {next} instead"),
                    (None, None | Some(0)) => "Trying again".to_owned(),
                    (None, Some(seconds)) => format!("Trying again in {seconds} s"),
                };
                Some(detailed(&what, reason))
            }
            ([one], _) => {
                let line = detailed("Working…", &one.title);
                Some(
                    one.progress
                        .as_deref()
                        .map_or_else(|| line.clone(), |progress| detailed(&line, progress)),
                )
            }
            (several, _) => Some(format!("Working… · {} Tools", several.len())),
        }
    }

    fn end(&mut self, id: &ModelCallId) {
        self.running.retain(|running| running.id != *id);
        self.asked.retain(|asked| asked != id);
        self.handed.retain(|handed| handed != id);
    }

    /// The line of thoughts that is being written, or the one before while it is empty.
    fn thought(&self) -> String {
        let thoughts: String = self.thoughts.iter().collect();
        let line = thoughts.lines().rev().map(str::trim).find(|line| !line.is_empty());
        line.unwrap_or_default().trim_matches(['*', '#', ' ']).to_owned()
    }
}

fn detailed(what: &str, detail: &str) -> String {
    let detail = cut(detail, DETAIL_CHARS);
    if detail.is_empty() { what.to_owned() } else { format!("{what} · {detail}") }
}

/// What people have to do comes first.
fn waiting(answers: usize, results: usize) -> String {
    match (answers, results) {
        (0, 2..) => format!("Waiting for {results} results of the client"),
        (0, 1) => "Waiting for a result of the client".to_owned(),
        (0 | 1, _) => "Waiting for an answer".to_owned(),
        (answers, _) => format!("Waiting for {answers} answers"),
    }
}

fn progress(message: &str, fraction: Option<f64>) -> String {
    match fraction.filter(|fraction| (0.0..=1.0).contains(fraction)) {
        Some(fraction) => format!("{:.0} % {message}", fraction * 100.0),
        None => message.to_owned(),
    }
}

/// The last part of a tool's id.
fn bare(tool: &str) -> &str {
    tool.rsplit(':').next().unwrap_or(tool)
}

#[cfg(test)]
#[path = "status_line_tests.rs"]
mod tests;
