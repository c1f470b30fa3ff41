//! Inside the sandbox: listens where programs expect a proxy, and forwards connections to our proxy on a socket outside.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The port of the proxy. The network namespace is private, so it is free; it is constant, so that the state of a shell
/// stays valid in the next one.
const PORT: u16 = 17_280;

/// Maximum number of concurrent connections. Further ones are closed.
const MAX_CONCURRENT: usize = 64;

#[expect(clippy::disallowed_types, reason = "this is the door: the socket of our proxy")]
type Outer = std::os::unix::net::UnixStream;

/// Listens as long as this process lives, and returns the port.
#[expect(clippy::disallowed_methods, reason = "this is the door: a network of its own, which leads nowhere")]
pub(super) fn start(proxy: &'static str) -> io::Result<u16> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, PORT))?;
    let open = Arc::new(AtomicUsize::new(0));
    std::thread::Builder::new().spawn(move || {
        for inner in listener.incoming().flatten() {
            let open = Arc::clone(&open);
            if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONCURRENT {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let counted = Arc::clone(&open);
            let pass_on = move || {
                // A rejected client sees a closed connection.
                drop(pass_on(&inner, Path::new(proxy)));
                counted.fetch_sub(1, Ordering::SeqCst);
            };
            if std::thread::Builder::new().spawn(pass_on).is_err() {
                open.fetch_sub(1, Ordering::SeqCst);
            }
        }
    })?;
    Ok(PORT)
}

fn pass_on(inner: &TcpStream, proxy: &Path) -> io::Result<()> {
    let outer = Outer::connect(proxy)?;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            drop(io::copy(&mut &*inner, &mut &outer));
            drop(outer.shutdown(Shutdown::Write));
        });
        drop(io::copy(&mut &outer, &mut &*inner));
        drop(inner.shutdown(Shutdown::Write));
    });
    Ok(())
}
