//! The systemd unit of the server.
//!
//! Programs started by tools inherit the restrictions of the unit and get a sandbox of their own. Settings that would
//! break that sandbox are left out, and the unit says why.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// File name of the unit.
pub(super) const NAME: &str = "toolroom.service";

/// First line of every unit written by Toolroom.
pub(super) const MARK: &str = "# Made by `toolroom service install`.";

/// Path of the packaged program.
const SYSTEM_PROGRAM: &str = "/usr/bin/toolroom";

pub(super) enum Unit {
    /// System service with its own user and state folder.
    System,
    /// Service of the current user.
    User {
        /// Path of the program.
        program: PathBuf,
        /// `TOOLROOM_HOME`, if it is set.
        home: Option<PathBuf>,
        /// Overrides `server.listen`.
        listen: Option<SocketAddr>,
    },
}

#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be used in a systemd unit: it contains a quote, a backslash or a control character, or is not UTF-8; move the program", .0.display())]
pub(super) struct UnitError(PathBuf);

impl Unit {
    /// The text of the unit file.
    pub(super) fn text(&self) -> Result<String, UnitError> {
        let (start, place, confined, target) = match self {
            Self::System => (
                format!("ExecStart={SYSTEM_PROGRAM} serve"),
                SYSTEM_USER.to_owned(),
                format!("{CONFINED}{SYSTEM_CONFINED}{LEFT_OUT}"),
                "multi-user.target",
            ),
            Self::User { program, home, listen } => {
                let listen = listen.map(|listen| format!(" --listen {listen}")).unwrap_or_default();
                let home = match home {
                    Some(home) => {
                        format!("Environment={}\n", quoted(&format!("TOOLROOM_HOME={}", plain(home)?)))
                    }
                    None => String::new(),
                };
                let start = format!("ExecStart={} serve{listen}", quoted(plain_program(program)?));
                (start, home, format!("{CONFINED}{LEFT_OUT}{USER_LEFT_OUT}"), "default.target")
            }
        };
        Ok(format!(
            "{MARK}\n\
             [Unit]\n\
             Description=Toolroom: tools and agents over HTTP\n\
             After=network.target\n\
             \n\
             [Service]\n\
             Type=notify\n\
             {start}\n\
             ExecReload=/bin/kill -HUP $MAINPID\n\
             {place}\
             Restart=on-failure\n\
             RestartSec=2\n\
             # The server gets a few seconds for open requests and runs, and ends the programs of tools itself.\n\
             KillMode=mixed\n\
             TimeoutStopSec=30\n\
             LimitNOFILE=65536\n\
             LimitCORE=0\n\
             UMask=0077\n\
             \n\
             {confined}\n\
             [Install]\n\
             WantedBy={target}\n"
        ))
    }
}

/// User and state folder of the system service.
const SYSTEM_USER: &str = "\
User=toolroom
Group=toolroom
StateDirectory=toolroom
StateDirectoryMode=0700
Environment=TOOLROOM_HOME=%S/toolroom
";

/// Restrictions that are compatible with the sandbox.
const CONFINED: &str = "\
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
# Netlink: to learn the machine's own addresses, and to bring up the loopback of a sandbox.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
";

/// Restrictions that would break the sandbox.
const LEFT_OUT: &str = "\
# Left out, because programs of tools would inherit it:
# - RestrictNamespaces, PrivateUsers: the sandbox is made of namespaces.
# - a SystemCallFilter that names what is allowed: the sandbox mounts and pivots, and has a filter of its own for what
#   runs inside.
# - MemoryDenyWriteExecute: interpreters that compile as they run (Node.js, Java) would not start.
# - ProtectKernelTunables, ProtectKernelLogs, ProtectProc, ProcSubset: a sandbox mounts a /proc of its own, which the
#   kernel allows only where nothing of the outer one is covered.
";

/// Restrictions that do not work for user services.
const USER_LEFT_OUT: &str = "\
# - ProtectSystem, ProtectHome, PrivateTmp, PrivateDevices: a user's manager needs a user namespace for them, in which
#   the sandbox could not map other users; and this user cannot write to the system in any case.
";

/// More restrictions of the system service.
const SYSTEM_CONFINED: &str = "\
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
ProtectHostname=yes
PrivateIPC=yes
RemoveIPC=yes
# What tools should write to besides the state folder: `systemctl edit toolroom`, ReadWritePaths=/srv/data.
";

fn plain(path: &Path) -> Result<&str, UnitError> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    text.ok_or_else(|| UnitError(path.to_owned()))
}

/// The path of a program, for which systemd allows fewer characters.
fn plain_program(path: &Path) -> Result<&str, UnitError> {
    plain(path).and_then(|text| match text.contains(['"', '\'', '\\']) {
        true => Err(UnitError(path.to_owned())),
        false => Ok(text),
    })
}

/// Quotes a word for systemd, which interprets escapes and percent signs.
fn quoted(text: &str) -> String {
    let mut word = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            '%' => word.push_str("%%"),
            c => word.push(c),
        }
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What systemd makes of a quoted word.
    fn read(word: &str) -> String {
        let mut inside = word.strip_prefix('"').unwrap().strip_suffix('"').unwrap().chars();
        let mut text = String::new();
        while let Some(c) = inside.next() {
            match c {
                '\\' => text.extend(inside.next()),
                '%' => {
                    assert_eq!(inside.next(), Some('%'));
                    text.push('%');
                }
                '"' => panic!("the word ends early"),
                c => text.push(c),
            }
        }
        text
    }

    proptest! {
        #[test]
        fn quoting_keeps_a_path(path in "/[ -~äß%\"\\\\$]{0,40}") {
            prop_assert_eq!(read(&quoted(&path)), path);
        }
    }

    #[test]
    fn paths_that_would_break_a_unit_are_refused() {
        let unit = |program: &str| Unit::User { program: program.into(), home: None, listen: None }.text();
        let text = unit("/opt/my tools/100%/toolroom").unwrap();
        assert!(text.contains("ExecStart=\"/opt/my tools/100%%/toolroom\" serve\n"), "{text}");
        assert!(unit("/opt/my \"tools\"/toolroom").is_err(), "systemd would not start it");
        assert!(unit("/opt/a\nExecStart=/bin/evil").is_err());
    }

    #[test]
    fn the_packaged_unit_is_made_of_the_same_template() {
        let packaged = include_str!("../../../../../packaging/systemd/toolroom.service");
        assert_eq!(
            packaged,
            Unit::System.text().unwrap(),
            "write it with `toolroom service install --print`"
        );
    }
}
