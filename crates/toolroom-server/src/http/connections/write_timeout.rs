//! What we say on a connection: in one piece where it is short, and not for ever where nobody reads it.
//!
//! What was said to somebody who has stopped reading would be held for as long as they like, and so would their place.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Whoever takes nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is no longer than this is said in one piece: handing the system several costs it more than putting them together costs us.
const SHORT: usize = 1_024;

/// A connection that is given up when nothing can be written to it for a while.
pub(crate) struct Outgoing<S> {
    stream: S,
    patience: Duration,
    /// Runs out while we wait for the other side.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> Outgoing<S> {
    pub(crate) const fn new(stream: S) -> Self {
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

impl<S: AsyncRead + Unpin> AsyncRead for Outgoing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Outgoing<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.attempt(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let mut short = [0; SHORT];
        match together(pieces, &mut short) {
            Some(whole) => self.poll_write(context, whole),
            None => self.attempt(context, |stream, context| stream.poll_write_vectored(context, pieces)),
        }
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

/// Several pieces as one, if there is room for them.
fn together<'a>(pieces: &[IoSlice<'_>], room: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut filled = 0;
    for piece in pieces {
        let end = filled + piece.len();
        room.get_mut(filled..end)?.copy_from_slice(piece);
        filled = end;
    }
    room.get(..filled)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[test]
    fn what_is_short_is_put_together() {
        let mut room = [0; 4];
        let mut put = |pieces: &[&[u8]]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
            together(&pieces, &mut room).map(<[u8]>::to_vec)
        };
        assert_eq!(put(&[b"a", b"", b"bc"]), Some(b"abc".to_vec()));
        assert_eq!(put(&[b"ab", b"cd"]), Some(b"abcd".to_vec()));
        assert_eq!(put(&[]), Some(Vec::new()));
        assert_eq!(put(&[b"ab", b"cde"]), None);
    }

    #[tokio::test]
    async fn what_is_said_in_pieces_arrives_in_order() {
        let (ours, mut theirs) = duplex(4 * SHORT);
        let mut stream = Outgoing::new(ours);
        for length in [1, SHORT / 2, SHORT / 2 + 1, SHORT + 1] {
            let (head, body) = (vec![b'h'; length], vec![b'b'; length]);
            let pieces = [IoSlice::new(&head), IoSlice::new(&[]), IoSlice::new(&body)];
            assert_eq!(stream.write_vectored(&pieces).await.unwrap(), 2 * length);
            let mut heard = vec![0; 2 * length];
            theirs.read_exact(&mut heard).await.unwrap();
            assert_eq!(heard, [head, body].concat());
        }
    }

    #[tokio::test]
    async fn who_stops_reading_is_given_up() {
        let (ours, mut theirs) = duplex(10);
        let mut stream = Outgoing { patience: Duration::from_millis(1), ..Outgoing::new(ours) };
        stream.write_all(&[0; 10]).await.unwrap();
        assert_eq!(stream.write_all(b"more").await.unwrap_err().kind(), ErrorKind::TimedOut);
        // Whoever reads again after all is not held to what was.
        theirs.read_exact(&mut [0; 10]).await.unwrap();
        stream.write_all(&[0; 10]).await.unwrap();
    }
}
