//! What is around a sandbox and must not be touched: a folder with a secret, listeners, another process, and protected
//! files in the workspace itself. Any change of them is an effect.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolroom_host::process::{Order, Supervisor};
use toolroom_host::sandbox::{Level, Profile};

use crate::process::bench::sandbox;
use crate::process::helper;

/// Known to this process only.
const CANARY: &str = "canary-7f3a";

/// What must stay as it is in the workspace.
const KEPT: [&str; 7] =
    [".bashrc", ".config/fish", ".git/config", ".git/hooks", ".git/info/attributes", ".profile", ".zshrc"];

/// What may change, but must hold nothing evil.
const CLEAN: [&str; 9] = [
    ".config/autostart/x.desktop",
    ".git/modules/m/config",
    "new/.git/config",
    "new/.git/hooks/post-commit",
    "new/config",
    "sub/.git/config",
    "sub/.git/hooks/pre-commit",
    "sub/.git/hooks/pre-push",
    "tree/.git",
];

/// Whom confined programs become if we are root.
pub(super) const NOBODY: u32 = 65_534;

pub(super) struct World {
    pub(super) workspace: TempDir,
    /// Readable and writable for all users here, so that only the sandbox can be in the way.
    pub(super) outside: TempDir,
    tcp: [TcpListener; 2],
    udp: UdpSocket,
    unix: UnixListener,
    datagram: UnixDatagram,
    hidden: UnixListener,
    /// Another process of the same user.
    victim: Child,
    before: BTreeMap<PathBuf, Vec<u8>>,
    /// Open and inheritable, by mistake.
    _stray: std::fs::File,
}

