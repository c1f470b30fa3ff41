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

/// Whether what such a program prints must not be run.
pub(super) fn is_fetched(name: &str) -> bool {
    DOWNLOADERS.contains(&name) || DECODERS.contains(&name)
}
