//! From facts to a report. Nothing is looked at here: the same facts always give the same report.
//!
//! Every finding that is not in order has a code that stays the same, and something to type.

use std::path::Path;
use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom::ledger::CallStatus;
use toolroom_host::machine::{Extent, Machine, UserNamespaces};
use toolroom_host::text_file::{NoFile, PassedOver};
use toolroom_store::StoreHealth;
use toolroom_tools::builtin::doctor::{Check, Finding, Report};

use super::facts::{
    AnswerFacts, ConfigFacts, ConfigTrouble, Damage, DiskFacts, Facts, KeyChange, KeyFacts, KeyTrouble,
    OpenStore, PolicyFacts, SealedFacts, StoreFacts, StoreState, StoreTrouble, Unwritable, Vanished,
};
use super::judge_files::files;
use crate::config::told;

const MB: u64 = 1_000_000;
const GB: u64 = 1_000 * MB;

/// Below this somebody should make room.
const LOW_BYTES: u64 = 100 * MB;

/// Below this hardly anything can be written any more.
const FULL_BYTES: u64 = 10 * MB;

/// Outside these years a clock was never set, or set wrongly.
const YEARS: std::ops::RangeInclusive<i16> = 2025..=2100;

/// Clocks of machines that share a database may differ so much.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// From this version on Landlock knows about connections.
const LANDLOCK_NETWORK: u32 = 4;

/// Names that are listed; of more it is said how many.
const LISTED: usize = 5;

const PRUNE: &str = "toolroom log prune --older-than 30d";
const RESTORE: &str = "toolroom backup restore FILE";
const SET_CLOCK: &str = "sudo timedatectl set-ntp true";

/// What these facts mean.
pub(super) fn judge(facts: &Facts) -> Report {
    let newest_at = facts.store.as_ref().and_then(newest_at);
    let checks = vec![
        ("config", config(&facts.config)),
        ("policy", policy(facts.policy.as_ref(), facts.answers.as_ref())),
        ("files", files(facts.files.as_ref())),
        ("secrets", secrets(&facts.key, facts.sealed.as_ref())),
        ("store", facts.store.as_ref().map_or_else(|| unexamined("store.unexamined", "config"), store)),
        ("instances", of_store(facts, "instances.unexamined", instances)),
        ("approvals", of_store(facts, "approvals.unexamined", approvals)),
        ("disk", facts.disk.as_ref().map_or_else(|| unexamined("disk.unexamined", "config"), disk)),
        ("sandbox", of_machine(facts, "sandbox.unreadable", sandbox)),
        ("clock", of_machine(facts, "clock.unreadable", |machine| clock(machine, newest_at, facts.at))),
    ];
    Report::new(facts.at, checks)
}

fn newest_at(store: &StoreFacts) -> Option<Timestamp> {
    match &store.state {
        StoreState::Open(open) => open.health.newest_at,
        StoreState::Absent | StoreState::Lost(_) | StoreState::Unusable(..) | StoreState::Gone(_) => None,
    }
}

pub(super) fn one(finding: Finding) -> Check {
    Check { gravest: finding, further: Vec::new() }
}

/// A part that depends on another one, which is broken.
pub(super) fn unexamined(code: &'static str, on: &str) -> Check {
    one(Finding::warning(code, format!("not examined, see `{on}`"), "toolroom doctor"))
}

/// What is in the database: nothing, if there is none.
fn of_store(facts: &Facts, code: &'static str, judge: fn(&OpenStore) -> Check) -> Check {
    match facts.store.as_ref().map(|store| &store.state) {
        Some(StoreState::Open(open)) => judge(open),
        Some(StoreState::Absent | StoreState::Lost(_)) => one(Finding::ok("none")),
        Some(StoreState::Unusable(..) | StoreState::Gone(_)) => unexamined(code, "store"),
        None => unexamined(code, "config"),
    }
}

fn of_machine(facts: &Facts, code: &'static str, judge: impl Fn(&Machine) -> Check) -> Check {
    match &facts.machine {
        Ok(machine) => judge(machine),
        Err(cause) => one(Finding::error(code, format!("cannot be examined: {cause}"), "toolroom doctor")),
    }
}

