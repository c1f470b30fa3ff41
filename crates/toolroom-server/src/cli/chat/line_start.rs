//! Recognizes Markdown blocks by the start of a line.

/// Limit of indentation and of marks. Longer starts are plain text.
pub(super) const MAX_MARK: usize = 40;

/// The mark around a code block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

pub(super) enum LineStart {
    /// More characters are needed.
    Incomplete,
    Plain,
    Heading {
        level: usize,
    },
    Item {
        indent: usize,
    },
    Quote,
    Fence(Fence),
}

/// Classifies the start of a line.
pub(super) fn line_start(start: &str) -> LineStart {
    let text = start.trim_start_matches(' ');
    let indent = start.len() - text.len();
    let Some(first) = text.chars().next() else {
        return if indent < MAX_MARK { LineStart::Incomplete } else { LineStart::Plain };
    };
    let marks = text.chars().take_while(|c| *c == first).count();
    let next = text.chars().nth(marks);
    match (first, next) {
        _ if text.len() > MAX_MARK => LineStart::Plain,
        ('#', None) if marks <= 6 => LineStart::Incomplete,
        ('#', Some(' ')) if marks <= 6 => match text.chars().nth(marks + 1) {
            None => LineStart::Incomplete,
            Some(_) => LineStart::Heading { level: marks },
        },
        ('`' | '~', None) => LineStart::Incomplete,
        ('`' | '~', Some(next)) if marks >= 3 && next != '`' => {
            LineStart::Fence(Fence { mark: first, length: marks })
        }
        ('-' | '*' | '_' | '+', None) => LineStart::Incomplete,
        // A rule may have spaces between its marks.
        ('-' | '*' | '_', Some(' ')) if text.chars().all(|c| c == first || c == ' ') => LineStart::Incomplete,
        ('-' | '*' | '+', Some(' ')) if marks == 1 && !text.starts_with("- - ") => LineStart::Item { indent },
        ('>', None) => LineStart::Incomplete,
        ('>', Some(_)) => LineStart::Quote,
        _ => LineStart::Plain,
    }
}

/// The fence opened by a complete line without a language.
pub(super) fn is_fence(line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    (line.len() >= 3 && line.chars().all(|c| c == mark)).then_some(Fence { mark, length: line.len() })
}

/// Whether a line with this start may close the code block.
pub(super) fn could_close(start: &str, fence: Fence) -> bool {
    start.len() <= MAX_MARK && start.trim_matches(' ').chars().all(|c| c == fence.mark)
}

/// Whether a complete line closes the code block.
pub(super) fn closes(line: &str, fence: Fence) -> bool {
    line.len() >= fence.length && line.chars().all(|c| c == fence.mark)
}

/// Whether a complete line is a horizontal rule.
pub(super) fn is_rule(line: &str) -> bool {
    let marks: String = line.chars().filter(|c| *c != ' ').collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.chars().all(|c| c == *mark))
}
