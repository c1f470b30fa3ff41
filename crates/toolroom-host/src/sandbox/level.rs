//! Levels of confinement and their guarantees.

use serde::{Deserialize, Serialize};

/// The level of confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Landlock and seccomp: other files exist, but cannot be opened.
    Landlock,
    /// Bubblewrap with Landlock and seccomp inside: other files do not exist.
    Namespaces,
}

/// A possible guarantee of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    /// A stable short name.
    pub name: &'static str,
    /// Whether it is fulfilled.
    pub holds: bool,
    /// The description.
    pub meaning: &'static str,
}

impl Level {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        }
    }

    /// The guarantees of this level with this version of Landlock.
    #[must_use]
    pub fn guarantees(self, landlock_abi: u32) -> Vec<Guarantee> {
        let spaces = self == Self::Namespaces;
        let either = |name, holds, yes, no| Guarantee { name, holds, meaning: if holds { yes } else { no } };
        vec![
            either(
                "files",
                true,
                "only the folders of its profile can be changed; home and our data cannot be read",
                "",
            ),
            either("network", true, "no connection leaves the sandbox", ""),
            either(
                "privileges",
                true,
                "no program inside gains rights, and dangerous system calls are refused",
                "",
            ),
            either(
                "signals",
                spaces || landlock_abi >= SIGNALS,
                "no process outside can be signalled",
                "other processes of the same user can be signalled; a kernel from 6.12 on would prevent it",
            ),
            either(
                "permissions",
                spaces,
                "permissions, owners and times of files outside cannot be changed",
                "permissions and times of files outside can be changed where they belong to the program's user, though \
                 not their content",
            ),
            either(
                "names",
                spaces,
                "what is outside cannot even be seen to be there",
                "whether a file outside is there, how long it is and where a link leads can be found out by its path",
            ),
            either(
                "outside_sockets",
                landlock_abi >= UNIX_SOCKETS || !spaces,
                "servers outside cannot be reached through sockets in the folders of the profile",
                "a socket of a server outside that lies in a folder of the profile can be reached; a newer kernel would \
                 prevent it",
            ),
            either(
                "processes",
                spaces,
                "other processes cannot be seen, and all of its own end with it at one stroke",
                "names and command lines of other processes can be seen; its own are ended one by one",
            ),
            either(
                "protected_files",
                spaces,
                "start files and git hooks in its folders cannot be changed, credential files cannot be read",
                "a changed start file or git hook ends the program and is put back; credential files in its folders (`.env`, \
                 `.npmrc`, private keys) can be read; a folder that holds a home or our data is refused",
            ),
            either(
                "temporary_files",
                spaces,
                "`/tmp` is its own and bounded",
                "`/tmp` is refused: temporary files go to a folder of its own (`TMPDIR`), bounded only by the disk",
            ),
            either(
                "local_servers",
                spaces,
                "programs inside can talk to each other over sockets",
                "programs inside cannot make sockets at all",
            ),
            either(
                "second_fence",
                landlock_abi >= super::find::LEAST_LANDLOCK,
                "the kernel checks every file once more (Landlock)",
                "the kernel has no Landlock, or too old a one, to check every file once more",
            ),
        ]
    }
}

/// Since this version Landlock restricts signals.
const SIGNALS: u32 = 6;

/// Since this version Landlock restricts sockets in the file system.
const UNIX_SOCKETS: u32 = 9;
