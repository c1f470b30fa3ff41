//! What a line of Markdown is, by how it begins.

/// What nobody indents any deeper, and no mark is longer than.
pub(super) const MAX_MARK: usize = 40;

/// The mark a block of code stands between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

/// What a line begins with.
pub(super) enum Beginning {
    /// More is needed to tell.
    Unclear,
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

/// What a line is that begins so.
pub(super) fn beginning(begun: &str) -> Beginning {
    let text = begun.trim_start_matches(' ');
    let indent = begun.len() - text.len();
    let Some(first) = text.chars().next() else {
        return if indent < MAX_MARK { Beginning::Unclear } else { Beginning::Plain };
    };
    let marks = text.chars().take_while(|c| *c == first).count();
    let next = text.chars().nth(marks);
    match (first, next) {
        _ if text.len() > MAX_MARK => Beginning::Plain,
        ('#', None) if marks <= 6 => Beginning::Unclear,
        ('#', Some(' ')) if marks <= 6 => match text.chars().nth(marks + 1) {
            None => Beginning::Unclear,
            Some(_) => Beginning::Heading { level: marks },
        },
        ('`' | '~', None) => Beginning::Unclear,
        ('`' | '~', Some(next)) if marks >= 3 && next != '`' => {
            Beginning::Fence(Fence { mark: first, length: marks })
        }
        ('-' | '*' | '_' | '+', None) => Beginning::Unclear,
        // A rule may have spaces between its marks.
        ('-' | '*' | '_', Some(' ')) if text.chars().all(|c| c == first || c == ' ') => Beginning::Unclear,
        ('-' | '*' | '+', Some(' ')) if marks == 1 && !text.starts_with("- - ") => Beginning::Item { indent },
        ('>', None) => Beginning::Unclear,
        ('>', Some(_)) => Beginning::Quote,
        _ => Beginning::Plain,
    }
}

/// The fence that a whole line opens, without a language.
pub(super) fn is_fence(line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    (line.len() >= 3 && line.chars().all(|c| c == mark)).then_some(Fence { mark, length: line.len() })
}

/// Whether a line that begins so may still end a block of code.
pub(super) fn could_close(begun: &str, fence: Fence) -> bool {
    begun.len() <= MAX_MARK && begun.trim_matches(' ').chars().all(|c| c == fence.mark)
}

/// Whether a whole line ends it.
pub(super) fn closes(line: &str, fence: Fence) -> bool {
    line.len() >= fence.length && line.chars().all(|c| c == fence.mark)
}

/// Whether a whole line is a line across the page.
pub(super) fn is_rule(line: &str) -> bool {
    let marks: String = line.chars().filter(|c| *c != ' ').collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.chars().all(|c| c == *mark))
}
