//! Writes to a connection: short responses in one piece, and with a timeout.
//!
//! Without the timeout a client that stops reading would hold its response and its permit for as long as it likes.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A client that reads nothing for this long is disconnected.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Up to this size, pieces are copied together: that costs less than a vectored write.
const MAX_COALESCED: usize = 1_024;

/// A connection whose writes fail after a timeout.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// Runs while the client does not read.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> WriteTimeout<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, timeout: TIMEOUT, stalled: None }
    }

    /// Writes, or fails once writing was impossible for the timeout.
    fn write_in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.stalled = None;
            return Poll::Ready(written);
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.write_in_time(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let mut buffer = [0; MAX_COALESCED];
        match coalesce(pieces, &mut buffer) {
            Some(whole) => self.poll_write(context, whole),
            None => {
                self.write_in_time(context, |stream, context| stream.poll_write_vectored(context, pieces))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.write_in_time(context, S::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.write_in_time(context, S::poll_shutdown)
    }
}

/// Copies the pieces together if they fit.
fn coalesce<'a>(pieces: &[IoSlice<'_>], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut filled = 0;
    for piece in pieces {
        let end = filled + piece.len();
        buffer.get_mut(filled..end)?.copy_from_slice(piece);
        filled = end;
    }
    buffer.get(..filled)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[test]
    fn short_pieces_are_coalesced() {
        let mut buffer = [0; 4];
        let mut copied = |pieces: &[&[u8]]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
            coalesce(&pieces, &mut buffer).map(<[u8]>::to_vec)
        };
        assert_eq!(copied(&[b"a", b"", b"bc"]), Some(b"abc".to_vec()));
        assert_eq!(copied(&[b"ab", b"cd"]), Some(b"abcd".to_vec()));
        assert_eq!(copied(&[]), Some(Vec::new()));
        assert_eq!(copied(&[b"ab", b"cde"]), None);
    }

    #[tokio::test]
    async fn pieces_arrive_in_order() {
        let (ours, mut theirs) = duplex(4 * MAX_COALESCED);
        let mut stream = WriteTimeout::new(ours);
        for length in [1, MAX_COALESCED / 2, MAX_COALESCED / 2 + 1, MAX_COALESCED + 1] {
            let (head, body) = (vec![b'h'; length], vec![b'b'; length]);
            let pieces = [IoSlice::new(&head), IoSlice::new(&[]), IoSlice::new(&body)];
            assert_eq!(stream.write_vectored(&pieces).await.unwrap(), 2 * length);
            let mut heard = vec![0; 2 * length];
            theirs.read_exact(&mut heard).await.unwrap();
            assert_eq!(heard, [head, body].concat());
        }
    }

    #[tokio::test]
    async fn a_client_that_stops_reading_is_disconnected() {
        let (ours, mut theirs) = duplex(10);
        let mut stream = WriteTimeout { timeout: Duration::from_millis(1), ..WriteTimeout::new(ours) };
        stream.write_all(&[0; 10]).await.unwrap();
        assert_eq!(stream.write_all(b"more").await.unwrap_err().kind(), ErrorKind::TimedOut);
        // Reading again resets the timeout.
        theirs.read_exact(&mut [0; 10]).await.unwrap();
        stream.write_all(&[0; 10]).await.unwrap();
    }
}
