//! Where connections are served: on threads of their own, apart from what always waits for a time.
//!
//! A thread that sleeps until a certain time has the system set a timer, which is taken back when a request comes first.
//! That costs the request about a microsecond, and somebody always waits for a time in here: for rows to gather, for the
//! next look around. They do so on the other threads. On these only what a request has begun waits for one: a stream that
//! is kept alive, a run.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use hyper_util::rt::TokioTimer;
use tokio::runtime::{Builder, Handle, Runtime};

/// The threads that serve connections; whatever they still do ends with this value.
pub(crate) struct Front {
    handle: Handle,
    /// None once it ends.
    threads: Option<Runtime>,
}

impl Front {
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn open() -> io::Result<Self> {
        let threads = Builder::new_multi_thread().thread_name("front").enable_all().build()?;
        Ok(Self { handle: threads.handle().clone(), threads: Some(threads) })
    }

    /// Does something there, and waits for it here.
    ///
    /// # Errors
    /// When it broke in the middle.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.handle.spawn(work).await.map_err(io::Error::other)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        // Waiting for its threads would keep one of ours from its work.
        if let Some(threads) = self.threads.take() {
            threads.shutdown_background();
        }
    }
}

/// Where times are waited for on other threads than those that serve.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere(Handle);

impl Elsewhere {
    /// On the threads of whoever calls this.
    pub(crate) fn here() -> Self {
        Self(Handle::current())
    }

    /// For one connection, which waits for one time at once.
    pub(crate) fn of_connection(&self) -> ConnectionTimer {
        let _there = self.0.enter();
        ConnectionTimer(Arc::new(Mutex::new(Box::pin(tokio::time::sleep(RINGS_AGAIN)))))
    }
}

/// When a timer rings that nobody has set.
const RINGS_AGAIN: Duration = Duration::from_mins(1);

/// The timer of one connection. It is not set anew for each request: when it rings too early, it is set to what is waited for
/// by then.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionTimer(Arc<Mutex<Pin<Box<tokio::time::Sleep>>>>);

impl Timer for ConnectionTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until { deadline: deadline.into(), timer: self.clone() })
    }

    fn now(&self) -> Instant {
        TokioTimer::new().now()
    }
}

/// A time that somebody waits for.
struct Until {
    deadline: tokio::time::Instant,
    timer: ConnectionTimer,
}

impl Sleep for Until {}

impl Future for Until {
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
    fn what_is_waited_for_elsewhere_comes_here_in_time() {
        let elsewhere = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let timer = elsewhere.block_on(async { Elsewhere::here().of_connection() });
        // Without times of its own.
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
    async fn a_timer_that_rings_too_early_is_set_to_what_is_waited_for() {
        let timer = Elsewhere::here().of_connection();
        let began = tokio::time::Instant::now();
        // Nobody waits for it to its end, as when a request comes in time.
        for _ in 0..100 {
            let mut until = timer.sleep(15 * RINGS_AGAIN);
            assert!(poll_fn(|context| Poll::Ready(until.as_mut().poll(context).is_pending())).await);
            tokio::time::advance(RINGS_AGAIN).await;
        }
        timer.sleep(2 * RINGS_AGAIN).await;
        assert_eq!(began.elapsed().as_secs(), 102 * RINGS_AGAIN.as_secs());
    }

    #[tokio::test]
    async fn what_breaks_there_is_told_here() {
        let front = Front::open().unwrap();
        assert_eq!(front.run(async { 7 }).await.unwrap(), 7);
        assert!(front.run(async { panic!("a mistake") }).await.is_err());
    }
}
