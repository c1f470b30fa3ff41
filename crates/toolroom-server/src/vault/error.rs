//! What can go wrong with secrets and their key, told apart.

use toolroom_host::seal::{KEY_VARIABLE, RotationProblem, SealError};
use toolroom_store::{SealedLocation, StoreError};

/// Why something cannot be kept or opened. For the operator, never for a model.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key is gone. A new one would not help: what is sealed needs the old one.
    #[error(
        "something is sealed here, but there is no master key; put `{path}` back, or set `{KEY_VARIABLE}`. If the \
         key is lost for good, remove what it sealed: `toolroom secrets remove NAME`, `toolroom approvals deny ID`"
    )]
    NoKey {
        /// Where the key should be.
        path: String,
    },
    /// What was sealed is not what we seal.
    #[error("the secret `{name}` is no text; set it again with `toolroom secrets set {name}`")]
    NotText {
        /// The secret.
        name: String,
    },
    /// One thing cannot be opened, so nothing can be sealed with another key.
    #[error("the key is not changed, because {} cannot be opened", Told(place))]
    Unopened {
        /// What it is.
        place: SealedLocation,
        /// Why not.
        #[source]
        source: SealError,
    },
    /// Both variables are set, and what is stored is still sealed with the old key.
    #[error(
        "the change of the key is not finished; finish it with `toolroom secrets rotate`, then try again"
    )]
    BetweenKeys,
    /// The key does not fit, cannot be read, or what is sealed is damaged.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl VaultError {
    /// Whether it may be over once key and database are read again: somebody changed the key in between.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::NoKey { .. } => true,
            Self::Seal(error) | Self::Unopened { source: error, .. } => {
                matches!(error, SealError::UnknownKey { .. } | SealError::Rotation(RotationProblem::Stale))
            }
            Self::NotText { .. } | Self::BetweenKeys | Self::Store(_) => false,
        }
    }
}

/// A place, and how to get rid of what is there.
struct Told<'a>(&'a SealedLocation);

impl std::fmt::Display for Told<'_> {
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
