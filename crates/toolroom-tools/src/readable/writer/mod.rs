//! Writes blocks of text, as Markdown or plain text.

mod blocks;
mod inline;

use super::links::Links;
use super::table::Table;

/// Deeper lists and quotes are not indented further: the lines of an endlessly nested page would otherwise be as long as
/// the page.
const MAX_LEVELS: usize = 8;

/// What the following blocks are nested in.
enum Level {
    Quote,
    Item { marker: String, is_written: bool },
}

struct OpenLink {
    /// Start of its text in the line.
    start: usize,
    /// Used for the first text that has it.
    target: Option<String>,
    /// Whether it leads to a fragment of the same page.
    is_anchor: bool,
}

struct Preformatted {
    text: String,
    language: Option<String>,
}

pub(super) struct Writer {
    /// `None` writes plain text.
    links: Option<Links>,
    out: String,
    /// The current block.
    line: String,
    space_is_due: bool,
    heading: Option<u8>,
    first_heading: String,
    levels: Vec<Level>,
    /// The open lists: the next number of each ordered one.
    lists: Vec<Option<u64>>,
    link: Option<OpenLink>,
    code: Option<usize>,
    preformatted: Option<Preformatted>,
    tables: Vec<Table>,
    /// Whether the last block was in a list.
    follows_item: bool,
}

impl Writer {
    pub(super) fn markdown(links: Links) -> Self {
        Self { links: Some(links), ..Self::plain() }
    }

    pub(super) fn plain() -> Self {
        Self {
            links: None,
            out: String::new(),
            line: String::new(),
            space_is_due: false,
            heading: None,
            first_heading: String::new(),
            levels: Vec::new(),
            lists: Vec::new(),
            link: None,
            code: None,
            preformatted: None,
            tables: Vec::new(),
            follows_item: false,
        }
    }

    /// The text, and its first heading.
    pub(super) fn finish(mut self) -> (String, String) {
        self.block();
        (self.out, self.first_heading)
    }

    fn has_marks(&self) -> bool {
        self.links.is_some()
    }

    fn is_in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.in_cell && !table.is_layout)
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(preformatted) = &mut self.preformatted {
            preformatted.text.extend(text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')));
            return;
        }
        for c in text.chars() {
            match c {
                ' ' | '\n' | '\t' | '\r' | '\x0c' | '\u{a0}' => self.space_is_due = true,
                // A soft hyphen is only a break opportunity.
                '\u{ad}' => {}
                c if c.is_control() => {}
                c => {
                    self.put_space();
                    self.line.push(c);
                }
            }
        }
    }

    fn put_space(&mut self) {
        if self.space_is_due && !self.line.is_empty() && !self.line.ends_with('\n') {
            self.line.push(' ');
        }
        self.space_is_due = false;
    }

    /// Ends the current block and begins another.
    pub(super) fn block(&mut self) {
        if let Some(preformatted) = &mut self.preformatted {
            if !preformatted.text.is_empty() && !preformatted.text.ends_with('\n') {
                preformatted.text.push('\n');
            }
            return;
        }
        if self.is_in_cell() {
            self.space_is_due = true;
            return;
        }
        let line = self.take_line();
        if line.is_empty() {
            return;
        }
        match self.heading {
            Some(level) => {
                let line = line.replace('\n', " ");
                if self.first_heading.is_empty() {
                    self.first_heading.clone_from(&line);
                }
                let marks = if self.has_marks() { "#".repeat(level.into()) + " " } else { String::new() };
                self.emit(&(marks + &line));
            }
            None => self.emit(&line),
        }
    }

    /// Takes the text since the last block. Open links and code continue in the next one.
    fn take_line(&mut self) -> String {
        self.mark_code();
        self.mark_link();
        self.code = self.code.map(|_| 0);
        if let Some(link) = &mut self.link {
            link.start = 0;
        }
        self.space_is_due = false;
        let line = std::mem::take(&mut self.line);
        line.trim().to_owned()
    }

    fn emit(&mut self, block: &str) {
        let begins_item = matches!(self.levels.last(), Some(Level::Item { is_written: false, .. }));
        if !self.out.is_empty() {
            // No blank line between items.
            self.out.push_str(if begins_item && self.follows_item { "\n" } else { "\n\n" });
        }
        self.follows_item = !self.lists.is_empty();
        let (mut first, mut further) = (String::new(), String::new());
        if let Some((innermost, outer)) = self.levels.split_last_mut() {
            let shown = outer.iter_mut().take(MAX_LEVELS - 1);
            shown.chain([innermost]).for_each(|level| level.write(&mut first, &mut further));
        }
        for (number, line) in block.split('\n').enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            self.out.push_str(if number == 0 { &first } else { &further });
            self.out.push_str(line);
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
    }
}

impl Level {
    /// Adds a prefix for the first line of a block and one for its further lines.
    fn write(&mut self, first: &mut String, further: &mut String) {
        match self {
            Self::Quote => {
                first.push_str("> ");
                further.push_str("> ");
            }
            Self::Item { marker, is_written } => {
                let indent = " ".repeat(marker.len());
                first.push_str(if *is_written { &indent } else { marker });
                further.push_str(&indent);
                *is_written = true;
            }
        }
    }
}
