//! Listening sockets of this process.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};

/// The addresses this process listens on. Global, as sockets belong to the process.
static OURS: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

/// Whether a connection to this address would reach this process.
pub(crate) fn is_ours(address: SocketAddr, is_of_this_machine: impl Fn(&IpAddr) -> bool) -> bool {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    ours.iter().filter(|ours| ours.port() == address.port()).any(|ours| {
        let (ours, there) = (ours.ip().to_canonical(), address.ip().to_canonical());
        // A wildcard socket is reached at every address of the machine, and connecting to the wildcard address reaches it.
        let is_here = there.is_loopback() || there.is_unspecified() || is_of_this_machine(&there);
        ours == there || (is_here && (ours.is_unspecified() || there.is_unspecified()))
    })
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens at `address`; with port 0 the system picks one.
    ///
    /// # Errors
    /// If the address is taken, or does not belong to this machine.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where others connect to us")]
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        OURS.lock().unwrap_or_else(PoisonError::into_inner).push(address);
        Ok(Self { socket, address })
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts the next connection. Errors of a single connection are skipped.
    ///
    /// # Errors
    /// If no connection can be accepted at the moment: out of descriptors or memory.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    // Replies are written at once: Nagle's algorithm would delay them by 40 ms.
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

impl Drop for Listener {
    fn drop(&mut self) {
        let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = ours.iter().position(|address| *address == self.address) {
            ours.swap_remove(place);
        }
    }
}

/// Whether the error only concerns one client, which has gone away.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
