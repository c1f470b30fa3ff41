//! Every fault as a value: its code, its severity, and that it has a remedy.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom::ledger::CallStatus;
use toolroom_host::control_group::ControlGroup;
use toolroom_host::machine::{DiskSpace, Extent, Machine, TreeSize, UserNamespaces};
use toolroom_host::sandbox::Level;
use toolroom_store::{ConversationCounts, InstanceStatus, StoreHealth};
use toolroom_tools::builtin::doctor::{Report, Severity};

use super::clock::CLOCK_SLACK;
use super::config::{ConfigFacts, ConfigTrouble, ConfigWarning, ProjectFacts, WarningSubject};
use super::disk::{DiskFacts, FULL_BYTES, LOW_BYTES};
use super::files::{FolderFacts, FolderState, FolderTrouble};
use super::models::ModelFacts;
use super::policy::{AnswerFacts, PolicyFacts};
use super::sandbox::SandboxFacts;
use super::secrets::{KeyChange, KeyFacts, KeyTrouble, SealedFacts};
use super::servers::{ServerFacts, ServerState};
use super::store::{Damage, FileChange, OpenStore, StoreFacts, StoreState, StoreTrouble, Unwritable};
use super::{GB, MB, report, size};
use crate::doctor::gather::Facts;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn folder(path: &str, state: FolderState) -> FolderFacts {
    FolderFacts { path: path.into(), state }
}

/// An installation that is in order.
fn sound() -> Facts {
    Facts {
        at: NOW,
        config: Ok(ConfigFacts::default()),
        policy: Some(Ok(PolicyFacts::default())),
        models: Some(ModelFacts {
            asked: vec!["lab/m".to_owned()],
            window: Some(32_000),
            troubles: Vec::new(),
        }),
        files: Some(Ok(vec![folder("/data/workspace", FolderState::Open)])),
        answers: Some(AnswerFacts::default()),
        store: Some(StoreFacts {
            folder: "/data".into(),
            database: "/data/toolroom.db".into(),
            unwritable: None,
            state: StoreState::Open(Box::new(OpenStore {
                health: StoreHealth {
                    journal_mode: "wal".to_owned(),
                    sync_pure: "NORMAL",
                    sync_writes: "FULL",
                    schema: 4,
                    bytes: 120_000,
                    wal_bytes: 0,
                    newest_at: Some(NOW),
                    open_questions: 0,
                    overdue: 0,
                    instances: Vec::new(),
                    sqlite: "3.50.0".to_owned(),
                },
                locked: None,
                calls: Some(vec![(CallStatus::Done, 3)]),
                counts: Some(ConversationCounts { conversations: 2, memories: 1 }),
                damage: Damage::Found(Vec::new()),
            })),
        }),
        key: KeyFacts::Held { home: "`/data/master.key`".to_owned(), change: KeyChange::None },
        sealed: Some(SealedFacts { secrets: 2, ..SealedFacts::default() }),
        disk: Some(Ok(DiskFacts {
            space: DiskSpace { free_bytes: 100 * GB, total_bytes: 200 * GB },
            used: Some(TreeSize { bytes: 120_000, entries: 2, extent: Extent::Whole }),
        })),
        machine: Ok(Machine {
            kernel: "6.12.3".to_owned(),
            landlock_abi: 6,
            seccomp: true,
            user_namespaces: UserNamespaces::Possible,
            bubblewrap: None,
            control_group: ControlGroup::NotDelegated,
            year: 2027,
            core_dumps_off: true,
        }),
        servers: Some(Ok(Vec::new())),
        sandbox: Ok(SandboxFacts { level: Level::Namespaces, shortfall: None, gaps: Vec::new() }),
    }
}

fn state(facts: &mut Facts) -> &mut StoreState {
    &mut facts.store.as_mut().unwrap().state
}

fn open(facts: &mut Facts) -> &mut OpenStore {
    match state(facts) {
        StoreState::Open(open) => open,
        other => panic!("{other:?}"),
    }
}

fn health_of(facts: &mut Facts) -> &mut StoreHealth {
    &mut open(facts).health
}

