//! TLS: ring as provider, the system's roots, and roots from configuration.

use std::io;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::NetError;
use super::host_port::HostPort;

/// The system's roots instead of bundled ones: a company's own authority is included, and a distrusted one disappears with
/// a system update instead of a release. Loaded on the first TLS connection, so that a call without one pays nothing, and
/// shared by all clients.
static MACHINE_ROOTS: OnceCell<Arc<RootCertStore>> = OnceCell::const_new();

/// The TLS configuration of a client.
pub(super) struct Tls {
    extra_roots: Vec<CertificateDer<'static>>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    pub(super) fn new(extra_roots: Vec<CertificateDer<'static>>) -> Self {
        Self { extra_roots, config: OnceCell::new() }
    }

    pub(super) async fn connect(
        &self,
        place: &HostPort,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, NetError> {
        let refused = |source: io::Error| NetError::Tls { host: place.to_string(), source: Arc::new(source) };
        let name = match place.address() {
            Some(address) => ServerName::from(address),
            None => ServerName::try_from(place.name().to_owned())
                .map_err(|error| refused(io::Error::other(error)))?,
        };
        let config = self.config.get_or_try_init(|| self.configure()).await?;
        TlsConnector::from(Arc::clone(config)).connect(name, stream).await.map_err(refused)
    }

    async fn configure(&self) -> Result<Arc<ClientConfig>, NetError> {
        let machine_roots = MACHINE_ROOTS.get_or_try_init(machine_roots).await?;
        let mut roots = Arc::clone(machine_roots);
        if !self.extra_roots.is_empty() {
            Arc::make_mut(&mut roots).add_parsable_certificates(self.extra_roots.iter().cloned());
        }
        if roots.is_empty() {
            return Err(NetError::NoRoots);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| NetError::NoRoots)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

async fn machine_roots() -> Result<Arc<RootCertStore>, NetError> {
    let found = tokio::task::spawn_blocking(|| {
        let mut roots = RootCertStore::empty();
        // Unreadable certificates are skipped; the error says so if none is left.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    });
    found.await.map_err(|_| NetError::NoRoots)
}
