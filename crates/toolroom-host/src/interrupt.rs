//! Signals: Ctrl-C, termination requests, and reloading.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SigSet, Signal as Kind};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of an interrupted process.
pub const INTERRUPTED: u8 = 130;

/// Receives signals on a thread of its own, so that neither a tool that blocks the runtime nor a full pipe can delay
/// them.
#[derive(Debug)]
pub struct Interrupts {
    /// There is nothing left to stop gracefully: the next signal ends the process.
    impatient: Arc<AtomicBool>,
    /// Another process, not the user at the keyboard, requested the end.
    told_to_end: Arc<AtomicBool>,
}

/// Called on a request to reload the configuration.
type Reload = Box<dyn Fn() + Send>;

impl Interrupts {
    /// The first signal calls `stop`, the next one ends the process.
    ///
    /// # Errors
    /// If signals cannot be received.
    pub fn watch(stop: impl Fn() + Send + 'static) -> io::Result<Self> {
        Self::listen(stop, None)
    }

    /// For a service without a terminal: a hangup requests reloading the configuration.
    ///
    /// # Errors
    /// If signals cannot be received.
    pub fn watch_service(
        stop: impl Fn() + Send + 'static,
        reload: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        Self::listen(stop, Some(Box::new(reload)))
    }

    fn listen(stop: impl Fn() + Send + 'static, reload: Option<Reload>) -> io::Result<Self> {
        let impatient = Arc::new(AtomicBool::new(false));
        let told_to_end = Arc::new(AtomicBool::new(false));
        let (flag, ending) = (Arc::clone(&impatient), Arc::clone(&told_to_end));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        // Registered before this function returns: no signal is missed from here on.
        let ignored = ignored_signals();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let heeded = kinds.into_iter().filter(|kind| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
        let registered = heeded.map(|kind| Ok((kind, signal(kind)?)));
        let mut signals = registered.collect::<io::Result<Vec<(SignalKind, Signal)>>>()?;
        drop(entered);
        let listen = move || {
            loop {
                let heard = runtime.block_on(std::future::poll_fn(|task| {
                    let ready = |(kind, signal): &mut (SignalKind, Signal)| {
                        signal.poll_recv(task).is_ready().then_some(*kind)
                    };
                    let heard = signals.iter_mut().find_map(ready);
                    heard.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
                }));
                if let Some(reload) = reload.as_ref().filter(|_| heard == SignalKind::hangup()) {
                    reload();
                    continue;
                }
                ending.fetch_or(heard != SignalKind::interrupt(), Ordering::SeqCst);
                if flag.swap(true, Ordering::SeqCst) {
                    end();
                }
                stop();
            }
        };
        std::thread::Builder::new().name("interrupts".to_owned()).spawn(listen)?;
        Ok(Self { impatient, told_to_end })
    }

    /// Resets the counter for new work: the next signal calls `stop` again.
    pub fn reset(&self) {
        self.impatient.store(false, Ordering::SeqCst);
    }

    /// Whether one of the signals was a termination request other than Ctrl-C.
    #[must_use]
    pub fn is_end_requested(&self) -> bool {
        self.told_to_end.load(Ordering::SeqCst)
    }

    /// From now on one signal ends the process.
    pub fn end_on_next(&self) {
        self.impatient.store(true, Ordering::SeqCst);
    }
}

/// Makes exceeding the file size limit (`ulimit -f`) an error of the write instead of ending the process. Applies to this
/// thread and threads it starts, not to programs.
pub fn outlive_file_limit() -> io::Result<()> {
    let mut beyond = SigSet::empty();
    beyond.add(Kind::SIGXFSZ);
    Ok(beyond.thread_block()?)
}

/// The signals this process was started to ignore, as by `nohup` or a shell's background job: one bit each, lowest
/// first.
#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about ourselves")]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[expect(clippy::disallowed_methods, clippy::exit, reason = "this is the door: a second signal means now")]
fn end() -> ! {
    // Destructors do not run, so a terminal in quiet mode must be restored here.
    crate::terminal::restore_all();
    std::process::exit(i32::from(INTERRUPTED))
}
