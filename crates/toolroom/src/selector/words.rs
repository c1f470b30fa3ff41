//! Splits texts and names into words.

/// Bytes of a word that count.
const LONGEST: usize = 64;

/// Calls `take` with every word of a text, in lower case. Names are words too: `getLocal_time` gives `get`, `local` and
/// `time`, and `getlocal` besides, because people write both `GitHub` and `github`. Scripts that put no spaces between
/// words give pairs of letters.
pub(super) fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut tokenizer = Tokenizer::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if has_no_spaces(c) {
            tokenizer.end_word(&mut take);
            tokenizer.pair(c, &mut take);
        } else if c.is_alphanumeric() {
            tokenizer.end_pairs(&mut take);
            tokenizer.word.push(c);
        } else if !matches!(c, '\'' | '’') {
            tokenizer.end_word(&mut take);
            tokenizer.end_pairs(&mut take);
        } else if matches!(chars.peek(), Some('s' | 'S')) {
            // `the tool's` has the words `tool` and `s`.
            tokenizer.end_word(&mut take);
        }
        // Other apostrophes are dropped: `don't` is one word.
    }
    tokenizer.end_word(&mut take);
    tokenizer.end_pairs(&mut take);
}

/// The state of the tokenizer.
#[derive(Default)]
struct Tokenizer {
    /// A word, as it came.
    word: String,
    lower: String,
    /// The last letter of a script without spaces, and whether it was already emitted in a pair.
    last: Option<(char, bool)>,
}

impl Tokenizer {
    fn pair(&mut self, c: char, take: &mut impl FnMut(&str)) {
        if let Some((last, _)) = self.last {
            self.lower.clear();
            self.lower.extend([last, c]);
            take(&self.lower);
        }
        self.last = Some((c, self.last.is_some()));
    }

    fn end_pairs(&mut self, take: &mut impl FnMut(&str)) {
        if let Some((alone, false)) = self.last.take() {
            take(alone.encode_utf8(&mut [0; 4]));
        }
    }

    fn end_word(&mut self, take: &mut impl FnMut(&str)) {
        if self.word.is_empty() {
            return;
        }
        let mut from = 0;
        let mut before = (' ', ' ');
        for (at, c) in self.word.char_indices() {
            // `camelCase` turns at the `C`, `PDFTool` at the `T`, which only the letter behind it shows.
            let turn = if c.is_uppercase() && !before.1.is_uppercase() && before.1 != ' ' {
                Some(at)
            } else if c.is_lowercase() && before.1.is_uppercase() && before.0.is_uppercase() {
                Some(at - before.1.len_utf8())
            } else {
                None
            };
            if let Some(turn) = turn.filter(|turn| *turn > from) {
                emit(self.word.get(from..turn), &mut self.lower, take);
                from = turn;
            }
            before = (before.1, c);
        }
        emit(self.word.get(from..), &mut self.lower, take);
        if from > 0 {
            emit(Some(&self.word), &mut self.lower, take);
        }
        self.word.clear();
    }
}

fn emit(part: Option<&str>, lower: &mut String, take: &mut impl FnMut(&str)) {
    let Some(part) = part else { return };
    let part = part.get(..part.floor_char_boundary(LONGEST)).unwrap_or(part);
    lower.clear();
    if part.is_ascii() {
        lower.push_str(part);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(part.chars().flat_map(char::to_lowercase));
    }
    take(lower);
}

/// Chinese, Japanese, Thai, Lao, Burmese, Khmer: letters follow each other without spaces.
fn has_no_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
