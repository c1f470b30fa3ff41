//! How far a client reaches: what is opened to it, how long it follows and waits, how much it takes.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::{self, PemObject};
use thiserror::Error;

use super::address::{Special, carried, special};
use super::egress_rule::EgressRule;
use super::error::DestinationRefusal;
use super::host_port::HostPort;

/// What the protocol needs to work at all.
const LEAST_HEADER_BYTES: u32 = 8 * 1024;

/// A year: a time that can be added to any other.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What one [`Client`](super::Client) may do. Without changes: the public internet, as a tool that fetches pages
/// needs it.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    openings: Vec<EgressRule>,
    roots: Vec<CertificateDer<'static>>,
    /// How many redirects are followed. With 0 the redirect itself is the response.
    pub max_redirects: u32,
    /// Whether redirects to another origin are refused.
    pub stays_at_origin: bool,
    /// Bounds for time and memory.
    pub limits: HttpLimits,
}

/// Bounds that hold whatever a server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Body bytes as they travel, compressed or not.
    pub wire_bytes: u64,
    /// Body bytes after decompression.
    pub decoded_bytes: u64,
    /// Headers of one response.
    pub headers: usize,
    /// Bytes of all headers of one response; at least 8 KiB.
    pub header_bytes: u32,
    /// Name, connection and handshake together, for each host.
    pub connect: Duration,
    /// The longest silence, before the response and within it.
    pub idle: Duration,
    /// Everything, redirects and body included. `None` for streams that last as long as somebody talks.
    pub total: Option<Duration>,
}

/// Why a text is no root to trust.
#[derive(Debug, Error)]
pub enum RootError {
    /// There is none in it.
    #[error("the text holds no certificate: it begins with `-----BEGIN CERTIFICATE-----`")]
    Absent,
    /// It is no PEM.
    #[error("the certificate cannot be read as PEM")]
    Pem(#[from] pem::Error),
    /// It is no certificate that others can be checked against.
    #[error("the certificate cannot be used as a root")]
    Unusable(#[from] rustls::Error),
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            wire_bytes: 2_000_000,
            decoded_bytes: 8_000_000,
            headers: 100,
            header_bytes: 64 * 1024,
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(15),
            total: Some(Duration::from_secs(30)),
        }
    }
}

impl HttpLimits {
    /// The same, where the protocol and clocks can hold it.
    pub(super) fn sane(self) -> Self {
        Self {
            header_bytes: self.header_bytes.max(LEAST_HEADER_BYTES),
            connect: self.connect.min(LONGEST),
            idle: self.idle.min(LONGEST),
            total: self.total.map(|total| total.min(LONGEST)),
            ..self
        }
    }
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self {
            openings: Vec::new(),
            roots: Vec::new(),
            max_redirects: 3,
            stays_at_origin: false,
            limits: HttpLimits::default(),
        }
    }
}

impl EgressPolicy {
    /// The public internet and nothing else.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Opens more. Entries come from trusted configuration, never from an argument of a tool.
    #[must_use]
    pub fn open(mut self, openings: impl IntoIterator<Item = EgressRule>) -> Self {
        self.openings.extend(openings);
        self
    }

    /// How many redirects are followed.
    #[must_use]
    pub fn max_redirects(mut self, most: u32) -> Self {
        self.max_redirects = most;
        self
    }

    /// Follows redirects within one origin only: for those who talk to one server, and send it what others may not see.
    #[must_use]
    pub fn within_origin(mut self) -> Self {
        self.stays_at_origin = true;
        self
    }

    /// Other bounds.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Trusts the certificates in a PEM text as roots, besides those of the machine.
    pub fn trust_pem(mut self, pem: &str) -> Result<Self, RootError> {
        let before = self.roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate?;
            // Only to see whether it is one: a store takes what it can read.
            RootCertStore::empty().add(certificate.clone())?;
            self.roots.push(certificate);
        }
        if self.roots.len() == before { Err(RootError::Absent) } else { Ok(self) }
    }

    pub(super) fn roots(&self) -> &[CertificateDer<'static>] {
        &self.roots
    }

    /// Whether rules about names and ports do not apply to this place.
    pub(super) fn opens_place(&self, place: &HostPort) -> bool {
        self.openings.iter().any(|opening| match place.address() {
            Some(address) => opening.opens_exactly(SocketAddr::new(address, place.port())),
            None => opening.opens_name(place.name(), place.port()),
        })
    }

    /// Judges one address that is the place or that its name leads to. `own` says whether it is this machine's.
    pub(super) fn admit(
        &self,
        place: &HostPort,
        address: IpAddr,
        own: impl Fn(IpAddr) -> bool,
    ) -> Result<(), DestinationRefusal> {
        let with_port = |address| SocketAddr::new(address, place.port());
        if self.openings.iter().any(|opening| opening.opens_exactly(with_port(address))) {
            return Ok(());
        }
        let name_is_open = place.address().is_none() && self.opens_place(place);
        let is_open = |layer| {
            name_is_open || self.openings.iter().any(|opening| opening.opens_address(with_port(layer)))
        };
        // An address that carries another one leads to both, so both have to be fine.
        let inner = carried(address).into_iter().map(IpAddr::V4);
        let layers: Vec<IpAddr> = std::iter::once(address).chain(inner).collect();
        let is_closed =
            |layer| special(layer).is_some_and(|kind| kind.is_opened_only_exactly() || !is_open(layer));
        let is_refused = layers.iter().any(|layer| is_closed(*layer));
        let is_own = layers.iter().any(|layer| own(*layer) && !is_open(*layer));
        let name = || place.address().is_none().then(|| place.name().to_owned());
        match Special::from_address(address) {
            Some(special) if is_refused => {
                Err(DestinationRefusal::Address { address, special, name: name() })
            }
            _ if is_own => Err(DestinationRefusal::Own { address, name: name() }),
            _ => Ok(()),
        }
    }
}
