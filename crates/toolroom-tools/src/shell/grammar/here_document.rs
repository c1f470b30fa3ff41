//! Here-documents.

use super::parser::{ParseResult, Parser, PendingHereDocument};
use super::tree::Piece;

impl Parser<'_> {
    /// Reads the lines up to the delimiter.
    pub(super) fn here_document(&mut self, pending: &PendingHereDocument) -> ParseResult<()> {
        let mut text = String::new();
        loop {
            let Some(line) = self.here_line(pending.expands) else {
                return self.cursor.error("a here-document without its end");
            };
            let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if line.strip_suffix('\n').unwrap_or(line) == pending.delimiter {
                break;
            }
            if !line.ends_with('\n') {
                return self.cursor.error("a here-document without its end");
            }
            text.push_str(line);
        }
        let pieces = match (pending.expands, text.is_empty()) {
            (_, true) => Vec::new(),
            (true, false) => self.nested(|parser| {
                let mut part = parser.part(&text)?;
                let read = part.here_pieces();
                parser.join(&part, read)
            })?,
            (false, false) => vec![Piece::Single(text)],
        };
        // Each document is filled once.
        drop(pending.body.set(pieces));
        Ok(())
    }

    /// The next line with its line break; continued lines are joined where the shell expands them.
    fn here_line(&mut self, expands: bool) -> Option<String> {
        let mut line = String::new();
        loop {
            let physical = self.cursor.take_while(|byte| byte != b'\n');
            let ended = self.cursor.eat("\n");
            if physical.is_empty() && !ended {
                return (!line.is_empty()).then_some(line);
            }
            let backslashes = physical.bytes().rev().take_while(|byte| *byte == b'\\').count();
            match physical.strip_suffix('\\') {
                Some(continued) if expands && ended && backslashes % 2 == 1 => line.push_str(continued),
                _ => {
                    line.push_str(physical);
                    if ended {
                        line.push('\n');
                    }
                    return Some(line);
                }
            }
        }
    }

    /// The whole text as pieces that the shell expands.
    fn here_pieces(&mut self) -> ParseResult<Vec<Piece>> {
        let pieces = self.quoted_pieces(None)?;
        match self.cursor.peek() {
            None => Ok(pieces),
            Some(_) => self.cursor.error("a here-document that is not understood"),
        }
    }
}
