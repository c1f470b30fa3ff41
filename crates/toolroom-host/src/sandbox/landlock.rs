//! Landlock: the kernel checks every opened file, irrevocably.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, PathFdError, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::confinement::Confinement;
use super::level::Level;
use super::system;

/// The newest version used below. Older kernels apply what they support, which was detected before.
const NEWEST: ABI = ABI::V9;

/// A ruleset that is not enforced yet.
pub(crate) struct LandlockRules {
    rules: RulesetCreated,
    /// Whether a kernel without Landlock is acceptable.
    is_second: bool,
}

impl Confinement {
    /// Creates the ruleset. Opens the paths now, so it must precede a change of the user.
    pub(crate) fn fence(&self) -> io::Result<LandlockRules> {
        let is_second = self.level == Level::Namespaces;
        let mut rules = landlock::Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .map_err(failed)?;
        if !is_second {
            // In its own network namespace a program may connect to itself.
            rules = rules.handle_access(AccessNet::from_all(NEWEST)).map_err(failed)?;
        }
        let mut rules = rules.create().map_err(failed)?;
        let reading = AccessFs::from_read(NEWEST);
        let writing =
            AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
        for path in system::FOLDERS.into_iter().chain([system::PROCESSES]) {
            rules = allow(rules, Path::new(path), reading)?;
        }
        for path in system::DEVICES {
            rules =
                allow(rules, Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate)?;
        }
        for path in &self.readable {
            rules = allow(rules, path, reading)?;
        }
        for path in self.writable.iter().chain(&self.temporary) {
            rules = allow(rules, path, writing)?;
        }
        if is_second {
            // All existing folders may be listed.
            rules = allow(rules, Path::new("/"), AccessFs::ReadDir.into())?;
            for path in system::OWN {
                rules = allow(rules, Path::new(path), writing | AccessFs::IoctlDev)?;
            }
            if self.proxy.is_some() {
                rules = allow(rules, Path::new(super::bubblewrap::PROXY), AccessFs::ResolveUnix.into())?;
            }
        }
        Ok(LandlockRules { rules, is_second })
    }
}

impl LandlockRules {
    /// Enforces the ruleset for this process and its descendants.
    pub(crate) fn raise(self) -> io::Result<()> {
        let status = self.rules.restrict_self().map_err(failed)?;
        if status.ruleset == RulesetStatus::NotEnforced && !self.is_second {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(())
    }
}

/// Allows access below a path, if it exists.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let file = match PathFd::new(path) {
        Ok(file) => file,
        Err(PathFdError::OpenCall { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(rules);
        }
        Err(PathFdError::OpenCall { source, .. }) => return Err(source),
        Err(error) => return Err(io::Error::other(error)),
    };
    let of_files = AccessFs::from_file(NEWEST);
    let is_folder = rustix::fs::fstat(&file)
        .map(|found| rustix::fs::FileType::from_raw_mode(found.st_mode))?
        == rustix::fs::FileType::Directory;
    let access = if is_folder { access } else { access & of_files };
    rules.add_rule(PathBeneath::new(file, access)).map_err(failed)
}

fn failed(error: RulesetError) -> io::Error {
    io::Error::other(error)
}
