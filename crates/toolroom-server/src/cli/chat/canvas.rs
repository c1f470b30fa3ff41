//! Displays a run as it happens.

use std::io::{self, IsTerminal, Write};

use toolroom::agent::StatusLine;
use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::redact::Stream;

use super::card::CallCard;
use super::markdown::Markdown;
use crate::cli::console::output::{DIM, Output, can_erase, escape_controls, one_line, visible};
use crate::cli::console::redaction;
use crate::documents::offer_told;

/// How a run is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum DisplayMode {
    /// Terminal with colors.
    Styled,
    /// Terminal without colors and animation.
    Plain,
    /// File or pipe: only the answer, at the end.
    Answer,
    /// One JSON event per line.
    Events,
    /// One JSON document, at the end.
    Document,
}

impl DisplayMode {
    pub(in crate::cli) fn new(json: bool, events: bool, plain: bool) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        match (events, json, io::stdout().is_terminal()) {
            (true, ..) => Self::Events,
            (_, true, _) => Self::Document,
            (_, _, false) => Self::Answer,
            _ if plain || choice == anstream::ColorChoice::Never => Self::Plain,
            _ => Self::Styled,
        }
    }

    /// Whether the answer is displayed as it arrives.
    pub(in crate::cli) const fn is_live(self) -> bool {
        matches!(self, Self::Styled | Self::Plain)
    }
}

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// A wrapped status line could not be erased.
const STATUS_CHARS: usize = 72;

pub(super) struct RunDisplay {
    mode: DisplayMode,
    output: Output,
    status: StatusLine,
    /// Whether the animated status line is shown.
    is_animated: bool,
    frame: usize,
    answer: AnswerWriter,
    cards: Vec<CallCard>,
    /// The model that was asked first.
    first_model: Option<String>,
    /// Whether part of the current answer was shown.
    has_shown: bool,
    /// Why output failed, for example a closed pipe.
    failure: Option<anyhow::Error>,
}

/// Writes the answer to standard output.
struct AnswerWriter {
    secrets: Option<Stream>,
    markdown: Option<Markdown>,
    /// Whether the cursor is in the middle of a line.
    is_open: bool,
}

impl RunDisplay {
    pub(super) fn new(mode: DisplayMode, is_plain: bool, output: Output) -> Self {
        let markdown = (mode == DisplayMode::Styled).then(Markdown::default);
        let is_animated =
            !is_plain && !matches!(mode, DisplayMode::Events | DisplayMode::Document) && can_erase();
        Self {
            mode,
            output,
            status: StatusLine::default(),
            is_animated,
            frame: 0,
            answer: AnswerWriter { secrets: None, markdown, is_open: false },
            cards: Vec::new(),
            first_model: None,
            has_shown: false,
            failure: None,
        }
    }

    /// Whether the display needs `tick`.
    pub(super) fn is_animated(&self) -> bool {
        self.is_animated
    }

    /// Advances the animation.
    pub(super) fn tick(&mut self) {
        self.frame = self.frame.wrapping_add(1);
        self.show_status();
    }

    fn show_status(&self) {
        if !self.is_animated || self.answer.is_open {
            return;
        }
        if let Some(line) = self.status.line() {
            let frame = FRAMES.get(self.frame % FRAMES.len()).copied().unwrap_or(' ');
            self.output.progress(&format!("{frame} {}", one_line(&line, STATUS_CHARS)));
        }
    }

    /// Displays an event.
    pub(super) fn push(&mut self, event: &NumberedEvent) {
        if self.failure.is_some() {
            return;
        }
        let shown = match self.mode {
            DisplayMode::Events => self.output.line_of_json(event),
            DisplayMode::Document => Ok(()),
            DisplayMode::Styled | DisplayMode::Plain | DisplayMode::Answer => {
                self.show(&event.event).map_err(Into::into)
            }
        };
        self.failure = shown.err();
    }