fn machine(facts: &mut Facts) -> &mut Machine {
    facts.machine.as_mut().unwrap()
}

fn sealed(facts: &mut Facts) -> &mut SealedFacts {
    facts.sealed.as_mut().unwrap()
}

fn free(facts: &mut Facts, bytes: u64) {
    facts.disk.as_mut().unwrap().as_mut().unwrap().space.free_bytes = bytes;
}

fn instance(is_this: bool, is_alive: Option<bool>) -> InstanceStatus {
    let (machine, process) = ("here".to_owned(), "1 1".to_owned());
    InstanceStatus { machine, process, heartbeat_at: NOW, is_this, is_alive }
}

/// Code and severity of every finding.
fn wrong(facts: &Facts) -> BTreeSet<(&'static str, Severity)> {
    let report = report(facts);
    let findings = report.checks.iter().flat_map(|(_, check)| check.findings());
    findings.filter_map(|finding| Some((finding.code?, finding.severity))).collect()
}

#[test]
fn a_sound_installation_passes_all_checks() {
    let report = report(&sound());
    assert_eq!((report.health(), report.warnings), ("healthy", Vec::new()));
    let names: Vec<&str> = report.checks.iter().map(|(name, _)| *name).collect();
    let seven = ["config", "memory", "context", "provider", "rag", "sessions", "disk"];
    assert_eq!(names[..7], seven);
    assert_eq!(
        names[7..],
        ["policy", "files", "secrets", "store", "instances", "approvals", "servers", "sandbox", "clock"]
    );
    for (name, check) in &report.checks {
        assert!(!check.worst.details.is_empty(), "{name}");
    }
}

#[test]
fn an_unused_installation_is_healthy() {
    let mut facts = sound();
    *state(&mut facts) = StoreState::Absent;
    (facts.key, facts.sealed) = (KeyFacts::Absent, Some(SealedFacts::default()));
    assert_eq!(wrong(&facts), BTreeSet::new());
}

/// Breaks sound facts in one way; exactly this finding must follow.
#[track_caller]
fn check(severity: Severity, code: &'static str, spoil: impl FnOnce(&mut Facts)) -> Report {
    let mut facts = sound();
    spoil(&mut facts);
    assert_eq!(wrong(&facts), BTreeSet::from([(code, severity)]));
    let report = report(&facts);
    assert_eq!((report.status, report.warnings.is_empty()), (severity, false), "{code}");
    let (name, check) = report.checks.iter().find(|(_, check)| check.worst.code == Some(code)).unwrap();
    assert!(code.starts_with(&format!("{name}.")), "{code} is reported by {name}");
    assert!(!check.worst.details.is_empty());
    assert!(!check.worst.remedy.as_deref().unwrap_or_default().is_empty(), "{code} has no remedy");
    report
}

#[test]
fn faults_of_configuration_and_policy() {
    use Severity::{Error, Warning};
    let lines = || vec!["toolroom.toml:3: `polcy` is no key".to_owned(), "another".to_owned()];
    let odd = |about: WarningSubject| ConfigWarning { text: "odd".to_owned(), about };
    check(Warning, "config.odd", |facts| {
        facts.config.as_mut().unwrap().warnings =
            vec![odd(WarningSubject::Variable("TOOLROOM_X".to_owned()))];
    });
    for about in [WarningSubject::Settings, WarningSubject::Agent("cook".to_owned())] {
        check(Warning, "config.odd", |facts| facts.config.as_mut().unwrap().warnings = vec![odd(about)]);
    }
    check(Warning, "config.untrusted", |facts| {
        facts.config.as_mut().unwrap().project = Some(ProjectFacts { path: "/p".into(), ignored: 2 });
    });
    let invalid = check(Error, "policy.invalid", |facts| facts.policy = Some(Err(lines())));
    assert_eq!(invalid.warnings, ["policy: toolroom.toml:3: `polcy` is no key (and 1 more)"]);
    check(Warning, "policy.unreadable_answer", |facts| {
        facts.answers = Some(AnswerFacts { count: 2, unreadable: vec!["ans_1".to_owned()] });
    });
    for (trouble, code) in [
        (ConfigTrouble::Invalid(lines()), "config.invalid"),
        (ConfigTrouble::Unreadable("no".to_owned()), "config.unreadable"),
    ] {
        let mut facts = sound();
        (facts.config, facts.policy) = (Err(trouble), None);
        assert_eq!(wrong(&facts), [(code, Error), ("policy.unexamined", Warning)].into());
    }
}

