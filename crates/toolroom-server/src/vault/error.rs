//! Errors of the vault.

use toolroom_host::seal::{KEY_VARIABLE, RotationProblem, SealError};
use toolroom_store::{SealedLocation, StoreError};

/// Errors of the vault, for the operator, never for a model.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key is missing, and a new one cannot open what is sealed.
    #[error(
        "the database holds sealed values, but there is no master key; put `{path}` back, or set `{KEY_VARIABLE}`. If the \
         key is lost for good, remove what it sealed: `toolroom secrets remove NAME`, `toolroom approvals deny ID`"
    )]
    NoKey {
        /// Where the key should be.
        path: String,
    },
    #[error("the secret `{name}` is not text; set it again with `toolroom secrets set {name}`")]
    NotText {
        /// The secret.
        name: String,
    },
    /// A value cannot be opened, so it cannot be sealed again.
    #[error("the key was not rotated: {} cannot be opened", PlaceDescription(place))]
    Unopened {
        /// What it is.
        place: SealedLocation,
        /// Why not.
        #[source]
        source: SealError,
    },
    /// Both variables are set, and stored values are still sealed with the old key.
    #[error("the key rotation is unfinished; finish it with `toolroom secrets rotate`, then try again")]
    BetweenKeys,
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl VaultError {
    /// Whether reloading key and database may help: another process may have rotated the key.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::NoKey { .. } => true,
            Self::Seal(error) | Self::Unopened { source: error, .. } => {
                matches!(error, SealError::UnknownKey { .. } | SealError::Rotation(RotationProblem::Stale))
            }
            Self::NotText { .. } | Self::BetweenKeys | Self::Store(_) => false,
        }
    }
}

/// A sealed value, and how to remove it.
struct PlaceDescription<'a>(&'a SealedLocation);

impl std::fmt::Display for PlaceDescription<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            SealedLocation::Secret { name, .. } => {
                write!(formatter, "the secret `{name}` (`toolroom secrets remove {name}` removes it)")
            }
            SealedLocation::Approval { call } => {
                write!(formatter, "the parked call `{call}` (`toolroom approvals deny {call}` removes it)")
            }
        }
    }
}