fn config(facts: &Result<ConfigFacts, ConfigTrouble>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(ConfigTrouble::NoHome(cause)) => {
            return one(Finding::error("config.no_home", cause, "export TOOLROOM_HOME=\"$HOME/.toolroom\""));
        }
        Err(ConfigTrouble::Unreadable(cause)) => {
            return one(Finding::error("config.unreadable", cause, "toolroom config check"));
        }
        Err(ConfigTrouble::Invalid(problems)) => {
            return one(Finding::error("config.invalid", first_of(problems), "toolroom config check"));
        }
    };
    let mut found = Vec::new();
    for odd in &facts.odd {
        let remedy = odd.variable.as_ref().map(|name| format!("unset {name}"));
        let remedy = remedy.unwrap_or_else(|| "toolroom config check".to_owned());
        found.push(Finding::warning("config.odd", &odd.text, remedy));
    }
    found.extend(facts.passed_over.iter().map(passed_over));
    if let Some(project) = facts.project.as_ref().filter(|project| project.ignored > 0) {
        let ignored = counted(project.ignored, "setting");
        let path = project.path.display();
        let details = format!("`{path}` is not trusted: {ignored} in it ignored");
        found.push(Finding::warning("config.untrusted", details, "toolroom trust"));
    }
    let files = [facts.user.as_ref(), facts.project.as_ref().map(|project| &project.path)];
    let files: Vec<String> =
        files.into_iter().flatten().map(|path| format!("`{}`", path.display())).collect();
    let details = if files.is_empty() { "no file; the defaults hold".to_owned() } else { files.join(", ") };
    Check::new(details, found)
}

/// Its rules, if it has any, do not hold: somebody may rely on them.
fn passed_over(passed: &PassedOver) -> Finding {
    let file = quoted(&passed.path);
    let remedy = match passed.why {
        NoFile::Stranger(_) => format!("sudo chown \"$(id -u)\" {file}"),
        NoFile::LeadsNowhere | NoFile::NotRegular => format!("mv {file} {file}.other"),
    };
    Finding::warning("config.passed_over", told(passed).to_string(), remedy)
}

fn policy(facts: Option<&Result<PolicyFacts, Vec<String>>>, answers: Option<&AnswerFacts>) -> Check {
    let facts = match facts {
        Some(Ok(facts)) => facts,
        Some(Err(problems)) => {
            return one(Finding::error("policy.invalid", first_of(problems), "toolroom policy check"));
        }
        None => return unexamined("policy.unexamined", "config"),
    };
    let mut details = format!("preset {}, {}", facts.preset.as_str(), counted(facts.rules, "rule"));
    if facts.examples > 0 {
        details.push_str(&format!(" ({}, all hold)", counted(facts.examples, "example")));
    }
    let mut found = Vec::new();
    match answers {
        Some(answers) => {
            details.push_str(&format!(", {}", counted(answers.count, "standing answer")));
            found.extend(answers.unreadable.iter().take(LISTED).map(|id| {
                let details = format!("the condition of the standing answer `{id}` cannot be read");
                Finding::warning("policy.unreadable_answer", details, format!("toolroom policy forget {id}"))
            }));
        }
        None => found.push(Finding::warning(
            "policy.answers_unexamined",
            format!("{details}; standing answers were not examined, see `store`"),
            "toolroom doctor",
        )),
    }
    Check::new(details, found)
}

