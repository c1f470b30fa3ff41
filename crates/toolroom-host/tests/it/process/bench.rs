//! Where programs are tried: a folder, and a mark in the environment of everything that is started there.

use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolroom_host::process::{Order, ProcessError, ProgramEnd, Supervisor};
use toolroom_host::sandbox::{Level, Profile, Sandbox, SandboxRequest};

use super::{BOUND, alive, helper, until};

/// Programs that are not confined.
pub(crate) const BARE: u8 = 0;

/// Programs in namespaces.
pub(crate) const NAMESPACES: u8 = 1;

/// Programs behind Landlock alone.
pub(crate) const LANDLOCK: u8 = 2;

/// A folder, and a mark in the environment of everything that is started there.
pub(crate) struct Bench<const CONFINED: u8> {
    folder: TempDir,
    pub(crate) mark: String,
    pub(crate) supervisor: Supervisor,
}

impl<const CONFINED: u8> Bench<CONFINED> {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        if rustix::process::geteuid().is_root() {
            // Whom a confined program becomes.
            std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
        }
        // The name of the folder is told apart from every other already.
        let mark = format!("mark-{}-{}", std::process::id(), folder.path().display());
        Self { folder, mark, supervisor: Supervisor::new(helper()) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// How well programs are confined.
    pub(crate) fn level() -> Option<Level> {
        match CONFINED {
            NAMESPACES => Some(Level::Namespaces),
            LANDLOCK => Some(Level::Landlock),
            _ => None,
        }
    }

    pub(crate) fn order(&self, program: &str, arguments: &[&str]) -> Order {
        let mut order = Order::new(program, self.path()).with_arguments(arguments);
        order.variables = order.variables.with("MARK", &self.mark).unwrap();
        let profile = Profile::workspace(self.path());
        order.confinement = Self::level().map(|level| sandbox(level).confine(&profile).unwrap());
        order
    }

    pub(crate) fn shell(&self, script: &str) -> Order {
        self.order("sh", &["-c", script])
    }

    pub(crate) async fn run(&self, order: Order) -> Result<ProgramEnd, ProcessError> {
        self.supervisor.run(order, &CancellationToken::new()).await
    }

    /// Runs a script and gives what it printed.
    pub(crate) async fn printed(&self, script: &str) -> String {
        self.run(self.shell(script)).await.unwrap().stdout.text(usize::MAX)
    }

    /// Everything alive that came from here.
    pub(crate) fn alive(&self) -> Vec<String> {
        alive(&self.mark)
    }

    /// Waits until as many are alive as a script starts.
    pub(crate) async fn until_alive(&self, count: usize) {
        until(BOUND, || self.alive().len() >= count).await;
    }
}

/// The sandbox of this level, which every machine that tests has.
pub(crate) fn sandbox(level: Level) -> &'static Sandbox {
    static FOUND: [OnceLock<Sandbox>; 2] = [OnceLock::new(), OnceLock::new()];
    FOUND[usize::from(level == Level::Landlock)].get_or_init(|| {
        let find = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let demand = SandboxRequest { level: Some(level), user: None };
            runtime.block_on(Sandbox::find(&Supervisor::new(helper()), demand)).unwrap()
        };
        std::thread::spawn(find).join().unwrap()
    })
}
