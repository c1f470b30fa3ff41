//! Options and words that turn a harmless program into a risky one, as data.

use super::invocation::Invocation;
use super::launch_options::{OptionSet, long, short, words};

const REMOVES: &str = "removes or replaces existing files";
const INSTALLS: &str = "installs or publishes";
const DATABASE: &str = "deletes data from a database";

const RISKY_OPTIONS: &[(OptionSet, &str)] = &[
    (
        long(
            "rsync",
            "delete delete-before delete-during delete-delay delete-after delete-excluded delete-missing-args del \
             remove-source-files remove-sent-files",
        ),
        REMOVES,
    ),
    (
        short(
            "tar gtar bsdtar",
            "PU",
            "remove-files delete absolute-names recursive-unlink unlink-first absolute-paths",
        ),
        REMOVES,
    ),
    (short("zip", "md", "move delete"), REMOVES),
    (OptionSet { verbs: "d rn", ..words("7z 7za 7zr 7zz", "-sdel -spf") }, REMOVES),
    (OptionSet { verbs: "m mf d", ..words("rar unrar", "-df -dr -dw") }, REMOVES),
    (short("fallocate", "pczi", "punch-hole collapse-range zero-range insert-range"), REMOVES),
    (short("fdupes jdupes", "d", "delete"), REMOVES),
    (words("virtualenv", "--clear"), REMOVES),
    (short("dmesg", "Cc", "clear read-clear"), "wipes a record of what was done"),
    (words("django-admin manage.py", "flush$ reset_db$ sqlflush$ zero$"), DATABASE),
    (words("unzip", "-:"), "writes outside of the folder it unpacks into"),
    (long("cpio bsdcpio", "absolute-filenames"), "writes outside of the folder it unpacks into"),
    (short("pax", "rs", ""), "writes outside of the folder it unpacks into"),
    (short("fuser", "kK", "kill"), "ends or slows other processes"),
    (words("go", "-modcache --modcache"), REMOVES),
    (words("bun", "trust$ exec$"), INSTALLS),
    (words("make gmake ninja meson just", "install$ uninstall$ deploy$ publish$ release$"), INSTALLS),
    (words("cmake", "--install$ install$"), INSTALLS),
    (
        words(
            "rails rake php mix",
            "db:drop db:reset db:purge db:wipe db:truncate db:schema:load migrate:fresh migrate:reset migrate:refresh \
             ecto.drop ecto.reset",
        ),
        DATABASE,
    ),
    (
        words(
            "prisma alembic flask dbmate sqlx diesel sequelize sequelize-cli knex flyway",
            "reset$ drop$ downgrade$ rollback$ down$ clean$ db:drop migrate:rollback --force-reset",
        ),
        DATABASE,
    ),
];

/// Why an invocation is risky because of its options.
pub(super) fn risk(invocation: &Invocation) -> Option<&'static str> {
    let found = RISKY_OPTIONS
        .iter()
        .find(|(options, _)| options.is_of(invocation.name()) && options.fits(invocation));
    found.map(|(_, why)| *why)
}