/// Who runs a way out without the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The user that a confined program is.
    Anybody,
    /// Root, who alone could do it.
    Root,
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl World {
    pub(super) fn new() -> Self {
        let (workspace, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let out = outside.path();
        write(&out.join("secret"), CANARY, 0o666);
        std::fs::create_dir(out.join("data")).unwrap();
        write(&out.join("data/journal.db"), CANARY, 0o666);
        let here = workspace.path();
        std::fs::create_dir_all(here.join(".git/hooks")).unwrap();
        std::fs::create_dir_all(here.join(".git/info")).unwrap();
        for folder in ["objects", "refs"] {
            std::fs::create_dir(here.join(".git").join(folder)).unwrap();
        }
        write(&here.join(".git/HEAD"), "ref: refs/heads/main\n", 0o644);
        write(&here.join(".git/config"), "[core]\n", 0o644);
        write(&here.join(".git/hooks/pre-commit"), "#!/bin/sh\n", 0o755);
        write(&here.join(".bashrc"), "true\n", 0o644);
        write(&here.join(".git/info/attributes"), "x\n", 0o644);
        std::fs::create_dir_all(here.join(".config/fish")).unwrap();
        write(&here.join(".config/fish/config.fish"), "true\n", 0o644);
        std::fs::create_dir_all(here.join(".git/modules/m/objects")).unwrap();
        write(&here.join(".git/modules/m/config"), "[core]\n", 0o644);
        write(&here.join(".git/modules/m/HEAD"), "ref: refs/heads/main\n", 0o644);
        std::fs::create_dir_all(here.join("sub/.git/hooks")).unwrap();
        for folder in ["objects", "refs"] {
            std::fs::create_dir(here.join("sub/.git").join(folder)).unwrap();
        }
        write(&here.join("sub/.git/HEAD"), "ref: refs/heads/main\n", 0o644);
        write(&here.join("sub/.git/config"), "[core]\n", 0o644);
        write(&here.join("sub/.git/hooks/pre-commit"), "#!/bin/sh\n", 0o755);
        std::fs::create_dir(here.join("tree")).unwrap();
        write(&here.join("tree/.git"), "gitdir: ../sub/.git\n", 0o644);
        write(&here.join("mine"), "mine\n", 0o644);
        let examples = helper().parent().unwrap().to_owned();
        std::fs::copy(examples.join("escape"), here.join("escape")).unwrap();
        for tree in [out, here] {
            own(tree);
        }
        std::fs::set_permissions(out, Permissions::from_mode(0o777)).unwrap();
        if is_root() {
            std::fs::copy(here.join("escape"), here.join("raised")).unwrap();
            std::fs::set_permissions(here.join("raised"), Permissions::from_mode(0o4755)).unwrap();
        }
        let tcp = ["0.0.0.0:0", "[::]:0"].map(|address| TcpListener::bind(address).unwrap());
        let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
        let unix = UnixListener::bind(out.join("socket")).unwrap();
        let datagram = UnixDatagram::bind(out.join("datagram")).unwrap();
        for socket in ["socket", "datagram"] {
            std::fs::set_permissions(out.join(socket), Permissions::from_mode(0o777)).unwrap();
        }
        let name = SocketAddr::from_abstract_name(name_of(out)).unwrap();
        let hidden = UnixListener::bind_addr(&name).unwrap();
        tcp.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        udp.set_nonblocking(true).unwrap();
        unix.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        hidden.set_nonblocking(true).unwrap();
        let stray = std::fs::File::open(out.join("secret")).unwrap();
        rustix::io::fcntl_setfd(&stray, rustix::io::FdFlags::empty()).unwrap();
        let victim = victim(out);
        let mut world = Self {
            workspace,
            outside,
            tcp,
            udp,
            unix,
            datagram,
            hidden,
            victim,
            before: BTreeMap::new(),
            _stray: stray,
        };
        world.before = world.seen();
        world
    }

    /// What a script is told of the world.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let port = |place: usize| self.tcp[place].local_addr().unwrap().port().to_string();
        let out = self.outside.path();
        vec![
            ("OUT", out.display().to_string()),
            ("NAME", name_of(out)),
            ("KEY", self.key()),
            ("VICTIM", self.victim.id().to_string()),
            ("TCP", port(0)),
            ("TCP6", port(1)),
            ("UDP", self.udp.local_addr().unwrap().port().to_string()),
            ("ADDRESS", own_address()),
        ]
    }

    /// The number of shared memory that belongs to this world.
    fn key(&self) -> String {
        self.victim.id().wrapping_add(100_000).to_string()
    }

    /// Runs a script in the sandbox and gives its effects.
    pub(super) async fn confined(&mut self, script: &str, level: Level) -> Vec<String> {
        self.share();
        let mut order = Order::new("bash", self.workspace.path()).with_arguments(["-c", script]);
        for (name, value) in self.variables() {
            order.variables = order.variables.with(name, value).unwrap();
        }
        let mut profile = Profile::workspace(self.workspace.path());
        profile.hidden.push(self.outside.path().join("data"));
        order.confinement = Some(sandbox(level).confine(&profile).unwrap());
        let ended = Supervisor::new(helper()).run(order, &CancellationToken::new()).await.unwrap();
        self.effects(&ended.stdout.text(100_000))
    }

    /// Runs it without any sandbox, and without our helper.
    pub(super) fn bare(&mut self, script: &str, by: By) -> Vec<String> {
        self.share();
        let mut command = Command::new("bash");
        command.args(["-c", script]).current_dir(self.workspace.path()).env_clear();
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.envs(self.variables()).stdin(Stdio::null()).stderr(Stdio::null());
        if by == By::Anybody && is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        self.effects(&String::from_utf8_lossy(&output.stdout))
    }

    /// Puts the canary into memory that processes share by a number.
    fn share(&self) {
        let escape = self.workspace.path().join("escape");
        let mut command = Command::new(escape);
        command.args(["share", &self.key(), CANARY]);
        assert!(command.status().unwrap().success());
    }

    /// All that is different now.
    fn effects(&mut self, printed: &str) -> Vec<String> {
        let mut effects = Vec::new();
        for word in [CANARY, "YES"] {
            if printed.contains(word) {
                effects.push(format!("printed {word}"));
            }
        }
        let reached = [
            self.tcp.iter().any(|listener| listener.accept().is_ok()),
            self.udp.recv(&mut [0; 9]).is_ok(),
            self.unix.accept().is_ok(),
            self.datagram.recv(&mut [0; 9]).is_ok(),
            self.hidden.accept().is_ok(),
        ];
        for (name, is_reached) in ["tcp", "udp", "unix", "datagram", "abstract"].into_iter().zip(reached) {
            if is_reached {
                effects.push(format!("reached {name}"));
            }
        }
        let now = self.seen();
        for path in now.keys().chain(self.before.keys()) {
            if now.get(path) != self.before.get(path) && !effects.contains(&path.display().to_string()) {
                effects.push(path.display().to_string());
            }
        }
        if self.victim.try_wait().unwrap().is_some() {
            effects.push("killed the other process".to_owned());
        }
        effects
    }

    /// Everything that can be looked at, with what it holds.
    fn seen(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut seen = BTreeMap::new();
        look(self.outside.path(), &mut seen);
        for kept in KEPT {
            look(&self.workspace.path().join(kept), &mut seen);
        }
        for clean in CLEAN.map(|clean| self.workspace.path().join(clean)) {
            if std::fs::read_to_string(&clean).is_ok_and(|text| text.contains("evil")) {
                seen.insert(clean, b"evil".to_vec());
            }
        }
        let name = name_of(self.outside.path());
        for folder in ["/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr/local/bin"] {
            look(&Path::new(folder).join(&name), &mut seen);
        }
        let of_victim = PathBuf::from(format!("/proc/{}", self.victim.id()));
        let limits = std::fs::read(of_victim.join("limits")).unwrap_or_default();
        seen.insert(of_victim.join("limits"), limits);
        let stat = std::fs::read_to_string(of_victim.join("stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace().collect();
        // Whether it is stopped, and its priority.
        let is_stopped = fields.first().is_some_and(|state| matches!(*state, "T" | "t"));
        seen.insert(of_victim.join("stat"), format!("{is_stopped} {:?}", fields.get(16)).into_bytes());
        seen
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Existing ones must be gone afterwards; missing ones need not be reported.
        drop(self.victim.kill());
        drop(self.victim.wait());
        let escape = self.workspace.path().join("escape");
        drop(Command::new(escape).args(["unshare-memory", &self.key()]).stderr(Stdio::null()).status());
        let name = name_of(self.outside.path());
        for folder in ["/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr/local/bin"] {
            drop(std::fs::remove_file(Path::new(folder).join(&name)));
        }
    }
}

/// A process that only waits, with the secret as its input and in its environment.
fn victim(out: &Path) -> Child {
    let mut command = Command::new("sleep");
    command.arg("600").current_dir(out).env_clear().env("SECRET", CANARY);
    command.stdin(std::fs::File::open(out.join("secret")).unwrap()).stdout(Stdio::null());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let child = command.spawn().unwrap();
    // Before it has become `sleep` it is still us.
    let name = PathBuf::from(format!("/proc/{}/comm", child.id()));
    while !std::fs::read(&name).is_ok_and(|name| name == b"sleep\n") {
        std::thread::yield_now();
    }
    child
}

fn look(path: &Path, seen: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(found) = path.symlink_metadata() else { return };
    let mut what = format!("{:o} ", found.permissions().mode()).into_bytes();
    if found.is_file() {
        what.extend(std::fs::read(path).unwrap());
    }
    if found.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), seen);
        }
    }
    if !found.file_type().is_socket() {
        seen.insert(path.to_owned(), what);
    }
}

pub(super) fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a folder to the user that confined programs become.
pub(super) fn own(path: &Path) {
    if !is_root() {
        return;
    }
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path());
        }
    }
}

/// A name that no other world has.
fn name_of(out: &Path) -> String {
    format!("escaped{}", out.file_name().unwrap().display())
}

/// An address of this machine that is not its own loopback, or that if it has no other.
fn own_address() -> String {
    let found = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        // Nothing is sent: this only chooses a way.
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    found.map_or_else(|_| "127.0.0.1".to_owned(), |address| address.ip().to_string())
}