#[test]
fn without_a_home_folder_nothing_else_is_examined() {
    let mut facts = sound();
    facts.config = Err(ConfigTrouble::NoHome("no home".to_owned()));
    (facts.policy, facts.answers, facts.store, facts.disk) = (None, None, None, None);
    (facts.key, facts.sealed, facts.files, facts.servers) = (KeyFacts::Nowhere, None, None, None);
    let parts = ["approvals", "disk", "files", "instances", "policy", "secrets", "servers", "store"];
    let codes: Vec<String> = wrong(&facts).iter().map(|(code, _)| (*code).to_owned()).collect();
    let unexamined = parts.map(|part| format!("{part}.unexamined"));
    let mut expected = vec!["config.no_home".to_owned()];
    expected.extend(unexamined);
    expected.sort();
    assert_eq!(codes, expected);
}

#[test]
fn faults_of_the_database() {
    use Severity::{Error, Warning};
    let unwritable =
        |why: Unwritable| move |facts: &mut Facts| facts.store.as_mut().unwrap().unwritable = Some(why);
    check(Error, "store.no_folder", unwritable(Unwritable::NoFolder));
    check(Error, "store.read_only", unwritable(Unwritable::Folder("no".to_owned())));
    check(Error, "store.read_only", unwritable(Unwritable::File("no".to_owned())));
    check(Warning, "store.journal_mode", |facts| health_of(facts).journal_mode = "delete".to_owned());
    check(Error, "store.damaged", |facts| {
        open(facts).damage = Damage::Found(vec!["page 7 is missing".to_owned()]);
    });
    check(Error, "store.locked", |facts| {
        open(facts).locked = Some((StoreTrouble::Locked, "held".to_owned()));
    });
    for unchecked in [Damage::TooLarge, Damage::TimedOut] {
        let mut facts = sound();
        open(&mut facts).damage = unchecked;
        let report = report(&facts);
        let (_, check) = report.checks.iter().find(|(name, _)| *name == "store").unwrap();
        assert!(check.worst.details.contains("not searched for damage"), "{check:?}");
        assert_eq!(report.status, Severity::Ok, "a large database is no fault");
    }
}

#[test]
fn a_missing_database_next_to_its_key_is_reported_once() {
    let lost = |facts: &mut Facts| *state(facts) = StoreState::Lost("there is none".to_owned());
    check(Severity::Warning, "store.lost", lost);
}

#[test]
fn an_unreadable_database_is_reported_once_and_dependent_checks_are_skipped() {
    use Severity::{Error, Warning};
    let states = [
        (StoreState::Gone(FileChange::Deleted), "store.gone", Error),
        (StoreState::Gone(FileChange::Replaced), "store.gone", Error),
    ];
    let troubles = [
        (StoreTrouble::Locked, "store.locked", Error),
        (StoreTrouble::ReadOnly, "store.read_only", Error),
        (StoreTrouble::Full, "store.full", Error),
        (StoreTrouble::Damaged, "store.damaged", Error),
        (StoreTrouble::Newer, "store.newer", Error),
        (StoreTrouble::Older, "store.older", Warning),
        (StoreTrouble::Foreign, "store.foreign", Error),
        (StoreTrouble::NoSharedMemory, "store.no_shared_memory", Error),
        (StoreTrouble::Slow, "store.slow", Warning),
        (StoreTrouble::Unreadable, "store.unreadable", Error),
    ];
    let troubles = troubles
        .map(|(trouble, code, severity)| (StoreState::Unusable(trouble, "said".to_owned()), code, severity));
    for (found, code, severity) in states.into_iter().chain(troubles) {
        let mut facts = sound();
        *state(&mut facts) = found;
        (facts.answers, facts.sealed, facts.servers) = (None, None, None);
        let expected = [
            (code, severity),
            ("policy.answers_unexamined", Warning),
            ("secrets.unexamined", Warning),
            ("instances.unexamined", Warning),
            ("approvals.unexamined", Warning),
            ("servers.unexamined", Warning),
        ];
        assert_eq!(wrong(&facts), expected.into());
        assert_eq!(report(&facts).status, severity);
    }
}

