//! Block elements: headings, lists, quotes, code, tables.

use super::{Level, Preformatted, Writer};
use crate::readable::table::{Finished, Table};

/// Longer language names are ignored.
const MAX_LANGUAGE: usize = 20;

impl Writer {
    pub(in crate::readable) fn heading(&mut self, level: u8) {
        self.block();
        // A table that contains headings is a layout.
        self.lay_out();
        self.heading = Some(level);
    }

    pub(in crate::readable) fn end_heading(&mut self) {
        self.block();
        self.heading = None;
    }

    pub(in crate::readable) fn rule(&mut self) {
        self.block();
        let is_apart = self.preformatted.is_none() && !self.is_in_cell() && !self.out.is_empty();
        if self.has_marks() && is_apart {
            self.emit("---");
        }
    }

    pub(in crate::readable) fn list(&mut self, is_ordered: bool, start: Option<&str>) {
        self.block();
        let first = start.and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        self.lists.push(is_ordered.then_some(first));
    }

    pub(in crate::readable) fn end_list(&mut self) {
        self.block();
        self.lists.pop();
    }

    pub(in crate::readable) fn item(&mut self) {
        self.block();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".to_owned(),
        };
        self.levels.push(Level::Item { marker, is_written: false });
    }

    pub(in crate::readable) fn quote(&mut self) {
        self.block();
        self.levels.push(Level::Quote);
    }

    /// Ends an item or a quote.
    pub(in crate::readable) fn end_level(&mut self) {
        self.block();
        self.levels.pop();
    }

    pub(in crate::readable) fn preformatted(&mut self, class: Option<&str>) {
        self.lay_out();
        self.block();
        if self.preformatted.is_none() {
            let mut fresh = Preformatted { text: String::new(), language: None };
            fresh.name_language(class);
            self.preformatted = Some(fresh);
        }
    }

    pub(in crate::readable) fn end_preformatted(&mut self) {
        let Some(Preformatted { text, language }) = self.preformatted.take() else { return };
        let text = text.trim_start_matches('\n').trim_end();
        if text.trim().is_empty() {
            return;
        }
        if !self.has_marks() {
            return self.emit(text);
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((longest + 1).max(3));
        self.emit(&format!("{fence}{}\n{text}\n{fence}", language.unwrap_or_default()));
    }

    pub(in crate::readable) fn table(&mut self, is_layout: bool) {
        // A table inside a table is a layout.
        self.lay_out();
        self.block();
        if self.preformatted.is_none() {
            self.tables.push(Table::new(is_layout));
        }
    }

    pub(in crate::readable) fn end_table(&mut self) {
        self.block();
        match self.tables.pop().map(|table| table.finish(self.has_marks())) {
            Some(Finished::Lines(lines)) => self.emit(&lines),
            Some(Finished::Texts(texts)) => texts.iter().for_each(|text| self.emit(text)),
            None => {}
        }
    }

    pub(in crate::readable) fn row(&mut self) {
        self.block();
        if let Some(table) = self.tables.last_mut() {
            table.row();
        }
    }

    pub(in crate::readable) fn cell(&mut self) {
        self.block();
        if let Some(table) = self.tables.last_mut() {
            table.in_cell = true;
        }
    }

    pub(in crate::readable) fn end_cell(&mut self) {
        if self.is_in_cell() {
            let text = self.take_line();
            if let Some(table) = self.tables.last_mut() {
                table.cell(&text);
                table.in_cell = false;
            }
        } else {
            self.block();
        }
    }

    /// Turns the open table into a layout.
    fn lay_out(&mut self) {
        if !self.is_in_cell() {
            return;
        }
        let texts = self.tables.last_mut().map(Table::become_layout).unwrap_or_default();
        let line = self.take_line();
        texts.iter().for_each(|text| self.emit(text));
        if !line.is_empty() {
            self.emit(&line);
        }
    }
}

impl Preformatted {
    /// The language of `language-rust` or `lang-rust`.
    pub(super) fn name_language(&mut self, class: Option<&str>) {
        let mut words = class.unwrap_or_default().split_ascii_whitespace();
        let named = words.find_map(|word| {
            let name = word.strip_prefix("language-").or_else(|| word.strip_prefix("lang-"));
            name.or_else(|| word.strip_prefix("highlight-source-"))
        });
        let is_name = |name: &&str| {
            name.len() <= MAX_LANGUAGE
                && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-#_".contains(&c))
        };
        if self.language.is_none() {
            self.language = named.filter(is_name).map(str::to_owned);
        }
    }
}
