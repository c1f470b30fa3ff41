//! A runtime for connections, apart from recurring timers (decision 27).
//!
//! A worker thread that sleeps until a deadline sets a timer of the operating system, and cancels it when a request comes
//! first. That costs the request about a microsecond. So recurring work (batches of rows, periodic checks, timeouts of
//! request heads) stays on the main runtime; this one has deadlines only while a request needs one.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use hyper_util::rt::TokioTimer;
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime that serves connections. Its tasks end when it is dropped.
pub(crate) struct ConnectionRuntime {
    handle: Handle,
    /// `None` while it is dropped.
    runtime: Option<Runtime>,
}

impl ConnectionRuntime {
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("connections").enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Runs `work` there and waits for it here.
    ///
    /// # Errors
    /// When it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.handle.spawn(work).await.map_err(io::Error::other)
    }
}

impl Drop for ConnectionRuntime {
    fn drop(&mut self) {
        // A normal drop would block a thread of the main runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Creates timers on another runtime than the one that serves connections.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionTimers(Handle);

impl ConnectionTimers {
    /// On the current runtime.
    pub(crate) fn here() -> Self {
        Self(Handle::current())
    }

    /// The timer of one connection, which waits for one deadline at a time.
    pub(crate) fn timer(&self) -> ConnectionTimer {
        let _runtime = self.0.enter();
        ConnectionTimer(Arc::new(Mutex::new(Box::pin(tokio::time::sleep(IDLE_INTERVAL)))))
    }
}

/// When a timer without a deadline fires.
const IDLE_INTERVAL: Duration = Duration::from_mins(1);

/// The timer of one connection. It is not reset for each request: when it fires too early, it is set to the current
/// deadline.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionTimer(Arc<Mutex<Pin<Box<tokio::time::Sleep>>>>);

impl Timer for ConnectionTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline { deadline: deadline.into(), timer: self.clone() })
    }

    fn now(&self) -> Instant {
        TokioTimer::new().now()
    }
}

/// Resolves at its time.
struct Deadline {
    deadline: tokio::time::Instant,
    timer: ConnectionTimer,
}

impl Sleep for Deadline {}

impl Future for Deadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut timer = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        if timer.deadline() > self.deadline {
            timer.as_mut().reset(self.deadline);
        }
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= self.deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(self.deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[test]
    fn a_deadline_on_another_runtime_wakes_this_one_in_time() {
        let main = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let timer = main.block_on(async { ConnectionTimers::here().timer() });
        // Without a timer of its own.
        let here = Builder::new_current_thread().build().unwrap();
        here.block_on(async {
            for wait in [3, 1, 2].map(Duration::from_millis) {
                let began = timer.now();
                timer.sleep(wait).await;
                assert!(began.elapsed() >= wait);
            }
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_fires_early_is_set_to_the_deadline() {
        let timer = ConnectionTimers::here().timer();
        let began = tokio::time::Instant::now();
        // Dropped before its end, as when a request comes in time.
        for _ in 0..100 {
            let mut deadline = timer.sleep(15 * IDLE_INTERVAL);
            assert!(poll_fn(|context| Poll::Ready(deadline.as_mut().poll(context).is_pending())).await);
            tokio::time::advance(IDLE_INTERVAL).await;
        }
        timer.sleep(2 * IDLE_INTERVAL).await;
        assert_eq!(began.elapsed().as_secs(), 102 * IDLE_INTERVAL.as_secs());
    }

    #[tokio::test]
    async fn a_panic_on_the_runtime_is_an_error() {
        let runtime = ConnectionRuntime::start().unwrap();
        assert_eq!(runtime.run(async { 7 }).await.unwrap(), 7);
        assert!(runtime.run(async { panic!("a mistake") }).await.is_err());
    }
}
