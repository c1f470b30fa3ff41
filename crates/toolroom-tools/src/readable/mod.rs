//! What a person would read of a page, without the page around it.
//!
//! ```text
//! charset     bytes   -> text, in whichever encoding the page is
//! walk        HTML    -> what is open, and what of it is not for reading
//! element     names   -> what an element means to a reader
//! writer      blocks  -> Markdown or plain text; `table` and `links` are parts of it
//! json        JSON    -> JSON that can be read
//! ```
//!
//! Pages are written by anybody, so nothing here recurses and nothing builds a tree: tags are taken as they come, with
//! a list of those that are open. Time and memory are proportional to the page, whatever is in it. Text is not escaped:
//! the result is read by models and people and not rendered again.

mod charset;
mod element;
mod json;
mod links;
mod table;
mod walk;
mod writer;

use toolroom_host::net::Url;

pub use self::charset::decode;
pub use self::json::pretty;
use self::links::Links;
use self::walk::Walk;
use self::writer::Writer;

/// What there is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What the page calls itself, or its first heading; empty if it has neither.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// A page as Markdown: headings, links, lists, code, tables. `base` is where it came from, which relative links go by.
#[must_use]
pub fn markdown(html: &str, base: &Url) -> Page {
    read(html, || Writer::markdown(Links::new(base.clone())))
}

/// A page as mere text.
#[must_use]
pub fn plain(html: &str) -> Page {
    read(html, Writer::plain)
}

/// What of a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// What it calls its main part.
    Main,
    /// What is not navigation, header or footer.
    Content,
    Everything,
}

/// A main part with less is not what the page is about.
const LEAST_MAIN: usize = 200;

fn read(html: &str, writer: impl Fn() -> Writer) -> Page {
    let (page, has_main) = Walk::through(html, writer(), Extent::Content);
    if has_main {
        let (main, _) = Walk::through(html, writer(), Extent::Main);
        if main.text.len() >= LEAST_MAIN {
            return main;
        }
    }
    if page.text.is_empty() { Walk::through(html, writer(), Extent::Everything).0 } else { page }
}

#[cfg(test)]
#[path = "readable_tests.rs"]
mod tests;