#[test]
fn faults_of_keys_and_secrets() {
    use Severity::{Error, Warning};
    let key = |trouble: KeyTrouble| {
        move |facts: &mut Facts| facts.key = KeyFacts::Unusable(trouble, "said".to_owned())
    };
    let file = || PathBuf::from("/it's/master.key");
    let readable = check(Error, "secrets.key_readable", key(KeyTrouble::Readable(file())));
    let remedy = |report: &Report, part: &str| {
        let check = report.checks.iter().find(|(name, _)| *name == part);
        check.and_then(|(_, check)| check.worst.remedy.clone()).unwrap()
    };
    assert_eq!(remedy(&readable, "secrets"), "chmod 600 '/it'\\''s/master.key'");
    check(Error, "secrets.key_lost", key(KeyTrouble::Missing(file())));
    check(Error, "secrets.key_unusable", key(KeyTrouble::File(file())));
    check(Error, "secrets.key_unusable", key(KeyTrouble::Variable("TOOLROOM_MASTER_KEY")));
    check(Error, "secrets.key_unusable", key(KeyTrouble::Other));
    check(Error, "secrets.key_lost", |facts| facts.key = KeyFacts::Absent);
    check(Error, "secrets.key_lost", |facts| {
        (facts.key, *sealed(facts)) =
            (KeyFacts::Absent, SealedFacts { requests: 1, ..SealedFacts::default() });
    });
    check(Warning, "secrets.change_unfinished", |facts| {
        facts.key = KeyFacts::Held { home: "a file".to_owned(), change: KeyChange::Unfinished };
    });
    check(Error, "secrets.other_key", |facts| sealed(facts).other_key = 1);
    check(Error, "secrets.damaged", |facts| sealed(facts).damaged = vec!["A".to_owned()]);
    let names: Vec<String> = (0..7).map(|n| format!("S{n}")).collect();
    let short = check(Warning, "secrets.too_short", |facts| sealed(facts).too_short = names);
    assert!(short.warnings[0].ends_with("`S0`, `S1`, `S2`, `S3`, `S4` and 2 more"), "{short:?}");
    assert_eq!(remedy(&short, "secrets"), "toolroom secrets set S0");
}

#[test]
fn faults_of_servers() {
    use Severity::{Error, Warning};
    let server = |state: ServerState, in_review: usize| ServerFacts {
        name: "a".to_owned(),
        state,
        in_review,
        is_confined: true,
    };
    let only = |server: ServerFacts| move |facts: &mut Facts| facts.servers = Some(Ok(vec![server]));
    check(Error, "servers.unreadable", |facts| facts.servers = Some(Err("no".to_owned())));
    check(Warning, "servers.entry_unreadable", only(server(ServerState::Unreadable, 0)));
    check(Warning, "servers.failing", only(server(ServerState::FailedLast, 0)));
    check(Warning, "servers.given_up", only(server(ServerState::GivenUp, 0)));
    check(Warning, "servers.no_program", only(server(ServerState::NoProgram, 0)));
    check(Warning, "servers.review", only(server(ServerState::Ok, 2)));
    let mut facts = sound();
    // A disabled server causes no warning.
    for harmless in [server(ServerState::Disabled, 1), server(ServerState::Ok, 0)] {
        only(harmless)(&mut facts);
        assert_eq!(wrong(&facts), BTreeSet::new());
    }
    facts.sandbox = Err("none".to_owned());
    assert_eq!(wrong(&facts), [("sandbox.none", Warning), ("servers.no_sandbox", Warning)].into());
    only(ServerFacts { is_confined: false, ..server(ServerState::Ok, 0) })(&mut facts);
    assert_eq!(wrong(&facts), [("sandbox.none", Warning)].into());
}

