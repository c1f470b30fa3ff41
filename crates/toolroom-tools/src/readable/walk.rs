//! Processes the tags of a page in order, keeping track of open elements.

use std::collections::HashMap;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer, naive_next_state};

use super::element::{Fate, Role, fate, is_void, role};
use super::writer::Writer;
use super::{Extent, Page};

/// How far back the list of open elements is searched for a related one.
const LOOK_BACK: usize = 32;

/// A longer title is ignored.
const MAX_TITLE: usize = 300;

/// No legitimate style that hides something is longer.
const MAX_STYLE: usize = 4_000;

/// The relevant attributes of an element.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) href: Option<String>,
    pub(super) src: Option<String>,
    pub(super) alt: Option<String>,
    pub(super) class: Option<String>,
    pub(super) start: Option<String>,
    is_hidden: bool,
    is_layout: bool,
    is_main: bool,
}

/// An element name that occurs in the page.
#[derive(Clone, Copy)]
struct Name {
    number: usize,
    role: Role,
    is_void: bool,
}

struct Open {
    name: usize,
    role: Role,
    is_main: bool,
    /// Whether its content is skipped.
    hides: bool,
}

/// One pass over a page.
pub(super) struct Walk {
    writer: Writer,
    extent: Extent,
    /// Number of open main elements, and whether there was one.
    mains: usize,
    has_main: bool,
    /// Whether `<x/>` is self-closing.
    is_xml: bool,
    names: HashMap<Vec<u8>, Name>,
    /// Number of open elements per name, so that an unmatched end tag costs nothing.
    counts: Vec<usize>,
    open: Vec<Open>,
    hidden: usize,
    /// Number of open articles and similar elements.
    contents: usize,
    title: String,
    in_title: bool,
    current: Option<(Vec<u8>, Attributes)>,
    attribute: Vec<u8>,
}

