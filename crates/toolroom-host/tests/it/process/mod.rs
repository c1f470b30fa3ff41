//! Programs under the supervisor, judged by what is there and what is gone.

mod attacks;
mod background;
mod ending;
mod limits;
mod orphans;
mod output;
mod shell_endings;
mod shells;
mod starting;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use toolroom_host::process::{Ended, Order, ProcessError, Supervisor};

use crate::scale::scaled;

/// What must happen at all happens in this time, however slow the machine.
const BOUND: Duration = Duration::from_secs(10);

/// How often something is ended at one moment or another; five hundred times in `make test-long`.
fn rounds(base: u32) -> u32 {
    scaled(base).min(500)
}

/// A folder, and a mark in the environment of everything that is started there.
struct Bench {
    folder: TempDir,
    mark: String,
    supervisor: Supervisor,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        // The name of the folder is told apart from every other already.
        let mark = format!("mark-{}-{}", std::process::id(), folder.path().display());
        Self { folder, mark, supervisor: Supervisor::new(helper()) }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn order(&self, program: &str, arguments: &[&str]) -> Order {
        let mut order = Order::new(program, self.path()).with_arguments(arguments);
        order.variables = order.variables.with("MARK", &self.mark).unwrap();
        order
    }

    fn shell(&self, script: &str) -> Order {
        self.order("sh", &["-c", script])
    }

    async fn run(&self, order: Order) -> Result<Ended, ProcessError> {
        self.supervisor.run(order, &CancellationToken::new()).await
    }

    /// Runs a script and gives what it printed.
    async fn printed(&self, script: &str) -> String {
        self.run(self.shell(script)).await.unwrap().stdout.text(usize::MAX)
    }

    /// Everything alive that came from here.
    fn alive(&self) -> Vec<String> {
        alive(&self.mark)
    }

    /// Waits until as many are alive as a script starts.
    async fn until_alive(&self, count: usize) {
        until(BOUND, || self.alive().len() >= count).await;
    }
}

/// Cargo builds a package's examples together with its tests.
fn helper() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().and_then(Path::parent).unwrap().join("examples/supervised");
    assert!(path.exists(), "{} is missing: `cargo build -p toolroom-host --examples`", path.display());
    path
}

/// The processes with this mark in their environment. The dead that wait to be reaped have none.
fn alive(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let has_mark = |folder: &PathBuf| {
        let environ = std::fs::read(folder.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable == format!("MARK={mark}").as_bytes())
    };
    let said = |folder: PathBuf| {
        let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        format!("{} {}", folder.display(), String::from_utf8_lossy(&words).replace('\0', " "))
    };
    entries.filter(has_mark).map(said).collect()
}

/// Waits for something to come true, and gives how long it took.
#[track_caller]
fn until(bound: Duration, is_true: impl Fn() -> bool) -> impl Future<Output = Duration> {
    let asked_by = std::panic::Location::caller();
    async move {
        let began = Instant::now();
        while !is_true() {
            assert!(began.elapsed() < bound, "not true within {bound:?}: {asked_by}");
            tokio::task::yield_now().await;
        }
        began.elapsed()
    }
}

/// Children of this process that nobody has reaped.
fn zombies() -> usize {
    let pid = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path().join("stat"));
    let stats = entries.filter_map(|stat| std::fs::read_to_string(stat).ok());
    let is_ours = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        fields[0] == "Z" && fields[1] == pid
    };
    stats.filter(is_ours).count()
}

/// What this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