#[test]
fn faults_of_processes_and_questions() {
    use Severity::Warning;
    check(Warning, "instances.dead", |facts| {
        health_of(facts).instances = vec![instance(false, Some(false)), instance(false, Some(true))];
    });
    check(Warning, "instances.unknown_calls", |facts| {
        open(facts).calls = Some(vec![(CallStatus::Done, 3), (CallStatus::Unknown, 2)]);
    });
    check(Warning, "approvals.overdue", |facts| health_of(facts).overdue = 1);
    let details = |spoil: fn(&mut Facts), part: &str| {
        let mut facts = sound();
        spoil(&mut facts);
        let report = report(&facts);
        let (_, check) = report.checks.into_iter().find(|(name, _)| *name == part).unwrap();
        assert_eq!(check.worst.severity, Severity::Ok);
        check.worst.details
    };
    let living = |facts: &mut Facts| {
        let others = [instance(true, Some(true)), instance(false, Some(true)), instance(false, None)];
        health_of(facts).instances = others.to_vec();
    };
    assert_eq!(details(living, "instances"), "2 other processes with calls open");
    let ours = |facts: &mut Facts| health_of(facts).instances = vec![instance(true, Some(true))];
    assert_eq!(details(ours, "instances"), "no other process has calls open");
    let uncounted = details(|facts| open(facts).calls = None, "instances");
    assert!(uncounted.ends_with("unknown calls were not counted: timed out"), "{uncounted}");
    assert_eq!(details(|facts| health_of(facts).open_questions = 1, "approvals"), "1 question open");
}

#[test]
fn faults_of_open_folders() {
    use Severity::{Error, Warning};
    for (trouble, code) in [
        (FolderTrouble::Missing, "files.missing"),
        (FolderTrouble::NotAFolder, "files.not_a_folder"),
        (FolderTrouble::Refused, "files.refused"),
        (FolderTrouble::Unwritable, "files.read_only"),
        (FolderTrouble::Unreadable, "files.unreadable"),
    ] {
        let closed = || folder("/x", FolderState::Closed(trouble, "no".to_owned()));
        check(Error, code, |facts| facts.files = Some(Ok(vec![closed()])));
        let further = vec![folder("/w", FolderState::NotMade), closed()];
        check(Warning, code, |facts| facts.files = Some(Ok(further)));
    }
    check(Error, "files.unreadable", |facts| facts.files = Some(Err("no".to_owned())));
    check(Warning, "files.unexamined", |facts| facts.files = None);
    let mut facts = sound();
    let opened = folder("/x", FolderState::Open);
    facts.files = Some(Ok(vec![folder("/w", FolderState::NotMade), opened]));
    let report = report(&facts);
    let (_, files) = report.checks.iter().find(|(name, _)| *name == "files").unwrap();
    let expected = "workspace `/w`; created on first use; 1 other folder opened";
    assert_eq!((files.worst.details.as_str(), report.status), (expected, Severity::Ok));
}

#[test]
fn faults_of_the_disk() {
    use Severity::{Error, Warning};
    check(Warning, "disk.low", |facts| free(facts, LOW_BYTES - 1));
    check(Warning, "disk.low", |facts| free(facts, FULL_BYTES));
    let full = check(Error, "disk.full", |facts| free(facts, FULL_BYTES - 1));
    let (_, disk) = full.checks.iter().find(|(name, _)| *name == "disk").unwrap();
    let remedy = disk.worst.remedy.as_deref().unwrap();
    assert!(remedy.starts_with("delete other files on that disk, then: toolroom log prune"), "{remedy}");
    check(Error, "disk.unreadable", |facts| facts.disk = Some(Err("no".to_owned())));
    let mut facts = sound();
    free(&mut facts, LOW_BYTES);
    assert_eq!(report(&facts).status, Severity::Ok);
    for (bytes, text) in
        [(0, "less than 1 MB"), (MB, "1 MB"), (GB - 1, "999 MB"), (GB, "1.0 GB"), (12_340 * MB, "12.3 GB")]
    {
        assert_eq!(size(bytes), text);
    }
}

