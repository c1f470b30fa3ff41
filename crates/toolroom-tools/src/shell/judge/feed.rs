//! What a command reads on its standard input.

use std::rc::Rc;

/// Where standard input comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Feed {
    /// From wherever the whole line has it.
    #[default]
    Inherited,
    /// From a file.
    File,
    /// There is none.
    Empty,
    /// From a text in the line itself, if it is known.
    Text(Option<Rc<str>>),
    /// From other commands.
    Pipe {
        /// A download or a decoder is among them.
        is_fetched: bool,
        /// What they print, if it is known.
        text: Option<Rc<str>>,
    },
}

impl Feed {
    /// Whether it is known to hold nothing.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Text(Some(text)) | Self::Pipe { text: Some(text), .. } => text.trim().is_empty(),
            Self::Text(None) | Self::Pipe { text: None, .. } | Self::Inherited | Self::File => false,
        }
    }

    /// What one of several commands reads of it: some part, nobody knows which.
    pub(super) fn shared(&self) -> Self {
        match self {
            Self::Text(_) => Self::Text(None),
            Self::Pipe { is_fetched, .. } => Self::Pipe { is_fetched: *is_fetched, text: None },
            other => other.clone(),
        }
    }
}

/// Programs that bring text from elsewhere.
const DOWNLOADERS: [&str; 17] = [
    "curl", "wget", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "fetch", "nc", "ncat", "netcat",
    "socat", "ftp", "tftp", "telnet",
];

/// Programs that make readable text of text that is not.
const DECODERS: [&str; 13] = [
    "base64", "base32", "basenc", "xxd", "uudecode", "openssl", "gpg", "rev", "tr", "gunzip", "zcat", "unxz",
    "bunzip2",
];

/// Programs that print names of what is there, or something that is no name.
const LISTING: &str = "ls find fd fdfind git rg grep ag which type command pwd dirname basename realpath readlink mktemp \
    date nproc seq id whoami hostname uname wc cargo rustc go npm getconf";

/// Whether what such a program prints is not what the line says.
pub(super) fn is_listing(name: &str) -> bool {
    LISTING.split_whitespace().any(|listing| listing == name)
}

/// Whether what such a program prints must not be run.
pub(super) fn is_fetched(name: &str) -> bool {
    DOWNLOADERS.contains(&name) || DECODERS.contains(&name)
}
