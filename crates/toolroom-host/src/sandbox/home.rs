//! The home folder of confined programs.

use std::io;
use std::path::Path;

use super::user::User;
use crate::folders::make_private;
use crate::owner::give_to;

/// Creates the home folder, or a folder in it, if missing. If we are root, it gets the owner that programs of this
/// workspace run as. Blocks.
pub fn make_home(home: &Path, workspace: &Path) -> io::Result<()> {
    make_private(home)?;
    Ok(give_to(User::of_folder(workspace)?, home)?)
}
