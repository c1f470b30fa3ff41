//! What is seen of a run while it goes on.

use std::io::{self, IsTerminal, Write};

use toolroom::agent::StatusLine;
use toolroom::conversation::{NumberedEvent, RunEvent};
use toolroom::redact::Stream;

use super::card::Card;
use super::markdown::Markdown;
use crate::cli::console::output::{DIM, Output, can_erase, harmless, one_line, visible};
use crate::cli::console::redaction;
use crate::documents::offer_told;

/// Who watches a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Look {
    /// A person at a terminal with colours.
    Styled,
    /// A person at a terminal without; nothing moves.
    Plain,
    /// A file or a pipe gets the answer alone, and later.
    Answer,
    /// A program gets every event as a line.
    Events,
    /// A program gets one document, later.
    Document,
}

impl Look {
    /// What standard output and the flags ask for.
    pub(in crate::cli) fn of(json: bool, events: bool, plain: bool) -> Self {
        let choice = anstream::AutoStream::choice(&io::stdout());
        match (events, json, io::stdout().is_terminal()) {
            (true, ..) => Self::Events,
            (_, true, _) => Self::Document,
            (_, _, false) => Self::Answer,
            _ if plain || choice == anstream::ColorChoice::Never => Self::Plain,
            _ => Self::Styled,
        }
    }

    /// Whether a person reads along.
    pub(in crate::cli) const fn is_read_along(self) -> bool {
        matches!(self, Self::Styled | Self::Plain)
    }
}

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// A line that a narrow screen would break could not be taken back.
const STATUS_CHARS: usize = 72;

pub(super) struct Canvas {
    look: Look,
    output: Output,
    status: StatusLine,
    /// Whether the status is shown: never where it would be in the way of text, or move before people who do not want that.
    is_lively: bool,
    frame: usize,
    words: Words,
    cards: Vec<Card>,
    /// The model that is asked first.
    first: Option<String>,
    /// Whether anything of the present answer was shown.
    has_shown: bool,
    /// Nobody reads any more.
    broken: Option<anyhow::Error>,
}

/// The answer as it is put on standard output.
struct Words {
    secrets: Option<Stream>,
    markdown: Option<Markdown>,
    /// Whether the cursor is in the middle of a line.
    is_open: bool,
}

impl Canvas {
    pub(super) fn new(look: Look, is_plain: bool, output: Output) -> Self {
        let markdown = (look == Look::Styled).then(Markdown::default);
        let is_lively = !is_plain && !matches!(look, Look::Events | Look::Document) && can_erase();
        Self {
            look,
            output,
            status: StatusLine::default(),
            is_lively,
            frame: 0,
            words: Words { secrets: None, markdown, is_open: false },
            cards: Vec::new(),
            first: None,
            has_shown: false,
            broken: None,
        }
    }

    /// Whether time passing changes what is seen.
    pub(super) fn is_lively(&self) -> bool {
        self.is_lively
    }

    /// Time has passed.
    pub(super) fn tick(&mut self) {
        self.frame = self.frame.wrapping_add(1);
        self.show_status();
    }

    fn show_status(&self) {
        if !self.is_lively || self.words.is_open {
            return;
        }
        if let Some(line) = self.status.line() {
            let frame = FRAMES.get(self.frame % FRAMES.len()).copied().unwrap_or(' ');
            self.output.progress(&format!("{frame} {}", one_line(&line, STATUS_CHARS)));
        }
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, told: &NumberedEvent) {
        if self.broken.is_some() {
            return;
        }
        let shown = match self.look {
            Look::Events => self.output.line_of_json(told),
            Look::Document => Ok(()),
            Look::Styled | Look::Plain | Look::Answer => self.show(&told.event).map_err(Into::into),
        };
        self.broken = shown.err();
    }

    fn show(&mut self, event: &RunEvent) -> io::Result<()> {
        self.status.take(event);
        match event {
            RunEvent::Asking { model, .. } => {
                self.first.get_or_insert_with(|| model.to_string());
                self.has_shown = false;
            }
            RunEvent::Text { text } if self.look.is_read_along() => {
                self.has_shown = true;
                self.clear_status();
                return self.words.write(text);
            }
            RunEvent::Void { reason, next, .. } => {
                let what = if self.has_shown { "the answer broke off" } else { "no answer" };
                let then = next.as_deref().map_or("asking again".to_owned(), |next| format!("asking {next}"));
                self.say(&format!("{what}: {reason}; {then}"))?;
                self.has_shown = false;
            }
            RunEvent::Answered { text, .. } if self.look.is_read_along() => {
                if !self.has_shown && !text.trim().is_empty() {
                    self.clear_status();
                    self.words.write(text)?;
                }
                self.clear_status();
                self.words.end()?;
            }
            RunEvent::CallBegan(notice) => self.cards.push(Card::begun(notice)),
            RunEvent::CallEnded { offers, .. } => {
                self.fold(event)?;
                let told = if self.look.is_read_along() { offers.as_slice() } else { &[] };
                for offer in told {
                    self.say(&offer_told(offer))?;
                }
            }
            RunEvent::Asks { .. } | RunEvent::Handed { .. } => self.fold(event)?,
            RunEvent::Guarded { reason, .. } => self.say(&format!("no more tools: {reason}"))?,
            RunEvent::Warned { reason, .. } => self.say(reason)?,
            RunEvent::Compacted { before, after, summarised } => {
                let how = if *summarised { "summarised" } else { "left out" };
                self.say(&format!("older parts of the conversation were {how}: {before} → {after} tokens"))?;
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

    /// Puts the card of a call that has ended on the screen.
    fn fold(&mut self, event: &RunEvent) -> io::Result<()> {
        let Some(place) = self.cards.iter_mut().position(|card| card.take(event)) else { return Ok(()) };
        let card = self.cards.remove(place);
        // Who waits to be asked is seen in the question.
        if !matches!(event, RunEvent::Asks { .. }) && io::stderr().is_terminal() {
            self.clear_status();
            self.words.end()?;
            self.output.talk(card.line());
        }
        Ok(())
    }

    /// Says something of ours between what others say.
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.clear_status();
        self.words.end()?;
        self.output.talk(format_args!("{DIM}{}{DIM:#}", visible(&text.replace('\n', " "))));
        Ok(())
    }

    fn clear_status(&self) {
        if self.is_lively && !self.words.is_open {
            self.output.end_progress();
        }
    }

    /// Nothing follows. Says who was asked first, and whether everything could be shown.
    pub(super) fn end(mut self) -> Painted {
        self.clear_status();
        let ended = self.words.end().map_err(anyhow::Error::from);
        Painted { first: self.first, broken: self.broken.or(ended.err()) }
    }
}

/// What is left of a canvas.
pub(super) struct Painted {
    /// The model that was asked first.
    pub(super) first: Option<String>,
    /// Why not everything was shown.
    pub(super) broken: Option<anyhow::Error>,
}

impl Words {
    fn write(&mut self, text: &str) -> io::Result<()> {
        let safe = self.secrets.get_or_insert_with(redaction::stream).push(text);
        self.put(&safe)
    }

    /// Ends the line, if one was begun.
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
            None => harmless(text),
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
