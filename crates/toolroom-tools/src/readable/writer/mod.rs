//! Writes blocks of text one below the other, as Markdown or without marks.

mod blocks;
mod inline;

use super::links::Links;
use super::table::Table;

/// Lists and quotes that are nested deeper are not indented further: nobody could tell, and every line of a page that
/// nests without end would be as long as the page.
const MAX_LEVELS: usize = 8;

/// What the following blocks belong to.
enum Level {
    Quote,
    Item { marker: String, is_written: bool },
}

struct OpenLink {
    /// Where its text begins in the line.
    start: usize,
    /// Taken by the first text that has it.
    target: Option<String>,
    /// Whether it leads to a place on the same page.
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
    /// The block that is being read.
    line: String,
    space_is_due: bool,
    heading: Option<u8>,
    first_heading: String,
    levels: Vec<Level>,
    /// The lists that are open: the next number of each ordered one.
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
                // A soft hyphen says where a word may be parted.
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

    /// A block ends here, and another one begins.
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

    /// What was read since the last block. Links and code that are open go on in the next one.
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
            // Items stand close together.
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
    /// Adds to what stands before the first line of a block and before its further lines.
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
