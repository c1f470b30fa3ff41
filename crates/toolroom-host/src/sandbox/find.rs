//! Detects the confinement of this machine by trying it.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::confinement::Confinement;
use super::error::SandboxError;
use super::level::{Guarantee, Level};
use super::profile::Profile;
use super::user::{self, User};
use crate::machine::{Machine, UserNamespaces};
use crate::process::{Order, ProcessError, Status, Supervisor};

/// Since this version Landlock covers all ways to change a file.
pub(super) const LEAST_LANDLOCK: u32 = 3;

/// Requirements for a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxRequest {
    /// Exactly this level; `None` for the strongest available.
    pub level: Option<Level>,
    /// The user programs run as if we are root; `None` for the owner of their folder, or `nobody`.
    pub user: Option<User>,
}

/// The confinement of this machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    level: Level,
    landlock_abi: u32,
    bubblewrap: Option<PathBuf>,
    user: Option<User>,
    /// Why it is not a stronger one.
    shortfall: Option<String>,
}

impl Sandbox {
    /// Finds the strongest working confinement, or exactly the requested one. Verified by starting a program in it.
    pub async fn find(supervisor: &Supervisor, demand: SandboxRequest) -> Result<Self, SandboxError> {
        let machine = Machine::look();
        let mut reasons = Vec::new();
        for level in [Level::Namespaces, Level::Landlock] {
            if demand.level.is_some_and(|wanted| wanted != level) {
                continue;
            }
            let sandbox = Self {
                level,
                landlock_abi: machine.landlock_abi,
                bubblewrap: machine.bubblewrap.clone(),
                user: demand.user,
                shortfall: (!reasons.is_empty()).then(|| reasons.join("; ")),
            };
            match lacks(level, &machine) {
                Some(reason) => reasons.push(reason),
                None => match sandbox.works(supervisor).await {
                    Ok(()) => return Ok(sandbox),
                    Err(reason) => reasons.push(reason),
                },
            }
        }
        Err(SandboxError::Unavailable { wanted: demand.level, reason: reasons.join("; ") })
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The Landlock version; 0 for none.
    #[must_use]
    pub fn landlock_abi(&self) -> u32 {
        self.landlock_abi
    }

    /// Why it is not a stronger level, if there is one.
    #[must_use]
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    /// The guarantees, fulfilled or not.
    #[must_use]
    pub fn guarantees(&self) -> Vec<Guarantee> {
        self.level.guarantees(self.landlock_abi)
    }

    /// Applies a profile.
    pub fn confine(&self, profile: &Profile) -> Result<Confinement, SandboxError> {
        let bubblewrap = self.bubblewrap.clone().unwrap_or_default();
        Confinement::new(profile, self.level, bubblewrap, |folder| {
            if !user::is_root() {
                return Ok(None);
            }
            let owner = || folder.map_or(Ok(User::NOBODY), User::of_folder);
            self.user.map_or_else(owner, Ok).map(Some)
        })
    }

    /// Starts a program in it.
    async fn works(&self, supervisor: &Supervisor) -> Result<(), String> {
        let mut order = Order::new("true", "/");
        order.confinement = Some(self.confine(&Profile::bare()).map_err(|error| error.to_string())?);
        let ended = supervisor.run(order, &CancellationToken::new()).await;
        let name = self.level.name();
        match ended {
            Ok(ended) if ended.status == Status::Exited(0) => Ok(()),
            Ok(ended) => Err(format!("{name}: a program started to try it ended with {:?}", ended.status)),
            Err(ProcessError::Confinement { reason }) => Err(format!("{name}: {reason}")),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

/// What the machine lacks for a level, if known without trying.
fn lacks(level: Level, machine: &Machine) -> Option<String> {
    if !machine.seccomp {
        return Some(format!("the kernel ({}) has no seccomp", machine.kernel));
    }
    match level {
        Level::Namespaces if machine.bubblewrap.is_none() => {
            Some("bubblewrap is not installed (`sudo apt-get install bubblewrap`)".to_owned())
        }
        Level::Namespaces if user::is_root() => None,
        Level::Namespaces => match machine.user_namespaces {
            // Namespaces may be forbidden for most programs, but allowed for bubblewrap.
            UserNamespaces::Possible | UserNamespaces::Forbidden { .. } => None,
            UserNamespaces::Absent => Some(format!("the kernel ({}) has no user namespaces", machine.kernel)),
        },
        Level::Landlock if machine.landlock_abi < LEAST_LANDLOCK => {
            let found = machine.landlock_abi;
            Some(format!("the kernel has Landlock {found}, and {LEAST_LANDLOCK} is needed (Linux 6.2)"))
        }
        Level::Landlock => None,
    }
}
