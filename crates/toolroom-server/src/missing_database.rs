//! A master key without its database: what is odd about that, and what to do.

use toolroom_host::folders::Folders;
use toolroom_host::seal::KEY_FILE;
use toolroom_host::text_file;

use crate::database::DATABASE;

/// Whether an empty database lies beside a master key. A key is made when there is something to seal for the database,
/// so the database was not always empty.
pub(crate) fn is_emptied(folders: &Folders) -> bool {
    text_file::is_empty(&folders.data.join(DATABASE)) && text_file::is_there(&folders.data.join(KEY_FILE))
}

/// What to do then.
pub(crate) fn emptied(folders: &Folders) -> String {
    let (database, key) = (folders.data.join(DATABASE), folders.data.join(KEY_FILE));
    format!(
        "the database `{}` is empty, and beside it lies the master key of what was in it; bring that back with `toolroom \
         backup restore FILE`, or move `{}` away to begin anew",
        database.display(),
        key.display()
    )
}

/// Whether there is a master key and no database. That is no damage: somebody may have put the key there beforehand.
pub(crate) fn is_lost(folders: &Folders) -> bool {
    // In this order: whoever makes a key has made the database before.
    text_file::is_there(&folders.data.join(KEY_FILE)) && !text_file::is_there(&folders.data.join(DATABASE))
}

/// What is to be known then.
pub(crate) fn lost(folders: &Folders) -> String {
    let (database, key) = (folders.data.join(DATABASE), folders.data.join(KEY_FILE));
    format!(
        "there is no database `{}`, though the master key `{}` lies beside it; if there was one, bring it back with \
         `toolroom backup restore FILE`",
        database.display(),
        key.display()
    )
}
