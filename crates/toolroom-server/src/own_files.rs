//! Our own files, which tools must not read and saved files must not replace.

use std::path::{Path, PathBuf};

use toolroom_host::folders::Folders;
use toolroom_host::seal::KEY_FILE;
use toolroom_host::text_file::{is_folder, is_same};

use crate::app::{CHAT_HISTORY, COMMANDS_HOME};
use crate::config::FILE_NAME;
use crate::database::{CHANGE_COUNTER, DATABASE, WRITE_AHEAD_FOLDER};
use crate::gateway::SERVERS;

/// Prefixes of their names: a database has a log and copies next to it.
const NAMES: [&str; 4] = [DATABASE, KEY_FILE, FILE_NAME, CHAT_HISTORY];

/// Folders in the data folder whose whole content is ours.
const FOLDERS: [&str; 3] = [WRITE_AHEAD_FOLDER, SERVERS, COMMANDS_HOME];

/// Their paths.
pub(crate) fn own_files(folders: &Folders) -> Vec<PathBuf> {
    let own =
        [DATABASE, CHANGE_COUNTER, FILE_NAME, KEY_FILE, CHAT_HISTORY].map(|name| folders.data.join(name));
    let beside = ["-wal", "-shm"].map(|end| folders.data.join(format!("{DATABASE}{end}")));
    own.into_iter().chain(beside).chain([folders.config.join(FILE_NAME)]).collect()
}

/// Whether an absolute path is one of them. The file need not exist.
pub(crate) fn is_own(folders: &Folders, path: &Path) -> bool {
    let parent = path.parent().unwrap_or(path);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_among = [&folders.data, &folders.config].into_iter().any(|folder| is_same(parent, folder));
    let is_named = NAMES.iter().any(|own| name.starts_with(own));
    let inside = |folder: &Path| is_folder(folder) && parent.ancestors().any(|above| is_same(above, folder));
    (is_among && is_named)
        || own_files(folders).iter().any(|own| is_same(path, own))
        || FOLDERS.iter().any(|name| inside(&folders.data.join(name)))
}
