//! Connections whose other side has stopped reading. What was said to them would be held for as long as they like, and
//! so would their place.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Whoever takes nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that is given up when nothing can be written to it for a while.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    /// Runs out while we wait for the other side.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> Impatient<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, patience: PATIENCE, waiting: None }
    }

    /// Tries to write, and counts how long that has not been possible.
    fn attempt<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.waiting = None;
            return Poll::Ready(written);
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the other side does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.attempt(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.attempt(context, |stream, context| stream.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.attempt(context, S::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.attempt(context, S::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn who_stops_reading_is_given_up() {
        let (ours, mut theirs) = duplex(10);
        let mut stream = Impatient { patience: Duration::from_millis(1), ..Impatient::new(ours) };
        stream.write_all(&[0; 10]).await.unwrap();
        assert_eq!(stream.write_all(b"more").await.unwrap_err().kind(), ErrorKind::TimedOut);
        // Whoever reads again after all is not held to what was.
        theirs.read_exact(&mut [0; 10]).await.unwrap();
        stream.write_all(&[0; 10]).await.unwrap();
    }
}
