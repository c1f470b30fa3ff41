//! What HTML elements mean for the text.

/// What an element does to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A block on lines of its own.
    Block,
    /// A block that also ends where the next one begins.
    Paragraph,
    /// Navigation and footers, which are not content.
    Frame,
    /// A header, of the page or of an article.
    Header,
    /// The main content.
    Main,
    /// A text of its own.
    Content,
    /// Never read: scripts, styles, inline graphics.
    Unread,
    Heading(u8),
    List {
        is_ordered: bool,
    },
    Item,
    /// A description list.
    Terms,
    Term,
    Quote,
    /// Preformatted text.
    Preformatted,
    Code,
    Link,
    Image,
    Break,
    Rule,
    Table,
    /// Several rows.
    Rows,
    Row,
    Cell,
    Title,
    /// The base of relative links.
    Base,
    /// Anything inline.
    Inline,
}

impl Role {
    /// Whether it is a plain block.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Paragraph
                | Self::Terms
                | Self::Term
                | Self::Rows
                | Self::Frame
                | Self::Header
                | Self::Main
                | Self::Content
        )
    }
}

pub(super) fn role(name: &[u8]) -> Role {
    match name {
        b"p" => Role::Paragraph,
        b"div" | b"section" | b"aside" | b"body" | b"html" | b"form" | b"fieldset" | b"legend"
        | b"figure" | b"figcaption" | b"address" | b"details" | b"summary" | b"dialog" | b"center"
        | b"hgroup" | b"caption" | b"xmp" => Role::Block,
        b"dl" => Role::Terms,
        b"dt" | b"dd" => Role::Term,
        b"tbody" | b"thead" | b"tfoot" => Role::Rows,
        b"nav" | b"footer" => Role::Frame,
        b"header" => Role::Header,
        b"main" => Role::Main,
        b"article" => Role::Content,
        b"script" | b"style" | b"noscript" | b"svg" | b"template" | b"iframe" | b"object" | b"canvas"
        | b"audio" | b"video" | b"select" | b"datalist" | b"textarea" | b"noembed" | b"noframes" => {
            Role::Unread
        }
        b"h1" => Role::Heading(1),
        b"h2" => Role::Heading(2),
        b"h3" => Role::Heading(3),
        b"h4" => Role::Heading(4),
        b"h5" => Role::Heading(5),
        b"h6" => Role::Heading(6),
        b"ul" | b"menu" | b"dir" => Role::List { is_ordered: false },
        b"ol" => Role::List { is_ordered: true },
        b"li" => Role::Item,
        b"blockquote" => Role::Quote,
        b"pre" | b"listing" => Role::Preformatted,
        b"code" | b"kbd" | b"samp" | b"tt" => Role::Code,
        b"a" => Role::Link,
        b"img" => Role::Image,
        b"br" => Role::Break,
        b"hr" => Role::Rule,
        b"table" => Role::Table,
        b"tr" => Role::Row,
        b"td" | b"th" => Role::Cell,
        b"title" => Role::Title,
        b"base" => Role::Base,
        _ => Role::Inline,
    }
}

/// Whether an element is void: no content and no end tag.
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// What the start of one element means for another that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ends, with everything in it.
    Ends,
    /// It stays open, and so does everything around it.
    Holds,
    /// No effect.
    Unmoved,
}

/// Implied end tags: HTML allows many to be omitted.
pub(super) fn fate(open: Role, begins: Role) -> Fate {
    let (is_ended, is_held) = match begins {
        Role::Item => (open == Role::Item, matches!(open, Role::List { .. } | Role::Cell)),
        Role::Cell => (open == Role::Cell, matches!(open, Role::Row | Role::Table)),
        Role::Row => (open == Role::Row, open == Role::Table),
        Role::Rows => (open == Role::Rows, open == Role::Table),
        Role::Term => (open == Role::Term, open == Role::Terms),
        Role::Link => (open == Role::Link, open == Role::Cell),
        Role::Paragraph
        | Role::Block
        | Role::Frame
        | Role::Header
        | Role::Main
        | Role::Content
        | Role::Heading(_)
        | Role::List { .. }
        | Role::Terms
        | Role::Quote
        | Role::Preformatted
        | Role::Rule
        | Role::Table => {
            let is_held = matches!(
                open,
                Role::Block | Role::Item | Role::Term | Role::Cell | Role::Quote | Role::Main | Role::Content
            );
            (open == Role::Paragraph, is_held)
        }
        Role::Unread | Role::Code | Role::Image | Role::Break | Role::Title | Role::Base | Role::Inline => {
            return Fate::Holds;
        }
    };
    match (is_ended, is_held) {
        (true, _) => Fate::Ends,
        (_, true) => Fate::Holds,
        _ => Fate::Unmoved,
    }
}
