//! Where others connect to us.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};

/// Where this process listens. Sockets belong to the process, and so does this.
static OURS: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

/// Whether whoever connects there would reach this very process.
pub(crate) fn is_ours(address: SocketAddr, is_of_this_machine: impl Fn(&IpAddr) -> bool) -> bool {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    ours.iter().filter(|ours| ours.port() == address.port()).any(|ours| {
        let (ours, there) = (ours.ip().to_canonical(), address.ip().to_canonical());
        // One that listens everywhere is reached at every address of the machine, and connecting to nowhere leads to it.
        let is_here = there.is_loopback() || there.is_unspecified() || is_of_this_machine(&there);
        ours == there || (is_here && (ours.is_unspecified() || there.is_unspecified()))
    })
}

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
        OURS.lock().unwrap_or_else(PoisonError::into_inner).push(address);
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

impl Drop for Listener {
    fn drop(&mut self) {
        let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = ours.iter().position(|address| *address == self.address) {
            ours.swap_remove(place);
        }
    }
}

/// Whether whoever wanted to connect has gone, which is no trouble of ours.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
