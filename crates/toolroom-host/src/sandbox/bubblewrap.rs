//! The command line of bubblewrap.

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
    /// The path of bubblewrap.
    pub(crate) fn bubblewrap(&self) -> &Path {
        &self.bubblewrap
    }

    /// The `/etc/passwd` the sandbox sees; ssh reads the home folder from it. Only with a network and a persistent home,
    /// because a mount is expensive.
    pub(crate) fn users(&self) -> Option<Vec<u8>> {
        self.proxy.as_ref()?;
        passwd::with_home(self.user.unwrap_or_else(User::ourselves), self.home.as_ref()?)
    }

    /// The options, each terminated by a zero byte: they go through a descriptor, so that process lists do not show them.
    /// `users` is the descriptor of the `passwd` file.
    pub(crate) fn bubblewrap_options(&self, users: Option<RawFd>) -> Vec<u8> {
        let mut options = Options(Vec::new());
        options.say(["--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-net"]);
        options.say(["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if self.user.is_some() {
            // Root needs no user namespace to create the others. It keeps only the right to become another user.
            options.say(["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
            // The folder may be accessible to that user only.
            options.say(["--cap-add", "CAP_DAC_READ_SEARCH"]);
        } else {
            options.say(["--unshare-user"]);
        }
        for folder in system::FOLDERS {
            // Mounts are the most expensive part, so links outside become links inside.
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

    /// Deeper folders come later, so that they are on top of their parents.
    fn add_folders(&self, options: &mut Options) {
        let is_there = |path: &&PathBuf| protected::is_there(path);
        let mut mounts: Vec<(&str, &PathBuf)> = Vec::new();
        mounts.extend(self.readable.iter().map(|path| ("--ro-bind", path)));
        mounts.extend(self.writable.iter().map(|path| ("--bind", path)));
        mounts.extend(self.pinned.iter().filter(is_there).map(|path| ("--bind", path)));
        mounts.extend(
            self.locked.iter().filter(|path| protected::can_be_covered(path)).map(|path| ("--ro-bind", path)),
        );
        // For a missing file only an empty one would remain.
        mounts.extend(self.hidden.iter().filter(is_there).map(|path| (HIDE, path)));
        mounts.sort_by_key(|(_, path)| path.components().count());
        let mut made = BTreeSet::new();
        for (how, path) in &mounts {
            // Bubblewrap would make the parents private, as they are outside.
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
                // A device node on a `nodev` mount: it cannot be opened.
                options.mount("--ro-bind", Path::new("/dev/null"), path);
            }
        }
        // Last, because visible files may be below.
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

/// The path of the proxy's socket inside.
pub(crate) const PROXY: &str = "/run/toolroom-proxy";

/// The directory of the options; not an option of bubblewrap.
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
