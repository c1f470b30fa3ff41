//! The content of an artifact as a body. Each chunk is read from the store when the one before is sent.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body::{Frame, SizeHint};
use toolroom::BoxFuture;
use toolroom::ledger::ArtifactId;
use toolroom::scope::Scope;
use toolroom_store::{Store, StoreError};

/// Memory for a client that reads slowly. Each chunk is a query, so smaller ones would be slower.
const CHUNK_BYTES: u64 = 4 << 20;

/// Why a body ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArtifactBodyError {
    #[error("the artifact was deleted while it was read")]
    Deleted,
    #[error("cannot read the rest of the artifact: {0}")]
    Store(#[from] StoreError),
}

/// The part of an artifact that is not sent yet.
pub(crate) struct ArtifactBody {
    store: Store,
    scope: Scope,
    id: ArtifactId,
    left: Range<u64>,
    reading: Option<BoxFuture<'static, Result<Option<Bytes>, StoreError>>>,
}

impl ArtifactBody {
    pub(crate) const fn new(store: Store, scope: Scope, id: ArtifactId, left: Range<u64>) -> Self {
        Self { store, scope, id, left, reading: None }
    }

    /// Reads the next chunk.
    fn read(&self) -> BoxFuture<'static, Result<Option<Bytes>, StoreError>> {
        let (store, scope, id) = (self.store.clone(), self.scope.clone(), self.id.clone());
        let chunk = self.left.start..self.left.end.min(self.left.start.saturating_add(CHUNK_BYTES));
        Box::pin(async move { store.artifact_part(&scope, &id, chunk).await })
    }
}

impl http_body::Body for ArtifactBody {
    type Data = Bytes;
    type Error = ArtifactBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ArtifactBodyError>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let mut reading = self.reading.take().unwrap_or_else(|| self.read());
        let Poll::Ready(read) = reading.as_mut().poll(context) else {
            self.reading = Some(reading);
            return Poll::Pending;
        };
        let chunk = match read {
            Ok(chunk) => chunk.filter(|chunk| !chunk.is_empty()).ok_or(ArtifactBodyError::Deleted),
            Err(error) => Err(error.into()),
        };
        Poll::Ready(Some(chunk.map(|chunk| {
            self.left.start = self.left.start.saturating_add(chunk.len() as u64);
            Frame::data(chunk)
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.end.saturating_sub(self.left.start))
    }
}
