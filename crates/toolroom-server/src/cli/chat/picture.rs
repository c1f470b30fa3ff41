//! Pictures that are shown to a model.

use std::path::PathBuf;

use toolroom::model::Image;
use toolroom_host::picture_file;

use crate::cli::console::exit::Usage;

/// Vendors take no larger ones.
const MAX_BYTES: usize = 5 * 1024 * 1024;

/// More say nothing more.
const MAX_PICTURES: usize = 10;

pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Image>, Usage> {
    if paths.len() > MAX_PICTURES {
        return Err(Usage(format!("--image: at most {MAX_PICTURES} pictures can be shown at once")));
    }
    let read = |path: &PathBuf| match picture_file::read(path, MAX_BYTES) {
        Ok(picture) => {
            let media_type = picture.media_type.to_owned();
            Ok(Image { media_type, base64: picture.base64.into() })
        }
        Err(error) => Err(Usage(format!("--image: {:#}", anyhow::Error::from(error)))),
    };
    paths.iter().map(read).collect()
}
