//! The home of confined programs.

use std::io;
use std::path::Path;

use crate::folders::make_private;
use crate::owner::give_to_programs;

/// Makes a home for confined programs, if it is missing. Blocks.
pub fn make_home(folder: &Path) -> io::Result<()> {
    make_private(folder)?;
    Ok(give_to_programs(folder)?)
}
