//! The content of an artifact as a body: read piece by piece, each when the last one is on its way.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body::{Frame, SizeHint};
use toolroom::BoxFuture;
use toolroom::ledger::ArtifactId;
use toolroom::scope::Scope;
use toolroom_store::{Store, StoreError};

/// What is held for somebody who reads slowly. Each piece is looked for anew, so that smaller ones would take longer.
const PIECE: u64 = 4 << 20;

/// Why a body breaks off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenOff {
    #[error("the artifact was forgotten while it was read")]
    Forgotten,
    #[error("the artifact could not be read on: {0}")]
    Store(#[from] StoreError),
}

/// Bytes of an artifact that are not sent yet.
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

    /// Looks for the next piece.
    fn read(&self) -> BoxFuture<'static, Result<Option<Bytes>, StoreError>> {
        let (store, scope, id) = (self.store.clone(), self.scope.clone(), self.id.clone());
        let piece = self.left.start..self.left.end.min(self.left.start.saturating_add(PIECE));
        Box::pin(async move { store.artifact_part(&scope, &id, piece).await })
    }
}

impl http_body::Body for ArtifactBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let mut reading = self.reading.take().unwrap_or_else(|| self.read());
        let Poll::Ready(read) = reading.as_mut().poll(context) else {
            self.reading = Some(reading);
            return Poll::Pending;
        };
        let piece = match read {
            Ok(piece) => piece.filter(|piece| !piece.is_empty()).ok_or(BrokenOff::Forgotten),
            Err(error) => Err(error.into()),
        };
        Poll::Ready(Some(piece.map(|piece| {
            self.left.start = self.left.start.saturating_add(piece.len() as u64);
            Frame::data(piece)
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.end.saturating_sub(self.left.start))
    }
}