impl Walk {
    /// Reads the given extent of a page; also returns whether it has a main element.
    pub(super) fn through(html: &str, writer: Writer, extent: Extent) -> (Page, bool) {
        let mut walk = Self {
            writer,
            extent,
            mains: 0,
            has_main: false,
            is_xml: html.trim_start().starts_with("<?xml"),
            names: HashMap::new(),
            counts: Vec::new(),
            open: Vec::new(),
            hidden: 0,
            contents: 0,
            title: String::new(),
            in_title: false,
            current: None,
            attribute: Vec::new(),
        };
        let events = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<State> {
            walk.event(&event)
        });
        let mut tokens = Tokenizer::new_with_emitter(html, events);
        // The content of a script or title is not HTML.
        while let Some(Ok(state)) = tokens.next() {
            tokens.set_state(state);
        }
        drop(tokens);
        let has_main = walk.has_main;
        (walk.finish(), has_main)
    }

    fn finish(mut self) -> Page {
        while let Some(open) = self.open.pop() {
            self.leave(&open);
        }
        let (text, heading) = self.writer.finish();
        let title = if self.title.is_empty() { heading } else { self.title };
        Page { title, text }
    }

    fn event(&mut self, event: &CallbackEvent<'_>) -> Option<State> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.current = Some((name.to_vec(), Attributes::default()));
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute.clear();
                self.attribute.extend_from_slice(name);
                self.attribute(b"");
            }
            CallbackEvent::AttributeValue { value } => self.attribute(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                let (name, attributes) = self.current.take()?;
                let is_ended = *self_closing && (self.is_xml || self.is_drawn(&name));
                return self.start(&name, &attributes, is_ended);
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    }

    fn attribute(&mut self, value: &[u8]) {
        let Some((_, attributes)) = &mut self.current else { return };
        let text = || String::from_utf8_lossy(value).into_owned();
        let set = |slot: &mut Option<String>| {
            if !value.is_empty() && slot.is_none() {
                *slot = Some(text());
            }
        };
        match self.attribute.as_slice() {
            b"href" => set(&mut attributes.href),
            b"src" => set(&mut attributes.src),
            b"alt" => set(&mut attributes.alt),
            b"class" => set(&mut attributes.class),
            b"start" => set(&mut attributes.start),
            b"hidden" => attributes.is_hidden = true,
            b"aria-hidden" => attributes.is_hidden |= value.eq_ignore_ascii_case(b"true"),
            b"style" => attributes.is_hidden |= hides(&text()),
            b"role" => {
                attributes.is_layout = matches!(value, b"presentation" | b"none");
                attributes.is_main = value == b"main";
            }
            _ => {}
        }
    }

    /// Sets the tokenizer state for content that is not HTML.
    fn start(&mut self, name: &[u8], attributes: &Attributes, is_ended: bool) -> Option<State> {
        let found = self.name(name);
        self.make_room(found.role);
        // Some pages hide themselves until their scripts have run.
        let is_whole_page = matches!(name, b"html" | b"body");
        let hides = attributes.is_hidden && !is_whole_page
            || match found.role {
                Role::Unread => true,
                Role::Frame => self.extent != Extent::Everything,
                Role::Header => self.extent != Extent::Everything && self.contents == 0,
                _ => false,
            };
        let is_main = found.role == Role::Main || attributes.is_main;
        self.mains += usize::from(is_main && !found.is_void);
        self.has_main |= is_main && self.hidden == 0;
        if !hides && (self.is_read() || self.hidden == 0 && found.role == Role::Title) {
            self.enter(found.role, attributes);
        }
        if found.is_void {
            return None;
        }
        self.hidden += usize::from(hides);
        self.contents += usize::from(is_main || found.role == Role::Content);
        if let Some(count) = self.counts.get_mut(found.number) {
            *count += 1;
        }
        self.open.push(Open { name: found.number, role: found.role, is_main, hides });
        if is_ended {
            self.end(name);
            return None;
        }
        naive_next_state(name)
    }

    fn end(&mut self, name: &[u8]) {
        let found = self.name(name);
        match found.role {
            // Browsers treat these two end tags as start tags.
            Role::Break => return self.writer_if_read(Writer::line_break),
            Role::Paragraph if !self.is_open(found.number) => {
                return self.writer_if_read(Writer::block);
            }
            _ => {}
        }
        if self.is_kept_in(found) {
            return;
        }
        while self.is_open(found.number)
            && let Some(open) = self.open.pop()
        {
            self.leave(&open);
            if open.name == found.number {
                break;
            }
        }
    }

    /// Whether the element contains the current cell: only its own table ends a cell.
    fn is_kept_in(&self, ended: Name) -> bool {
        let ends_cells = matches!(ended.role, Role::Cell | Role::Row | Role::Rows | Role::Table);
        let mut above = self.open.iter().rev().take(LOOK_BACK);
        let first = above.find(|open| open.name == ended.number || open.role == Role::Cell);
        !ends_cells && first.is_some_and(|open| open.name != ended.number)
    }

    /// Ends elements whose end is implied by the start of another.
    fn make_room(&mut self, begins: Role) {
        let above = self.open.iter().rev().take(LOOK_BACK).map(|open| fate(open.role, begins));
        let mut fates = above.take_while(|fate| *fate != Fate::Holds);
        let Some(distance) = fates.position(|fate| fate == Fate::Ends) else { return };
        for _ in 0..=distance {
            if let Some(open) = self.open.pop() {
                self.leave(&open);
            }
        }
    }

    fn name(&mut self, name: &[u8]) -> Name {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let fresh = Name { number: self.counts.len(), role: role(name), is_void: is_void(name) };
        self.counts.push(0);
        self.names.insert(name.to_vec(), fresh);
        fresh
    }

    fn is_open(&self, number: usize) -> bool {
        self.counts.get(number).is_some_and(|count| *count > 0)
    }

    /// Whether an element is, or is in, SVG or MathML.
    fn is_drawn(&self, name: &[u8]) -> bool {
        let drawings: [&[u8]; 2] = [b"svg", b"math"];
        let is_in = |drawing| self.names.get(drawing).is_some_and(|known| self.is_open(known.number));
        drawings.into_iter().any(|drawing| name == drawing || is_in(drawing))
    }

    fn is_read(&self) -> bool {
        self.hidden == 0 && (self.extent != Extent::Main || self.mains > 0)
    }

    fn writer_if_read(&mut self, write: impl FnOnce(&mut Writer)) {
        if self.is_read() {
            write(&mut self.writer);
        }
    }

    fn enter(&mut self, role: Role, attributes: &Attributes) {
        let writer = &mut self.writer;
        match role {
            role if role.is_block() => writer.block(),
            Role::Heading(level) => writer.heading(level),
            Role::List { is_ordered } => writer.list(is_ordered, attributes.start.as_deref()),
            Role::Item => writer.item(),
            Role::Quote => writer.quote(),
            Role::Preformatted => writer.preformatted(attributes.class.as_deref()),
            Role::Code => writer.code(attributes.class.as_deref()),
            Role::Link => writer.link(attributes.href.as_deref()),
            Role::Image => writer.image(attributes.alt.as_deref(), attributes.src.as_deref()),
            Role::Break => writer.line_break(),
            Role::Rule => writer.rule(),
            Role::Table => writer.table(attributes.is_layout),
            Role::Row => writer.row(),
            Role::Cell => writer.cell(),
            Role::Title => self.in_title = self.title.is_empty(),
            Role::Base => writer.base(attributes.href.as_deref()),
            _ => {}
        }
    }

    fn leave(&mut self, open: &Open) {
        if let Some(count) = self.counts.get_mut(open.name) {
            *count = count.saturating_sub(1);
        }
        self.hidden -= usize::from(open.hides);
        self.contents -= usize::from(open.is_main || open.role == Role::Content);
        let was_read = self.is_read() && !open.hides;
        self.mains -= usize::from(open.is_main);
        if open.role == Role::Title {
            self.in_title = false;
        }
        if !was_read {
            return;
        }
        let writer = &mut self.writer;
        match open.role {
            role if role.is_block() => writer.block(),
            Role::Heading(_) => writer.end_heading(),
            Role::List { .. } => writer.end_list(),
            Role::Item | Role::Quote => writer.end_level(),
            Role::Preformatted => writer.end_preformatted(),
            Role::Code => writer.end_code(),
            Role::Link => writer.end_link(),
            Role::Table => writer.end_table(),
            Role::Cell => writer.end_cell(),
            Role::Title => self.in_title = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title = words.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect();
        } else if self.is_read() && self.open.last().is_none_or(|open| open.role != Role::Title) {
            self.writer.text(text);
        }
    }
}

/// Whether a style hides its element. Hidden text is a way to inject prompts that people cannot see.
fn hides(style: &str) -> bool {
    let dense = style.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase());
    let dense: String = dense.take(MAX_STYLE).collect();
    dense.contains("display:none") || dense.contains("visibility:hidden")
}
