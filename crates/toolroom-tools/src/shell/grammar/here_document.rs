//! The lines of here-documents.

use super::parser::{Awaited, Parser, Read};
use super::tree::Piece;

impl Parser<'_> {
    /// Reads the lines that follow, up to the delimiter.
    pub(super) fn here_document(&mut self, awaited: &Awaited) -> Read<()> {
        let mut text = String::new();
        loop {
            let Some(line) = self.here_line(awaited.expands) else {
                return self.cursor.error("a here-document without its end");
            };
            let line = if awaited.strips_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if line.strip_suffix('\n').unwrap_or(line) == awaited.delimiter {
                break;
            }
            if !line.ends_with('\n') {
                return self.cursor.error("a here-document without its end");
            }
            text.push_str(line);
        }
        let pieces = match (awaited.expands, text.is_empty()) {
            (_, true) => Vec::new(),
            (true, false) => self.nested(|parser| {
                let mut part = parser.part(&text)?;
                let read = part.here_pieces();
                parser.join(&part, read)
            })?,
            (false, false) => vec![Piece::Single(text)],
        };
        // Nobody else fills it.
        drop(awaited.body.set(pieces));
        Ok(())
    }

    /// The next line with its end; continued lines are one where the shell expands them.
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

    /// The whole text as lines that the shell expands.
    fn here_pieces(&mut self) -> Read<Vec<Piece>> {
        let pieces = self.quoted_pieces(None)?;
        match self.cursor.peek() {
            None => Ok(pieces),
            Some(_) => self.cursor.error("a here-document that is not understood"),
        }
    }
}