fn secrets(key: &KeyFacts, sealed: Option<&SealedFacts>) -> Check {
    let counts = sealed.map(|sealed| (sealed.secrets, sealed.requests));
    let kept = match counts {
        Some((secrets, 0)) => counted(secrets, "secret"),
        Some((secrets, requests)) => {
            format!("{}, {} of waiting calls", counted(secrets, "secret"), counted(requests, "request"))
        }
        None => "not examined, see `store`".to_owned(),
    };
    let mut found = Vec::new();
    let mut details = kept.clone();
    match key {
        KeyFacts::Nowhere => return unexamined("secrets.unexamined", "config"),
        KeyFacts::Unusable(trouble, cause) => found.push(key_trouble(trouble, cause)),
        KeyFacts::Absent if counts.is_some_and(|(secrets, requests)| secrets + requests > 0) => {
            let details = format!("there is no master key, and without it nothing opens: {kept}");
            found.push(Finding::error("secrets.key_lost", details, RESTORE));
        }
        KeyFacts::Absent => details.push_str("; a key is made when one is first kept"),
        KeyFacts::Held { home, change } => {
            details.push_str(&format!("; the key is in {home}"));
            if *change == KeyChange::Unfinished {
                let details = "a change of the key was begun and not finished; both keys are there";
                found.push(Finding::warning("secrets.change_unfinished", details, "toolroom secrets rotate"));
            }
        }
    }
    let Some(sealed) = sealed else {
        found.push(Finding::warning("secrets.unexamined", details, "toolroom doctor"));
        return Check::new("", found);
    };
    if sealed.other_key > 0 {
        let count = sealed.other_key;
        let details = format!("sealed with a key that is not here: {count} of {kept}");
        found.push(Finding::error("secrets.other_key", details, RESTORE));
    }
    for name in sealed.damaged.iter().take(LISTED) {
        let details = format!("`{name}` is damaged and does not open");
        found.push(Finding::error("secrets.damaged", details, format!("toolroom secrets set {name}")));
    }
    if let Some(first) = sealed.too_short.first() {
        let details = format!("too short to be hidden wherever it appears: {}", listed(&sealed.too_short));
        found.push(Finding::warning("secrets.too_short", details, format!("toolroom secrets set {first}")));
    }
    Check::new(details, found)
}

fn key_trouble(trouble: &KeyTrouble, cause: &str) -> Finding {
    match trouble {
        KeyTrouble::Readable(path) => {
            Finding::error("secrets.key_readable", cause, format!("chmod 600 {}", quoted(path)))
        }
        KeyTrouble::Missing(_) => Finding::error("secrets.key_lost", cause, RESTORE),
        KeyTrouble::File(path) => {
            Finding::error("secrets.key_unusable", cause, format!("ls -l {}", quoted(path)))
        }
        KeyTrouble::Variable(name) => Finding::error("secrets.key_unusable", cause, format!("unset {name}")),
        KeyTrouble::Other => Finding::error("secrets.key_unusable", cause, "toolroom doctor"),
    }
}

fn store(facts: &StoreFacts) -> Check {
    let mut found: Vec<Finding> = facts.unwritable.iter().map(|why| unwritable(why, facts)).collect();
    let database = facts.database.display();
    match &facts.state {
        StoreState::Absent => Check::new(format!("nothing was kept yet; it will be in `{database}`"), found),
        StoreState::Lost(cause) => {
            found.push(Finding::warning("store.lost", cause, RESTORE));
            Check::new("", found)
        }
        StoreState::Unusable(trouble, cause) => {
            found.push(store_trouble(*trouble, cause, &facts.database));
            Check::new("", found)
        }
        StoreState::Gone(vanished) => {
            let became = match vanished {
                Vanished::Deleted => "was deleted",
                Vanished::Replaced => "is another file now",
            };
            let details = format!("`{database}` {became}; what this process writes is lost when it ends");
            found.push(Finding::error("store.gone", details, "start this process again"));
            Check::new("", found)
        }
        StoreState::Open(open) => {
            let details = open_store(open, &facts.database, &mut found);
            let locked = open.locked.as_ref();
            found.extend(locked.map(|(trouble, cause)| store_trouble(*trouble, cause, &facts.database)));
            Check::new(details, found)
        }
    }
}

/// What there is to say about a database that can be read.
fn open_store(open: &OpenStore, path: &Path, found: &mut Vec<Finding>) -> String {
    let health = &open.health;
    let StoreHealth { schema, sqlite, sync_pure, sync_writes, .. } = health;
    let unchecked = match &open.damage {
        Damage::Found(lines) => {
            if !lines.is_empty() {
                let details = format!("`{}` is damaged: {}", path.display(), first_of(lines));
                found.push(Finding::error("store.damaged", details, RESTORE));
            }
            ""
        }
        Damage::TooLarge => "; not searched for damage, since it is large",
        Damage::NoTime => "; not searched for damage, since there was no time",
    };
    if health.journal_mode != "wal" {
        let details = format!("journaled as `{}`; the next command puts it right", health.journal_mode);
        found.push(Finding::warning("store.journal_mode", details, "toolroom log --limit 1"));
    }
    format!(
        "schema {schema}, {}, SQLite {sqlite}; reads are committed {sync_pure}, writes {sync_writes}{unchecked}",
        size(health.bytes.saturating_add(health.wal_bytes)),
    )
}

