//! Inline elements: links, code, images, line breaks.

use super::{OpenLink, Writer};

impl Writer {
    pub(in crate::readable) fn base(&mut self, href: Option<&str>) {
        if let (Some(links), Some(href)) = (&mut self.links, href) {
            links.rebase(href);
        }
    }

    pub(in crate::readable) fn line_break(&mut self) {
        if let Some(preformatted) = &mut self.preformatted {
            preformatted.text.push('\n');
        } else if self.is_in_cell() || self.code.is_some() {
            self.space_is_due = true;
        } else if self.line.ends_with('\n') {
            // Some pages separate paragraphs by two line breaks.
            self.block();
        } else if !self.line.is_empty() {
            self.line.push('\n');
            self.space_is_due = false;
        }
    }

    pub(in crate::readable) fn link(&mut self, href: Option<&str>) {
        // Inside code, a link would show its Markdown syntax.
        if self.preformatted.is_some() || self.code.is_some() {
            return;
        }
        let target = self.links.as_mut().zip(href).and_then(|(links, href)| links.target(href));
        self.put_space();
        let is_anchor = href.is_some_and(|href| href.starts_with('#'));
        self.link = Some(OpenLink { start: self.line.len(), target, is_anchor });
    }

    pub(in crate::readable) fn end_link(&mut self) {
        if self.link.is_some() {
            self.mark_code();
            self.mark_link();
            self.link = None;
        }
    }

    /// Ends the open link, if it has text to click on.
    pub(super) fn mark_link(&mut self) {
        let Some(link) = &mut self.link else { return };
        let read = self.line.split_off(link.start.min(self.line.len()));
        let text = read.trim();
        match link.target.take() {
            Some(target) if !text.is_empty() => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let words = words.replace('[', "\\[").replace(']', "\\]");
                if read.starts_with(' ') {
                    self.line.push(' ');
                }
                self.line.extend(["[", &words, "](", &target, ")"]);
                self.space_is_due |= read.ends_with(' ');
            }
            // A permalink sign of a heading.
            None if link.is_anchor && !text.contains(char::is_alphanumeric) => {}
            target => {
                // A link over several blocks: the first block with text becomes the link.
                link.target = target;
                self.line.push_str(&read);
            }
        }
    }

    pub(in crate::readable) fn code(&mut self, class: Option<&str>) {
        if let Some(preformatted) = &mut self.preformatted {
            preformatted.name_language(class);
        } else if self.code.is_none() {
            self.put_space();
            self.code = Some(self.line.len());
        }
    }

    pub(in crate::readable) fn end_code(&mut self) {
        self.mark_code();
        self.code = None;
    }

    pub(super) fn mark_code(&mut self) {
        let Some(start) = self.code else { return };
        let read = self.line.split_off(start.min(self.line.len()));
        let text = read.trim();
        if text.is_empty() || !self.has_marks() {
            self.line.push_str(&read);
        } else {
            let (before, after) = match text.contains('`') {
                true => ("`` ", " ``"),
                false => ("`", "`"),
            };
            self.line.extend([before, text, after]);
        }
        self.code = Some(self.line.len());
    }

    pub(in crate::readable) fn image(&mut self, alt: Option<&str>, src: Option<&str>) {
        let Some(alt) = alt.map(str::trim).filter(|alt| !alt.is_empty()) else { return };
        let is_plain = self.link.is_some() || self.code.is_some() || self.preformatted.is_some();
        let target = self.links.as_mut().zip(src).and_then(|(links, src)| links.target(src));
        match target {
            Some(target) if !is_plain => {
                self.text("![");
                self.text(&alt.replace('[', "\\[").replace(']', "\\]"));
                self.space_is_due = false;
                self.line.extend(["](", &target, ")"]);
            }
            _ => self.text(alt),
        }
    }
}
