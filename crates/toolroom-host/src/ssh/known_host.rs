//! A line of `known_hosts`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::entry::HostEntry;
use super::error::SshError;

/// Types of host keys.
const KINDS: [&str; 7] = [
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "sk-ssh-ed25519@openssh.com",
    "ssh-ed25519",
    "ssh-rsa",
];

/// Longer than any key of these types.
const MAX_BYTES: usize = 4_096;

/// The validated public key of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHost {
    line: String,
}

impl KnownHost {
    /// Parses the key of `entry` from a line of `ssh-keyscan`.
    pub fn parse(line: &str, entry: &HostEntry) -> Result<Self, SshError> {
        let refused = |problem| Err(SshError::Refused { field: "known_host_line", problem });
        let line = line.trim_end_matches(['\r', '\n']);
        if line.len() > MAX_BYTES || line.chars().any(char::is_control) {
            return refused("has to be one line of at most 4096 bytes");
        }
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let [hosts, kind, key, ..] = words.as_slice() else {
            return refused("has to hold a host, the kind of its key, and the key");
        };
        if hosts.starts_with('|') {
            return refused("hides its host; give it as `ssh-keyscan` prints it without `-H`");
        }
        if *hosts != entry.known_as() {
            return refused("is about another host; it has to begin with the hostname, or `[hostname]:port`");
        }
        if !KINDS.contains(kind) {
            return refused("has a kind of key that no host uses");
        }
        // The key repeats its type after four bytes of length.
        let is_key = STANDARD.decode(key).is_ok_and(|bytes| {
            let length = u32::try_from(kind.len()).unwrap_or(u32::MAX).to_be_bytes();
            bytes
                .strip_prefix(&length)
                .is_some_and(|rest| rest.len() > kind.len() && rest.starts_with(kind.as_bytes()))
        });
        if !is_key {
            return refused("holds no public key of that kind");
        }
        Ok(Self { line: format!("{hosts} {kind} {key}") })
    }

    /// Adds the line to the file, unless it is already there.
    pub(super) fn put_into(&self, known: &str) -> String {
        if known.lines().any(|line| line == self.line) {
            return known.to_owned();
        }
        let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
        format!("{known}{gap}{}\n", self.line)
    }
}