fn unwritable(why: &Unwritable, facts: &StoreFacts) -> Finding {
    let (folder, database) = (&facts.folder, &facts.database);
    match why {
        Unwritable::NoFolder => {
            let details = format!("`{}` cannot be made: there is a file in the way", folder.display());
            Finding::error("store.no_folder", details, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        Unwritable::NoDisk => {
            let details = format!("`{}` cannot be made: its file system keeps no files", folder.display());
            Finding::error("store.no_folder", details, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        Unwritable::Folder(cause) => {
            let details = format!("`{}` cannot be written to: {cause}", folder.display());
            Finding::error("store.read_only", details, format!("chmod u+rwx {}", quoted(folder)))
        }
        Unwritable::File(cause) => {
            let details = format!("`{}` cannot be written to: {cause}", database.display());
            Finding::error("store.read_only", details, format!("chmod u+rw {}", quoted(database)))
        }
    }
}

fn store_trouble(trouble: StoreTrouble, cause: &str, path: &Path) -> Finding {
    let file = quoted(path);
    match trouble {
        StoreTrouble::Locked => Finding::error("store.locked", cause, format!("fuser -v {file}")),
        StoreTrouble::ReadOnly => Finding::error("store.read_only", cause, format!("chmod u+rw {file}")),
        StoreTrouble::Full => Finding::error("store.full", cause, format!("df -h {file}")),
        StoreTrouble::Damaged => Finding::error("store.damaged", cause, RESTORE),
        StoreTrouble::Newer => Finding::error("store.newer", cause, "toolroom --version"),
        StoreTrouble::Older => Finding::warning("store.older", cause, "toolroom log --limit 1"),
        StoreTrouble::Foreign => Finding::error("store.foreign", cause, format!("mv {file} {file}.other")),
        StoreTrouble::NoSharedMemory => {
            Finding::error("store.no_shared_memory", cause, "export TOOLROOM_HOME=\"$HOME/.toolroom\"")
        }
        StoreTrouble::Slow => Finding::warning("store.slow", cause, "toolroom doctor"),
        StoreTrouble::Unreadable => Finding::error("store.unreadable", cause, format!("ls -l {file}")),
    }
}

fn instances(open: &OpenStore) -> Check {
    let others: Vec<_> = open.health.instances.iter().filter(|instance| !instance.is_this).collect();
    let dead = others.iter().filter(|instance| instance.is_alive == Some(false)).count();
    let mut found = Vec::new();
    if dead > 0 {
        let details = format!(
            "{} died in the middle of a call; the next command marks what it left as unknown",
            counted(dead, "process")
        );
        found.push(Finding::warning("instances.dead", details, "toolroom log --status unknown"));
    }
    let unknown = open.calls.iter().flatten().find(|(status, _)| *status == CallStatus::Unknown);
    if let Some((_, calls)) = unknown {
        let details = format!("nobody knows how {} ended; look whether it happened", counted(*calls, "call"));
        found.push(Finding::warning("instances.unknown_calls", details, "toolroom log --status unknown"));
    }
    let mut details = match others.len() - dead {
        0 => "no other process has calls open".to_owned(),
        living => format!("{} with calls open", counted(living, "other process")),
    };
    if open.calls.is_none() {
        details.push_str("; unknown calls were not counted, since there was no time");
    }
    Check::new(details, found)
}

fn approvals(open: &OpenStore) -> Check {
    let health = &open.health;
    let mut found = Vec::new();
    if health.overdue > 0 {
        let details =
            format!("{} out of time; the next command answers with no", counted(health.overdue, "question"));
        found.push(Finding::warning("approvals.overdue", details, "toolroom approvals"));
    }
    Check::new(format!("{} open", counted(health.open_questions, "question")), found)
}

fn disk(facts: &Result<DiskFacts, String>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(cause) => {
            let details = format!("how much room is left cannot be found out: {cause}");
            return one(Finding::error("disk.unreadable", details, "df -h"));
        }
    };
    let (free, total) = (facts.space.free_bytes, facts.space.total_bytes);
    if total == 0 {
        let details = "its file system does not say how much room there is";
        return one(Finding::warning("disk.unknown", details, "df -h"));
    }
    let mut details = format!("{} free of {}", size(free), size(total));
    if let Some(used) = facts.used {
        let least = if used.extent == Extent::Part { "at least " } else { "" };
        details.push_str(&format!("; data takes {least}{}", size(used.bytes)));
    }
    let found = match free {
        ..FULL_BYTES => {
            // Deleting calls needs room itself, for the log of what is deleted.
            let remedy = format!("delete other files on that disk, then: {PRUNE}");
            Some(Finding::error("disk.full", details.clone(), remedy))
        }
        FULL_BYTES..LOW_BYTES => Some(Finding::warning("disk.low", details.clone(), PRUNE)),
        LOW_BYTES.. => None,
    };
    Check::new(details, found.into_iter().collect())
}

/// How well programs can be confined here. Nothing is confined yet: this says what to expect.
fn sandbox(machine: &Machine) -> Check {
    let spaces = machine.user_namespaces == UserNamespaces::Possible;
    let mut parts = vec![match machine.landlock_abi {
        0 => "no Landlock".to_owned(),
        version => format!("Landlock {version}"),
    }];
    parts.push(if machine.seccomp { "seccomp" } else { "no seccomp" }.to_owned());
    parts.push(match machine.user_namespaces {
        UserNamespaces::Possible => "user namespaces".to_owned(),
        UserNamespaces::Absent => "no user namespaces".to_owned(),
        UserNamespaces::Forbidden { by } => format!("no user namespaces (`{by}`)"),
    });
    parts.push(if machine.bubblewrap.is_some() { "bubblewrap" } else { "no bubblewrap" }.to_owned());
    let parts = parts.join(", ");
    let landlock = machine.landlock_abi > 0 && machine.seccomp;
    let meaning = match (landlock, spaces) {
        (_, true) if landlock || machine.bubblewrap.is_some() => {
            "programs can be kept out of your folders and off the network"
        }
        (true, _) if machine.landlock_abi >= LANDLOCK_NETWORK => {
            "programs can be kept out of your folders and from making connections"
        }
        (true, _) => "programs can be kept out of your folders, not off the network",
        (false, _) => {
            let details = format!("programs that tools start cannot be confined here: {parts}");
            return one(Finding::warning("sandbox.none", details, sandbox_remedy(machine)));
        }
    };
    one(Finding::ok(format!("{meaning}: {parts}")))
}

fn sandbox_remedy(machine: &Machine) -> String {
    match machine.user_namespaces {
        UserNamespaces::Possible => "sudo apt-get install bubblewrap".to_owned(),
        UserNamespaces::Absent => "uname -r".to_owned(),
        UserNamespaces::Forbidden { by } => {
            // The one of AppArmor says what is restricted, the others what is allowed.
            let value = if by.contains("restrict") { 0 } else { 10_000 };
            format!("echo {value} | sudo tee {by}")
        }
    }
}

fn clock(machine: &Machine, newest_at: Option<Timestamp>, now: Timestamp) -> Check {
    let mut found = Vec::new();
    if !YEARS.contains(&machine.year) {
        let details = format!("the clock says it is the year {}", machine.year);
        found.push(Finding::error("clock.year", details, SET_CLOCK));
    }
    let ahead = newest_at.map(|newest| newest.since(now));
    if let Some(ahead) = ahead.filter(|ahead| *ahead > CLOCK_SLACK) {
        let details = format!("the clock is {} s behind the newest call of the journal", ahead.as_secs());
        found.push(Finding::warning("clock.behind", details, SET_CLOCK));
    }
    if !machine.core_dumps_off {
        let details = "a crash would leave the memory of this process, with its secrets, in a file";
        found.push(Finding::warning("clock.core_dumps", details, "ulimit -c 0"));
    }
    Check::new("the clock is right as far as can be seen; core dumps are off", found)
}

pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}

fn first_of(lines: &[String]) -> String {
    let first = lines.first().map(String::as_str).unwrap_or_default();
    match lines.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} (and {} more)", count - 1),
    }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Coarse, so that two looks one after the other say the same.
fn size(bytes: u64) -> String {
    match bytes {
        ..MB => "less than 1 MB".to_owned(),
        MB..GB => format!("{} MB", bytes / MB),
        GB.. => format!("{}.{} GB", bytes / GB, bytes % GB / (100 * MB)),
    }
}

/// A path as one word of a shell.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
