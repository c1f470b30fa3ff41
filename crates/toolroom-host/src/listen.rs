//! Where others connect to us.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// An address that others connect to.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens at `address`; with port 0 the system picks one.
    ///
    /// # Errors
    /// When the address is taken, or not ours.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where others connect to us")]
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next one who connects. What goes wrong with one of them is no error.
    ///
    /// # Errors
    /// When no connection can be taken just now: there are no descriptors left, or no memory.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    // Replies are whole: waiting for more of them would cost 40 ms.
                    if stream.set_nodelay(true).is_ok() {
                        return Ok((stream, peer));
                    }
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether whoever wanted to connect has gone, which is no trouble of ours.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
