//! The standard input of a command.

use std::rc::Rc;

/// The source of standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum StdinSource {
    /// The standard input of the whole line.
    #[default]
    Inherited,
    /// A file.
    File,
    Empty,
    /// A text in the line itself, if known.
    Text(Option<Rc<str>>),
    /// Other commands.
    Pipe {
        /// A downloader or decoder is among them.
        is_fetched: bool,
        /// Their output, if known.
        text: Option<Rc<str>>,
    },
}

impl StdinSource {
    /// Whether it is known to be empty.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Text(Some(text)) | Self::Pipe { text: Some(text), .. } => text.trim().is_empty(),
            Self::Text(None) | Self::Pipe { text: None, .. } | Self::Inherited | Self::File => false,
        }
    }

    /// The part that one of several commands reads: an unknown one.
    pub(super) fn shared(&self) -> Self {
        match self {
            Self::Text(_) => Self::Text(None),
            Self::Pipe { is_fetched, .. } => Self::Pipe { is_fetched: *is_fetched, text: None },
            other => other.clone(),
        }
    }
}

/// Programs that fetch text from the network.
const DOWNLOADERS: [&str; 17] = [
    "curl", "wget", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "fetch", "nc", "ncat", "netcat",
    "socat", "ftp", "tftp", "telnet",
];

/// Programs that decode text.
const DECODERS: [&str; 13] = [
    "base64", "base32", "basenc", "xxd", "uudecode", "openssl", "gpg", "rev", "tr", "gunzip", "zcat", "unxz",
    "bunzip2",
];

/// Programs that list names, or print text that is not a name.
const LISTING: &str = "ls find fd fdfind git rg grep ag which type command pwd dirname basename realpath readlink mktemp \
    date nproc seq id whoami hostname uname wc cargo rustc go npm getconf";

/// Whether the output of the program is unrelated to the text of the line.
pub(super) fn is_listing(name: &str) -> bool {
    LISTING.split_whitespace().any(|listing| listing == name)
}

/// Whether the output of the program must not be run as code.
pub(super) fn is_fetched(name: &str) -> bool {
    DOWNLOADERS.contains(&name) || DECODERS.contains(&name)
}
