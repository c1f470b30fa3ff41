//! Name resolution: a port, and the system's resolver behind it.

use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// Concurrent lookups per resolver, so that one with silent name servers does not block the others. Each lookup holds a
/// thread until the name server answers, even if it was cancelled.
const MAX_CONCURRENT: usize = 32;

/// Concurrent lookups of this process.
static PLACES: Semaphore = Semaphore::const_new(4 * MAX_CONCURRENT);

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Resolves names. The caller judges the addresses.
pub trait Resolve: Send + Sync {
    /// All addresses, best first.
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver: hosts file and name servers, as configured.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_CONCURRENT)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let own = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
            let place = PLACES.acquire().await.map_err(io::Error::other)?;
            let (answer, answered) = oneshot::channel();
            // A separate thread, not one of the runtime, because the runtime waits for its threads at shutdown, and a silent
            // name server would keep the process alive.
            std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
                // The caller may have cancelled.
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
        // The scope id of a link-local address is not needed: such addresses are refused anyway.
        if !addresses.contains(&found.ip()) {
            addresses.push(found.ip());
        }
    }
    Ok(addresses)
}
