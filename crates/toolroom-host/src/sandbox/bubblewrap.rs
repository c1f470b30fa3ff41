//! What bubblewrap is told.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::confinement::Confinement;
use super::passwd::PASSWD;
use super::user::User;
use super::{passwd, protected, system};

impl Confinement {
    /// The program that makes the namespaces.
    pub(crate) fn bubblewrap(&self) -> &Path {
        &self.bubblewrap
    }

    /// The list of users it sees, where its programs may look for the configuration of ssh: if there is somebody to
    /// talk to, and a home that stays. A mount is too dear for the others.
    pub(crate) fn users(&self) -> Option<Vec<u8>> {
        self.proxy.as_ref()?;
        passwd::with_home(self.user.unwrap_or_else(User::ourselves), self.home.as_ref()?)
    }

    /// Its options, each ended by a zero byte: they go through a descriptor, so that no list of processes shows them.
    /// `users` is the descriptor with the list of users.
    pub(crate) fn bubblewrap_options(&self, users: Option<RawFd>) -> Vec<u8> {
        let mut options = Options(Vec::new());
        options.say(["--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-net"]);
        options.say(["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if self.user.is_some() {
            // Root needs no user namespace to make the others. Of its rights only that to become another user is left.
            options.say(["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
            // Its folder may be closed to everybody but that user.
            options.say(["--cap-add", "CAP_DAC_READ_SEARCH"]);
        } else {
            options.say(["--unshare-user"]);
        }
        for folder in system::FOLDERS {
            // A mount is the dearest thing here, and what is a link outside can be one inside.
            match link_at(folder) {
                Some(target) => options.link(&target, Path::new(folder)),
                None => options.say(["--ro-bind-try", folder, folder]),
            }
        }
        options.say(["--proc", system::PROCESSES, "--dev", "/dev"]);
        self.add_temporary(&mut options, "/dev/shm");
        options.say(["--remount-ro", "/dev"]);
        self.add_temporary(&mut options, "/tmp");
        options.say(["--symlink", "/tmp", "/var/tmp", "--dir", "/run"]);
        self.add_folders(&mut options);
        if let Some(proxy) = &self.proxy {
            options.mount("--ro-bind", proxy, Path::new(PROXY));
        }
        if let Some(users) = users {
            options.say(["--perms", "0644", "--ro-bind-data", users.to_string().as_str(), PASSWD]);
        }
        options.say(["--remount-ro", "/", "--chdir", "/"]);
        options.0
    }

    fn add_temporary(&self, options: &mut Options, folder: &str) {
        let size = (self.temporary_bytes / 2).max(1).to_string();
        options.say(["--perms", "1777", "--size", size.as_str(), "--tmpfs", folder]);
    }

    /// Those deeper down come later, and so lie on top of those around them.
    fn add_folders(&self, options: &mut Options) {
        let is_there = |path: &&PathBuf| protected::is_there(path);
        let mut mounts: Vec<(&str, &PathBuf)> = Vec::new();
        mounts.extend(self.readable.iter().map(|path| ("--ro-bind", path)));
        mounts.extend(self.writable.iter().map(|path| ("--bind", path)));
        mounts.extend(self.pinned.iter().filter(is_there).map(|path| ("--bind", path)));
        mounts.extend(
            self.locked.iter().filter(|path| protected::can_be_covered(path)).map(|path| ("--ro-bind", path)),
        );
        // Of what is gone by now only an empty file would be left behind.
        mounts.extend(self.hidden.iter().filter(is_there).map(|path| (HIDE, path)));
        mounts.sort_by_key(|(_, path)| path.components().count());
        let mut made = BTreeSet::new();
        for (how, path) in &mounts {
            // Bubblewrap would close those above it to others, as they are outside.
            let above: Vec<&Path> = path.ancestors().skip(1).filter(|folder| made.insert(*folder)).collect();
            for folder in above.into_iter().rev() {
                options.say(["--perms", "0755", "--dir"]);
                options.add(folder.as_os_str());
            }
            if *how != HIDE {
                options.mount(how, path, path);
            } else if protected::is_folder(path) {
                options.say(["--tmpfs"]);
                options.add(path.as_os_str());
            } else {
                // A device that is no device here: it cannot be opened.
                options.mount("--ro-bind", Path::new("/dev/null"), path);
            }
        }
        // Only now, as something that may be seen can lie below.
        for (_, path) in mounts.iter().filter(|(how, path)| *how == HIDE && protected::is_folder(path)) {
            options.say(["--remount-ro"]);
            options.add(path.as_os_str());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: how the system's folders are linked")]
fn link_at(path: &str) -> Option<PathBuf> {
    std::fs::read_link(path).ok()
}

/// Where the proxy's socket is inside.
pub(crate) const PROXY: &str = "/run/toolroom-proxy";

/// No option of bubblewrap, but what its options are used for.
const HIDE: &str = "hide";

struct Options(Vec<u8>);

impl Options {
    fn add(&mut self, word: &OsStr) {
        self.0.extend(word.as_bytes());
        self.0.push(0);
    }

    fn say<const N: usize>(&mut self, words: [&str; N]) {
        words.into_iter().for_each(|word| self.add(OsString::from(word).as_os_str()));
    }

    fn link(&mut self, target: &Path, at: &Path) {
        self.mount("--symlink", target, at);
    }

    fn mount(&mut self, how: &str, from: &Path, to: &Path) {
        self.say([how]);
        self.add(from.as_os_str());
        self.add(to.as_os_str());
    }
}
