//! A plain or TLS connection, with the information the pool needs.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::allowance::{Allowance, Meter};

/// The peer address, attached to every response of the connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

pub(super) struct Wire {
    peer: Peer,
    meter: Meter,
    stream: Transport,
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Wire {
    pub(super) fn plain(peer: SocketAddr, stream: TcpStream) -> Self {
        Self { peer: Peer(peer), meter: Allowance::for_one().meter(), stream: Transport::Plain(stream) }
    }

    pub(super) fn encrypted(peer: SocketAddr, stream: TlsStream<TcpStream>) -> Self {
        let allowance = if is_two(&stream) { Allowance::for_several() } else { Allowance::for_one() };
        Self { peer: Peer(peer), meter: allowance.meter(), stream: Transport::Tls(Box::new(stream)) }
    }
}

/// Whether HTTP/2 was negotiated.
fn is_two(stream: &TlsStream<TcpStream>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(b"h2")
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.peer).extra(self.meter.allowance().clone());
        match &self.stream {
            Transport::Tls(stream) if is_two(stream) => connected.negotiated_h2(),
            Transport::Tls(_) | Transport::Plain(_) => connected,
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let before = buffer.filled().len();
        let read = match &mut wire.stream {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        if let Poll::Ready(Ok(())) = read {
            wire.meter.take(buffer.filled().get(before..).unwrap_or_default())?;
        }
        read
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().stream {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().stream {
            Transport::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Transport::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