#[test]
fn faults_of_the_machine_and_its_clock() {
    use Severity::{Error, Warning};
    check(Error, "clock.year", |facts| machine(facts).year = 1970);
    check(Error, "clock.year", |facts| machine(facts).year = 2999);
    check(Warning, "clock.core_dumps", |facts| machine(facts).core_dumps_off = false);
    let beyond = CLOCK_SLACK + Duration::from_micros(1);
    check(Warning, "clock.behind", |facts| health_of(facts).newest_at = Some(NOW.after(beyond)));
    let mut facts = sound();
    health_of(&mut facts).newest_at = Some(NOW.after(CLOCK_SLACK));
    assert_eq!(report(&facts).status, Severity::Ok, "clocks may differ a little");
    facts.machine = Err("no".to_owned());
    assert_eq!(wrong(&facts), [("sandbox.unreadable", Error), ("clock.unreadable", Error)].into());
}

#[test]
fn the_sandbox_check_explains_the_level() {
    let check = |facts: &Facts| {
        let report = report(facts);
        let (_, check) = report.checks.into_iter().find(|(name, _)| *name == "sandbox").unwrap();
        check.worst
    };
    let mut facts = sound();
    for (level, says) in
        [(Level::Namespaces, "their own, and no network"), (Level::Landlock, "their folder only")]
    {
        let shortfall = (level == Level::Landlock).then(|| "bubblewrap is not installed".to_owned());
        facts.sandbox =
            Ok(SandboxFacts { level, shortfall: shortfall.clone(), gaps: vec!["others can be seen"] });
        let found = check(&facts);
        assert!(found.severity == Severity::Ok && found.details.contains(says), "{says}: {found:?}");
        assert!(found.details.contains("others can be seen"), "{found:?}");
        assert!(found.details.contains("the cgroup v2 here is not delegated to us"), "{found:?}");
        assert_eq!(found.details.contains("is not installed"), shortfall.is_some(), "{found:?}");
    }
    let none = |user_namespaces| {
        let mut facts = sound();
        machine(&mut facts).user_namespaces = user_namespaces;
        facts.sandbox = Err("it did not work".to_owned());
        check(&facts)
    };
    let forbidden = |by| UserNamespaces::Forbidden { by };
    for (found, remedy) in [
        (none(UserNamespaces::Possible), "sudo apt-get install bubblewrap"),
        (none(UserNamespaces::Absent), "uname -r"),
        (none(forbidden("/proc/sys/x_restrict")), "echo 0 | sudo tee /proc/sys/x_restrict"),
        (none(forbidden("/proc/sys/max")), "echo 10000 | sudo tee /proc/sys/max"),
    ] {
        let actual = (found.code, found.severity, found.remedy.as_deref());
        assert_eq!(actual, (Some("sandbox.none"), Severity::Warning, Some(remedy)));
        assert!(found.details.contains("it did not work"), "{found:?}");
    }
}

#[test]
fn models_and_stored_conversations_are_described() {
    let details = |facts: &Facts, name: &str| {
        let report = report(facts);
        let check = report.checks.iter().find(|(other, _)| *other == name).unwrap();
        check.1.worst.details.clone()
    };
    let mut facts = sound();
    assert_eq!(details(&facts, "provider"), "default: `lab/m`");
    assert!(details(&facts, "context").starts_with("window of 32000 tokens"));
    assert_eq!(
        (details(&facts, "memory"), details(&facts, "sessions")),
        ("1 memory".into(), "2 conversations".into())
    );
    open(&mut facts).counts = None;
    assert!(details(&facts, "memory").contains("timed out"));
    facts.models = Some(ModelFacts::default());
    *state(&mut facts) = StoreState::Absent;
    for name in ["provider", "context", "memory", "sessions"] {
        assert_eq!(details(&facts, name), "not configured", "{name}");
    }
    facts.models.as_mut().unwrap().troubles = vec![("lab/m".to_owned(), "LAB_KEY is not set".to_owned())];
    assert_eq!(wrong(&facts), [("provider.not_set_up", Severity::Warning)].into());
    facts.models = None;
    assert_eq!(details(&facts, "provider"), "not examined, see `config`");
}
