//! The body bytes on the wire: counted, with timeouts.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::error::{NetError, SizeMeasure, TimeoutKind};

/// The total deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) after: Duration,
}

pub(super) struct Flow {
    host: Arc<str>,
    body: Incoming,
    taken: u64,
    limit: u64,
    idle: Duration,
    deadline: Option<Deadline>,
    /// Since when the stream has been idle.
    waiting: Option<Instant>,
    /// Fires no later than the idle limit. It is reset only when it fires too early, which is cheaper than for every chunk.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Bytes not read by the decoder yet.
    unread: Bytes,
}

impl Flow {
    pub(super) fn new(
        host: Arc<str>,
        body: Incoming,
        limit: u64,
        idle: Duration,
        deadline: Option<Deadline>,
    ) -> Self {
        Self { host, body, taken: 0, limit, idle, deadline, waiting: None, alarm: None, unread: Bytes::new() }
    }

    pub(super) fn host(&self) -> &Arc<str> {
        &self.host
    }

    /// The remaining bytes, if announced.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The maximum number of bytes.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) async fn next(&mut self) -> Option<Result<Bytes, NetError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, NetError>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                return self.poll_alarm(cx).map(|late| Some(Err(late)));
            };
            self.waiting = None;
            // The timer is checked here too, because it is never polled while a server sends without a pause.
            if let Some(deadline) = self.deadline
                && Instant::now() >= deadline.at
            {
                return Poll::Ready(Some(Err(self.late(TimeoutKind::Total, deadline.after))));
            }
            return Poll::Ready(match frame {
                None => None,
                Some(Err(error)) => Some(Err(NetError::broken(&self.host, error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => Some(self.count(bytes)),
                    // Trailers are ignored.
                    Err(_trailers) => continue,
                },
            });
        }
    }

    fn count(&mut self, bytes: Bytes) -> Result<Bytes, NetError> {
        self.taken = self.taken.saturating_add(bytes.len() as u64);
        if self.taken <= self.limit {
            return Ok(bytes);
        }
        let host = self.host.to_string();
        Err(NetError::TooLarge { host, what: SizeMeasure::Wire, limit: self.limit, announced: None })
    }

    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<NetError> {
        let silent = *self.waiting.get_or_insert_with(Instant::now) + self.idle;
        let total = self.deadline.filter(|deadline| deadline.at <= silent);
        let due = total.map_or(silent, |deadline| deadline.at);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(due)));
        while alarm.deadline() < due {
            ready!(alarm.as_mut().poll(cx));
            alarm.as_mut().reset(due);
        }
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(match total {
            Some(deadline) => self.late(TimeoutKind::Total, deadline.after),
            None => self.late(TimeoutKind::Idle, self.idle),
        })
    }

    fn late(&self, wait: TimeoutKind, limit: Duration) -> NetError {
        NetError::Timeout { host: self.host.to_string(), wait, limit }
    }
}

/// For decoders, which read from buffers. Our errors are wrapped in theirs.
impl AsyncBufRead for Flow {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let flow = self.get_mut();
        while flow.unread.is_empty() {
            match ready!(flow.poll_next(cx)) {
                None => break,
                Some(bytes) => flow.unread = bytes.map_err(io::Error::other)?,
            }
        }
        Poll::Ready(Ok(&flow.unread))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().unread.advance(amount);
    }
}

impl AsyncRead for Flow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let piece = bytes.get(..buffer.remaining()).unwrap_or(bytes);
        buffer.put_slice(piece);
        let amount = piece.len();
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}
