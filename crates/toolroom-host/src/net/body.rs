//! The body of a response: streamed or whole, decoded, within limits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt};

use super::error::{NetError, SizeMeasure};
use super::flow::Flow;

/// Size of a decoded chunk.
const PIECE: usize = 16 * 1024;

/// Maximum window of a zstd stream, as a power of two: 8 MiB, which every web decoder has to support.
const ZSTD_WINDOW: u32 = 23;

/// Starts a brotli stream with a window of up to 1 GiB. Browsers reject it too.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// The supported encodings, for `Accept-Encoding`.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// A body being received. Dropping it ends the connection.
pub struct Body {
    host: Arc<str>,
    source: BodySource,
    decoded: u64,
    limit: u64,
}

enum BodySource {
    Plain(Flow),
    Brotli(Flow),
    Decoder(Pin<Box<dyn AsyncRead + Send + Sync>>),
    /// The end.
    Over,
    Failed(NetError),
}

impl Body {
    /// Removes the headers that no longer apply to the decoded body.
    pub(super) fn new(flow: Flow, headers: &mut HeaderMap, limit: u64) -> Result<Self, NetError> {
        let host = Arc::clone(flow.host());
        let coding = headers.get(CONTENT_ENCODING).map(|coding| String::from_utf8_lossy(coding.as_bytes()));
        let coding = coding.map(|coding| coding.trim().to_ascii_lowercase()).unwrap_or_default();
        let several = headers.get_all(CONTENT_ENCODING).iter().count() > 1;
        let is_empty = flow.announced() == Some(0);
        let source = match coding.as_str() {
            "" | "identity" if !several => {
                return Ok(Self { host, source: BodySource::Plain(flow), decoded: 0, limit });
            }
            // An empty body is the same in every encoding.
            _ if is_empty => return Ok(Self::none(host)),
            "gzip" | "x-gzip" if !several => {
                let mut decoder = GzipDecoder::new(flow);
                decoder.multiple_members(true);
                BodySource::Decoder(Box::pin(decoder))
            }
            "deflate" if !several => BodySource::Decoder(Box::pin(ZlibDecoder::new(flow))),
            "br" if !several => BodySource::Brotli(flow),
            "zstd" if !several => {
                let window = [DParameter::window_log_max(ZSTD_WINDOW)];
                BodySource::Decoder(Box::pin(ZstdDecoder::with_params(flow, &window)))
            }
            other => {
                let shown: String = other.chars().take(40).collect();
                let why = format!("its encoding is `{shown}`, and one of {ACCEPTED} was asked for");
                return Err(NetError::Encoding { host: host.to_string(), why });
            }
        };
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
        Ok(Self { host, source, decoded: 0, limit })
    }

    /// For a response without a body, regardless of its headers.
    pub(super) fn none(host: Arc<str>) -> Self {
        Self { host, source: BodySource::Over, decoded: 0, limit: 0 }
    }

    /// The next chunk; `None` at the end. Cancel safe.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        let piece = match self.piece().await {
            Ok(Some(piece)) => self.count(piece),
            Ok(None) => {
                self.source = BodySource::Over;
                return Ok(None);
            }
            Err(error) => Err(error),
        };
        // An error is returned again on every call, so that it is not mistaken for the end.
        piece.map(Some).inspect_err(|error| self.source = BodySource::Failed(error.clone()))
    }

    /// The whole body, up to `most` bytes and the limits of the client.
    pub async fn bytes_up_to(mut self, most: u64) -> Result<Bytes, NetError> {
        let (what, limit) = match &self.source {
            BodySource::Plain(flow) => (SizeMeasure::Wire, most.min(self.limit).min(flow.limit())),
            _ => (SizeMeasure::Decoded, most),
        };
        let host = Arc::clone(&self.host);
        let too_large = |announced| NetError::TooLarge { host: host.to_string(), what, limit, announced };
        let announced = self.announced();
        if announced > limit {
            return Err(too_large(Some(announced)));
        }
        self.whole(most).await?.ok_or_else(|| too_large(None))
    }

    /// The whole body, within the limits of the client.
    pub async fn bytes(self) -> Result<Bytes, NetError> {
        let limit = self.limit;
        self.bytes_up_to(limit).await
    }

    /// The announced length; 0 if unknown.
    fn announced(&self) -> u64 {
        match &self.source {
            BodySource::Plain(flow) => flow.announced().unwrap_or(0),
            BodySource::Brotli(_) | BodySource::Decoder(_) | BodySource::Over | BodySource::Failed(_) => 0,
        }
    }

    /// The whole body; `None` if it is longer than `most`, in which case it is not received.
    async fn whole(&mut self, most: u64) -> Result<Option<Bytes>, NetError> {
        let announced = self.announced();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let first = self.chunk().await?.unwrap_or_default();
        // Small bodies are a single chunk, which need not be copied.
        if announced > 0 && first.len() as u64 == announced && first.len() <= most {
            return Ok(Some(first));
        }
        // Memory that is reserved for an announced length but never touched is not used.
        let expected = usize::try_from(announced.min(self.limit)).unwrap_or(0).min(most);
        let mut bytes = BytesMut::with_capacity(expected.max(first.len()));
        bytes.extend_from_slice(&first);
        while bytes.len() <= most {
            match self.chunk().await? {
                Some(piece) => bytes.extend_from_slice(&piece),
                None => return Ok(Some(bytes.freeze())),
            }
        }
        Ok(None)
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, NetError> {
        if let BodySource::Brotli(flow) = &mut self.source {
            let first =
                flow.fill_buf().await.map_err(|error| undecodable(&self.host, error))?.first().copied();
            if first.is_some_and(|first| first & 0x7f == BROTLI_LARGE_WINDOW) {
                let why = "it asks for more memory than brotli on the web may".to_owned();
                return Err(NetError::Encoding { host: self.host.to_string(), why });
            }
            if let BodySource::Brotli(flow) = std::mem::replace(&mut self.source, BodySource::Over) {
                self.source = BodySource::Decoder(Box::pin(BrotliDecoder::new(flow)));
            }
        }
        match &mut self.source {
            BodySource::Plain(flow) => flow.next().await.transpose(),
            BodySource::Decoder(decoder) => {
                let mut piece = BytesMut::with_capacity(PIECE);
                let amount =
                    decoder.read_buf(&mut piece).await.map_err(|error| undecodable(&self.host, error))?;
                Ok((amount > 0).then(|| piece.freeze()))
            }
            BodySource::Failed(error) => Err(error.clone()),
            BodySource::Brotli(_) | BodySource::Over => Ok(None),
        }
    }

    fn count(&mut self, piece: Bytes) -> Result<Bytes, NetError> {
        self.decoded = self.decoded.saturating_add(piece.len() as u64);
        if self.decoded <= self.limit {
            return Ok(piece);
        }
        let (host, limit) = (self.host.to_string(), self.limit);
        Err(NetError::TooLarge { host, what: SizeMeasure::Decoded, limit, announced: None })
    }
}

/// Converts a decoder error: one of ours that passed through it, an early end, or invalid data.
fn undecodable(host: &str, error: io::Error) -> NetError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return NetError::Truncated { host: host.to_owned() };
    }
    match error.downcast::<NetError>() {
        Ok(ours) => ours,
        Err(error) => NetError::Encoding { host: host.to_owned(), why: error.to_string() },
    }
}
