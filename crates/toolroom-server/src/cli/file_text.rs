//! Files that are named on the command line.

use std::path::Path;

use toolroom_host::text_file;

use super::call::read_stdin;
use super::exit::{Missing, Usage};
use crate::config::MAX_FILE_BYTES;

/// The text of a file; of standard input, if it is called `-`.
pub(super) fn text_of(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return read_stdin().map_err(|error| Usage(format!("standard input cannot be read: {error}")).into());
    }
    let read = text_file::read_bounded(path, MAX_FILE_BYTES).map_err(|error| Usage(error.to_string()))?;
    Ok(read.ok_or_else(|| Missing(format!("there is no file `{}`", path.display())))?)
}
