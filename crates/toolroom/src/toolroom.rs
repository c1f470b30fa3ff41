//! The toolroom itself: a catalog, a policy, and the ports its calls go through.

use std::sync::Arc;
use std::time::Duration;

use crate::call::CallReport;
use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock};
use crate::ledger::{Approvals, Journal, Ledger, Seal, Storage, Switchboard};
use crate::memory::Memories;
use crate::policy::{Policy, Provenance};
use crate::provenance::{DIRECT_CALLS_COUNT_FOR, Tracks};
use crate::redact::{Fixed, Patterns, Redactions, Redactor};
use crate::testing::{MemoryLedger, NoSeal};

/// How long a question stays open unless the room says otherwise. After that the answer is no.
pub const APPROVAL_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Receives the report of every call. Called from the call's task: it must not block.
pub type CallObserver = Arc<dyn Fn(&CallReport) + Send + Sync>;

/// The one door to every tool. Cheap to clone; all clones share catalog, policy and ports.
#[derive(Clone)]
pub struct Toolroom {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) approvals: Arc<dyn Approvals>,
    pub(crate) switchboard: Arc<dyn Switchboard>,
    pub(crate) tracks: Arc<dyn Tracks>,
    pub(crate) memories: Option<Arc<dyn Memories>>,
    /// What the contents of files count as.
    pub(crate) file_provenance: Provenance,
    pub(crate) direct_calls_count_for: Duration,
    pub(crate) redactions: Arc<dyn Redactions>,
    pub(crate) seal: Option<Arc<dyn Seal>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) approval_lifetime: Duration,
    pub(crate) observer: Option<CallObserver>,
}

impl Toolroom {
    /// A toolroom over storage that keeps everything: calls, questions, switches and answers.
    #[must_use]
    pub fn builder<S: Storage + 'static>(storage: Arc<S>) -> ToolroomBuilder {
        ToolroomBuilder {
            room: Self {
                catalog: Arc::default(),
                policy: Arc::default(),
                ledger: Arc::clone(&storage) as _,
                journal: Arc::clone(&storage) as _,
                approvals: Arc::clone(&storage) as _,
                switchboard: Arc::clone(&storage) as _,
                tracks: storage,
                memories: None,
                file_provenance: Provenance { private: true, untrusted: true, ..Provenance::NONE },
                direct_calls_count_for: DIRECT_CALLS_COUNT_FOR,
                redactions: Arc::new(Fixed::new(Redactor::new([], Patterns::Keys))),
                seal: None,
                clock: Arc::new(SystemClock),
                approval_lifetime: APPROVAL_LIFETIME,
                observer: None,
            },
        }
    }

    /// A toolroom that keeps its journal in memory: for tests and for embedders who need none. To read that
    /// journal, pass a [`MemoryLedger`] of your own to [`Toolroom::builder`].
    #[must_use]
    pub fn in_memory() -> Self {
        Self::builder(Arc::new(MemoryLedger::new())).seal(Arc::new(NoSeal)).build()
    }

    /// Which tools there are.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// By which rules calls are judged.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Switches and standing answers, for listings and offers.
    #[must_use]
    pub fn switchboard(&self) -> &dyn Switchboard {
        self.switchboard.as_ref()
    }

    /// Open questions.
    #[must_use]
    pub fn approvals(&self) -> &dyn Approvals {
        self.approvals.as_ref()
    }

    /// The clock all records are stamped with.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }
}

/// Builds a [`Toolroom`].
pub struct ToolroomBuilder {
    room: Toolroom,
}

impl ToolroomBuilder {
    /// Uses this catalog.
    #[must_use]
    pub fn catalog(mut self, catalog: Arc<Catalog>) -> Self {
        self.room.catalog = catalog;
        self
    }

    /// Judges calls by this policy; without one, the preset *balanced* decides alone.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.room.policy = Arc::new(policy);
        self
    }

    /// Seals the requests of parked calls. Without a seal they are not stored, so a parked call cannot be resumed: it has to
    /// be made again.
    #[must_use]
    pub fn seal(mut self, seal: Arc<dyn Seal>) -> Self {
        self.room.seal = Some(seal);
        self
    }

    /// Asks also before memories of the user are sent outward.
    #[must_use]
    pub fn memories(mut self, memories: Arc<dyn Memories>) -> Self {
        self.room.memories = Some(memories);
        self
    }

    /// Sets the provenance of file contents: private and untrusted by default.
    #[must_use]
    pub fn file_provenance(mut self, provenance: Provenance) -> Self {
        self.room.file_provenance = provenance;
        self
    }

    /// Says how long what a caller without a session has read counts after its last call.
    #[must_use]
    pub fn direct_calls_count_for(mut self, span: Duration) -> Self {
        self.room.direct_calls_count_for = span;
        self
    }

    /// Sets the secrets to redact; without it, known key formats are redacted.
    #[must_use]
    pub fn redactions(mut self, redactions: Arc<dyn Redactions>) -> Self {
        self.room.redactions = redactions;
        self
    }

    /// Uses this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.room.clock = clock;
        self
    }

    /// Says how long a question stays open.
    #[must_use]
    pub fn approval_lifetime(mut self, lifetime: Duration) -> Self {
        self.room.approval_lifetime = lifetime;
        self
    }

    /// Sets the observer of all calls, for metrics.
    #[must_use]
    pub fn observer(mut self, observer: CallObserver) -> Self {
        self.room.observer = Some(observer);
        self
    }

    /// The toolroom.
    #[must_use]
    pub fn build(self) -> Toolroom {
        self.room
    }
}
