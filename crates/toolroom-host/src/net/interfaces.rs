//! The addresses of this machine, which reach its local services.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long the list is cached: reading it for each connection would cost more than judging it.
const FRESH: Duration = Duration::from_secs(3);

static SEEN: Mutex<Option<(Instant, Arc<[IpAddr]>)>> = Mutex::new(None);

/// All addresses, at most a few seconds old.
pub(super) fn own_addresses() -> io::Result<Arc<[IpAddr]>> {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    if let Some((then, addresses)) = &*seen
        && now.saturating_duration_since(*then) < FRESH
    {
        return Ok(Arc::clone(addresses));
    }
    let addresses: Arc<[IpAddr]> =
        if_addrs::get_if_addrs()?.into_iter().map(|interface| interface.ip()).collect();
    *seen = Some((now, Arc::clone(&addresses)));
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn every_machine_has_its_own_addresses() {
        assert!(own_addresses().unwrap().contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }
}
