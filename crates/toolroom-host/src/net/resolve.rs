//! Names to addresses: a port, and the machine's own resolver behind it.

use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// Look-ups at the same time, of each resolver: one whose name servers are silent must not hold up the others. Each
/// look-up holds a thread for as long as name servers keep it waiting, even if nobody is interested any more.
const AT_ONCE: usize = 32;

/// Look-ups at the same time, of all resolvers of this process.
static PLACES: Semaphore = Semaphore::const_new(4 * AT_ONCE);

/// A future behind a port.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Finds the addresses of a name. What it finds is judged by whoever asks.
pub trait Resolve: Send + Sync {
    /// All addresses, best first.
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>>;
}

/// What the machine would find: its hosts file, its name servers, in the order it is set up for.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let own = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
            let place = PLACES.acquire().await.map_err(io::Error::other)?;
            let (answer, answered) = oneshot::channel();
            // A thread of its own and not one of the runtime's: those are waited for at the end, and a name server
            // that is silent would keep the process alive.
            std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
                // Whoever asked may have gone away.
                drop(answer.send(look_up(&name)));
                drop((own, place));
            })?;
            answered.await.map_err(io::Error::other)?
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: names are looked up by the system")]
fn look_up(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut addresses = Vec::new();
    for found in (name, 0).to_socket_addrs()? {
        // An address of a link carries the link's number as well, which is of no use here: it is refused anyway.
        if !addresses.contains(&found.ip()) {
            addresses.push(found.ip());
        }
    }
    Ok(addresses)
}
