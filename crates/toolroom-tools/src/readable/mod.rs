//! Extracts the readable text of a page.
//!
//! ```text
//! charset     bytes   -> text, in the detected encoding
//! walk        HTML    -> open elements, and which of them are readable
//! element     names   -> the role of an element
//! writer      blocks  -> Markdown or plain text; `table` and `links` are parts of it
//! json        JSON    -> formatted JSON
//! ```
//!
//! Pages are untrusted, so nothing here recurses or builds a tree: tags are processed in order, with a list of open
//! elements. Time and memory are linear in the page size. Text is not escaped: the result is read by models and people,
//! not rendered again.

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

/// The readable content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The page title, or its first heading; may be empty.
    pub title: String,
    pub text: String,
}

/// A page as Markdown: headings, links, lists, code, tables. `base` resolves relative links.
#[must_use]
pub fn markdown(html: &str, base: &Url) -> Page {
    read(html, || Writer::markdown(Links::new(base.clone())))
}

/// A page as plain text.
#[must_use]
pub fn plain(html: &str) -> Page {
    read(html, Writer::plain)
}

/// Which part of a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Its main element.
    Main,
    /// Everything except navigation, headers and footers.
    Content,
    Everything,
}

/// A main element with less text is not the content.
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