    fn show(&mut self, event: &RunEvent) -> io::Result<()> {
        self.status.update(event);
        match event {
            RunEvent::Asking { model, .. } => {
                self.first_model.get_or_insert_with(|| model.to_string());
                self.has_shown = false;
            }
            RunEvent::Text { text } if self.mode.is_live() => {
                self.has_shown = true;
                self.clear_status();
                return self.answer.write(text);
            }
            RunEvent::Void { reason, next, .. } => {
                let what = if self.has_shown { "answer interrupted" } else { "no answer" };
                let then = next.as_deref().map_or("retrying".to_owned(), |next| format!("trying {next}"));
                self.say(&format!("{what}: {reason}; {then}"))?;
                self.has_shown = false;
            }
            RunEvent::Answered { text, .. } if self.mode.is_live() => {
                if !self.has_shown && !text.trim().is_empty() {
                    self.clear_status();
                    self.answer.write(text)?;
                }
                self.clear_status();
                self.answer.end()?;
            }
            RunEvent::CallBegan(notice) => self.cards.push(CallCard::begun(notice)),
            RunEvent::CallEnded { offers, .. } => {
                self.fold(event)?;
                let shown = if self.mode.is_live() { offers.as_slice() } else { &[] };
                for offer in shown {
                    self.say(&offer_told(offer))?;
                }
            }
            RunEvent::Asks { .. } | RunEvent::Handed { .. } => self.fold(event)?,
            RunEvent::Guarded { reason, .. } => self.say(&format!("tools stopped: {reason}"))?,
            RunEvent::Warned { reason, .. } => self.say(reason)?,
            RunEvent::Compacted { before, after, summarised } => {
                let how = if *summarised { "summarised" } else { "left out" };
                self.say(&format!("older messages {how}: {before} → {after} tokens"))?;
            }
            RunEvent::Done { .. } => {}
            RunEvent::Started { .. }
            | RunEvent::Text { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::Writing { .. }
            | RunEvent::Answered { .. }
            | RunEvent::CallProgress { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Failed(_)
            | RunEvent::Cancelled => {}
        }
        self.show_status();
        Ok(())
    }

    /// Prints the card of a finished call.
    fn fold(&mut self, event: &RunEvent) -> io::Result<()> {
        let Some(index) = self.cards.iter_mut().position(|card| card.apply(event)) else { return Ok(()) };
        let card = self.cards.remove(index);
        // A parked call is shown by its approval prompt.
        if !matches!(event, RunEvent::Asks { .. }) && io::stderr().is_terminal() {
            self.clear_status();
            self.answer.end()?;
            self.output.talk(card.line());
        }
        Ok(())
    }

    /// Prints a notice between parts of the answer.
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.clear_status();
        self.answer.end()?;
        self.output.talk(format_args!("{DIM}{}{DIM:#}", visible(&text.replace('\n', " "))));
        Ok(())
    }

    fn clear_status(&self) {
        if self.is_animated && !self.answer.is_open {
            self.output.end_progress();
        }
    }

    /// Ends the display.
    pub(super) fn end(mut self) -> DisplayResult {
        self.clear_status();
        let ended = self.answer.end().map_err(anyhow::Error::from);
        DisplayResult { first_model: self.first_model, failure: self.failure.or(ended.err()) }
    }
}

pub(super) struct DisplayResult {
    /// The model that was asked first.
    pub(super) first_model: Option<String>,
    /// Why output failed.
    pub(super) failure: Option<anyhow::Error>,
}

impl AnswerWriter {
    fn write(&mut self, text: &str) -> io::Result<()> {
        let safe = self.secrets.get_or_insert_with(redaction::stream).push(text);
        self.put(&safe)
    }

    /// Flushes the answer and ends its line.
    fn end(&mut self) -> io::Result<()> {
        let rest = self.secrets.take().map(Stream::finish).unwrap_or_default();
        self.put(&rest)?;
        let rest = self.markdown.as_mut().map(Markdown::end).unwrap_or_default();
        self.print(&rest)?;
        if self.is_open {
            self.print("\n")?;
        }
        Ok(())
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let shown = match &mut self.markdown {
            Some(markdown) => markdown.push(text),
            None => escape_controls(text),
        };
        self.print(&shown)
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let ends = anstream::adapter::strip_str(text).to_string();
        if let Some(last) = ends.chars().next_back() {
            self.is_open = last != '\n';
        }
        let mut screen = anstream::stdout().lock();
        write!(screen, "{text}")?;
        screen.flush()
    }
}
