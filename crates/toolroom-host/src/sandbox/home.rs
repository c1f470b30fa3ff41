//! The home of confined programs.

use std::io;
use std::path::Path;

use super::user::User;
use crate::folders::make_private;
use crate::owner::give_to;

/// Makes a home, or a folder in it, for confined programs that work in this workspace, if it is missing. If we are root
/// it is given to the user whom they become there. Blocks.
pub fn make_home(home: &Path, workspace: &Path) -> io::Result<()> {
    make_private(home)?;
    Ok(give_to(User::of_folder(workspace)?, home)?)
}
