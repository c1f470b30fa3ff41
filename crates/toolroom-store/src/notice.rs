//! The port to a notice that every process of a database sees at once: something changed that calls go by.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

/// How long what was read is gone by while the notice stays the same. It bounds what one process misses of another that
/// died between its commit and its notice, which nobody was told of either.
pub(crate) const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// What a notice says: nothing but that it is another one.
pub type Words = [u8; 16];

/// The place of the notice.
pub trait Notice: Debug + Send + Sync {
    /// What stands there; `None` when that cannot be seen, and nothing is trusted.
    fn read(&self) -> Option<Words>;

    /// Puts up another one.
    ///
    /// # Errors
    /// When it cannot be written; then others are given the time to look anyway.
    fn change(&self) -> io::Result<()>;
}

/// Lets everybody know. They do when this returns, or know nothing older.
pub(crate) async fn tell(notice: &dyn Notice) {
    if let Err(error) = notice.change() {
        tracing::debug!("others learn a little later what was changed: {error}");
        tokio::time::sleep(TRUSTED_FOR).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[derive(Debug)]
    struct Place {
        is_full: bool,
    }

    impl Notice for Place {
        fn read(&self) -> Option<Words> {
            None
        }

        fn change(&self) -> io::Result<()> {
            if self.is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_cannot_tell_waits_until_everybody_looks_anyway() {
        let began = Instant::now();
        tell(&Place { is_full: false }).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        tell(&Place { is_full: true }).await;
        assert!(began.elapsed() >= TRUSTED_FOR);
    }
}
