//! A host entry of the ssh configuration.

use std::path::Path;

use super::error::SshError;

/// Maximum length of a name.
const MAX_CHARS: usize = 255;

/// Connects to `$0` at port `$1` through the sandbox's proxy and relays the data, using only bash. Errors of the proxy are
/// shown. Percent signs are doubled for ssh.
const THROUGH_PROXY: &str = "exec 3<>/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:} || exit; \
    printf \"CONNECT %%s:%%s HTTP/1.1\\r\\n\\r\\n\" \"$0\" \"$1\" >&3; read -r _ code _ <&3; \
    while read -r line <&3 && [ ${#line} -gt 1 ]; do :; done; \
    [ \"$code\" = 200 ] || { cat <&3 >&2; exit 1; }; \
    trap : HUP; cat <&3 & exec >&3; cat; kill $!";

/// A host with an alias. Every part was checked, so that ssh cannot read it as an option, a pattern or another line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEntry {
    alias: String,
    hostname: String,
    user: Option<String>,
    port: Option<u16>,
    identity_file: Option<String>,
}

impl HostEntry {
    /// A host with an alias.
    pub fn new(alias: &str, hostname: &str) -> Result<Self, SshError> {
        check("alias", alias, |char| matches!(char, '.' | '_' | '-'))?;
        // Colons and a percent sign for IPv6 addresses.
        check("hostname", hostname, |char| matches!(char, '.' | '_' | '-' | ':' | '%'))?;
        if hostname.contains("%%") || hostname.ends_with('%') {
            return Err(SshError::Refused { field: "hostname", problem: "is no name or address" });
        }
        Ok(Self {
            alias: alias.to_owned(),
            hostname: hostname.to_owned(),
            user: None,
            port: None,
            identity_file: None,
        })
    }

    /// Sets the user.
    pub fn with_user(mut self, user: &str) -> Result<Self, SshError> {
        check("user", user, |char| matches!(char, '.' | '_' | '-' | '@'))?;
        self.user = Some(user.to_owned());
        Ok(self)
    }

    /// Sets the port.
    pub fn with_port(mut self, port: u16) -> Result<Self, SshError> {
        if port == 0 {
            return Err(SshError::Refused { field: "port", problem: "is 0, which is no port" });
        }
        self.port = Some(port);
        Ok(self)
    }

    /// Sets the key file. Relative names start in the folder of the configuration.
    pub fn with_identity_file(mut self, file: &str) -> Result<Self, SshError> {
        let refused = |problem| Err(SshError::Refused { field: "identity_file", problem });
        if file.is_empty() || file.chars().count() > MAX_CHARS {
            return refused("is empty or longer than 255 characters");
        }
        // Quotes, variables and placeholders have a meaning for ssh.
        if file.chars().any(|char| char.is_control() || matches!(char, '"' | '\'' | '\\' | '$' | '%' | '`')) {
            return refused("holds a character that means something to ssh; rename the file");
        }
        if file.split('/').any(|part| part == "..") {
            return refused("leads upwards");
        }
        self.identity_file = Some(file.to_owned());
        Ok(self)
    }

    /// The alias.
    #[must_use]
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The host name or address.
    #[must_use]
    pub fn hostname(&self) -> &str {
        &self.hostname
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(22)
    }

    /// The host in the form used for the proxy and for ssh.
    fn spoken(&self) -> String {
        let host = self.hostname.replace('%', "%%");
        if host.contains(':') { format!("[{host}]") } else { host }
    }

    /// The name its key is stored under.
    pub(super) fn known_as(&self) -> String {
        match self.port {
            None | Some(22) => self.hostname.clone(),
            Some(port) => format!("[{}]:{port}", self.hostname),
        }
    }

    /// The block of this host in a configuration in `folder`. Connections are not shared, so that ending one does not end
    /// another.
    pub(super) fn block(&self, folder: &Path) -> String {
        let mut block = format!("{}Host {}\n", self.mark(">>>"), self.alias);
        let mut add = |name: &str, value: &str| block.push_str(&format!("    {name} {value}\n"));
        // Percent signs are doubled, because they begin placeholders.
        add("HostName", &self.hostname.replace('%', "%%"));
        if let Some(user) = &self.user {
            add("User", user);
        }
        if let Some(port) = self.port {
            add("Port", &port.to_string());
        }
        if let Some(file) = &self.identity_file {
            let file = if file.starts_with("~/") { Path::new(file).to_owned() } else { folder.join(file) };
            add("IdentityFile", &quoted(&file));
            add("IdentitiesOnly", "yes");
        }
        add("UserKnownHostsFile", &quoted(&folder.join(super::home::KNOWN_HOSTS)));
        add("StrictHostKeyChecking", "accept-new");
        add("ServerAliveInterval", "30");
        add("ServerAliveCountMax", "3");
        add("ControlMaster", "no");
        // The proxy command applies only inside a sandbox.
        block.push_str(&format!("Match originalhost {} exec \"test $HTTPS_PROXY\"\n", self.alias));
        block.push_str(&format!("    ProxyCommand bash -c '{THROUGH_PROXY}' \"{}\" %p\n", self.spoken()));
        // Resets the scope: what follows in the file is not about this host only.
        block.push_str("Match all\n");
        block.push_str(&self.mark("<<<"));
        block
    }

    /// Adds or replaces this host's block in the configuration.
    pub(super) fn put_into(&self, config: &str, folder: &Path) -> String {
        let (begin, end) = (self.mark(">>>"), self.mark("<<<"));
        let found = config
            .match_indices(&begin)
            .find(|(at, _)| *at == 0 || config.get(..*at).is_some_and(|before| before.ends_with('\n')));
        let old = found.and_then(|(at, _)| {
            let (before, rest) = config.split_at(at);
            let length = rest.find(&end)? + end.len();
            Some((before, rest.get(length..)?))
        });
        let block = self.block(folder);
        match old {
            Some((before, after)) => format!("{before}{block}{after}"),
            // At the start: ssh uses the first match.
            None => format!("{block}{config}"),
        }
    }

    /// The line before or after the block.
    fn mark(&self, arrows: &str) -> String {
        format!("# {arrows} toolroom {} {arrows}\n", self.alias)
    }
}

/// Checks for letters, digits and a few signs, beginning with a letter or digit.
fn check(field: &'static str, text: &str, is_sign: impl Fn(char) -> bool) -> Result<(), SshError> {
    let refused = |problem| Err(SshError::Refused { field, problem });
    if text.is_empty() || text.len() > MAX_CHARS {
        return refused("is empty or longer than 255 characters");
    }
    // `::1` begins with a sign.
    if !text.starts_with(|char: char| char.is_ascii_alphanumeric() || char == ':' && is_sign(':')) {
        return refused("has to begin with a letter or digit");
    }
    if text.chars().all(|char| char.is_ascii_alphanumeric() || is_sign(char)) {
        Ok(())
    } else {
        refused("holds a character other than letters, digits and `.`, `_`, `-`")
    }
}

/// Quotes a path for ssh. A percent sign would begin a placeholder.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('%', "%%"))
}
