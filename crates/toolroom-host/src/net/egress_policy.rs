//! The limits of a client: destinations, redirects, time and size.

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

/// Minimum for the protocol to work.
const LEAST_HEADER_BYTES: u32 = 8 * 1024;

/// A year: a duration that can be added to any time.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What one [`Client`](super::Client) may do. Default: the public internet, for tools that fetch pages.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    openings: Vec<EgressRule>,
    roots: Vec<CertificateDer<'static>>,
    /// Maximum number of redirects. With 0 the redirect itself is the response.
    pub max_redirects: u32,
    /// Whether redirects to another origin are refused.
    pub stays_at_origin: bool,
    /// Time and size limits.
    pub limits: HttpLimits,
}

/// Limits that hold for any server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Body bytes on the wire, compressed or not.
    pub wire_bytes: u64,
    /// Body bytes after decompression.
    pub decoded_bytes: u64,
    /// Number of headers of one response.
    pub headers: usize,
    /// Total bytes of the headers of one response; at least 8 KiB.
    pub header_bytes: u32,
    /// Resolving, connecting and handshake together, per host.
    pub connect: Duration,
    /// Maximum idle time, before and within the response.
    pub idle: Duration,
    /// Total time, including redirects and body. `None` for long-lived streams.
    pub total: Option<Duration>,
}

/// Why a PEM text is not a root certificate.
#[derive(Debug, Error)]
pub enum RootError {
    /// It contains none.
    #[error("the text holds no certificate: it begins with `-----BEGIN CERTIFICATE-----`")]
    Absent,
    /// It is not PEM.
    #[error("the certificate cannot be read as PEM")]
    Pem(#[from] pem::Error),
    /// It cannot be used as a root.
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
    /// Clamped to values that the protocol and clocks support.
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
    /// Only the public internet.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Opens more destinations. They come from trusted configuration, never from an argument of a tool.
    #[must_use]
    pub fn open(mut self, openings: impl IntoIterator<Item = EgressRule>) -> Self {
        self.openings.extend(openings);
        self
    }

    /// Sets the maximum number of redirects.
    #[must_use]
    pub fn max_redirects(mut self, most: u32) -> Self {
        self.max_redirects = most;
        self
    }

    /// Follows redirects within one origin only: for clients of one server that send it confidential data.
    #[must_use]
    pub fn within_origin(mut self) -> Self {
        self.stays_at_origin = true;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Trusts the certificates in a PEM text as roots, in addition to those of the machine.
    pub fn trust_pem(mut self, pem: &str) -> Result<Self, RootError> {
        let before = self.roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate?;
            // Checked separately, because the store skips certificates it cannot parse.
            RootCertStore::empty().add(certificate.clone())?;
            self.roots.push(certificate);
        }
        if self.roots.len() == before { Err(RootError::Absent) } else { Ok(self) }
    }

    pub(super) fn roots(&self) -> &[CertificateDer<'static>] {
        &self.roots
    }

    /// Whether the rules about names and ports are waived for this destination.
    pub(super) fn opens_place(&self, place: &HostPort) -> bool {
        self.openings.iter().any(|opening| match place.address() {
            Some(address) => opening.opens_exactly(SocketAddr::new(address, place.port())),
            None => opening.opens_name(place.name(), place.port()),
        })
    }

    /// Judges one resolved address. `own` says whether it belongs to this machine.
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
        // An embedded address is reached too, so both must be allowed.
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
