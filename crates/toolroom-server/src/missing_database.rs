//! A master key without its database, which hints at a lost database.

use toolroom_host::folders::Folders;
use toolroom_host::seal::KEY_FILE;
use toolroom_host::text_file;

use crate::database::DATABASE;

/// Whether the database is empty although a master key exists. The key is created with the first sealed value, so the
/// database was not empty before.
pub(crate) fn is_emptied(folders: &Folders) -> bool {
    text_file::is_empty(&folders.data.join(DATABASE)) && text_file::is_there(&folders.data.join(KEY_FILE))
}

/// The message for it.
pub(crate) fn emptied(folders: &Folders) -> String {
    let (database, key) = (folders.data.join(DATABASE), folders.data.join(KEY_FILE));
    format!(
        "the database `{}` is empty, but a master key for it exists; restore a backup with `toolroom \
         backup restore FILE`, or move `{}` away to start over",
        database.display(),
        key.display()
    )
}

/// Whether there is a master key but no database. No error: the operator may have put the key there in advance.
pub(crate) fn is_lost(folders: &Folders) -> bool {
    // In this order, because the database is created before the key.
    text_file::is_there(&folders.data.join(KEY_FILE)) && !text_file::is_there(&folders.data.join(DATABASE))
}

/// The message for it.
pub(crate) fn lost(folders: &Folders) -> String {
    let (database, key) = (folders.data.join(DATABASE), folders.data.join(KEY_FILE));
    format!(
        "there is no database `{}`, but a master key `{}`; if there was a database, restore it with \
         `toolroom backup restore FILE`",
        database.display(),
        key.display()
    )
}
