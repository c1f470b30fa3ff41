//! Credentials and start files in the folders of a program: what is read, changed and made, on both levels, started by root
//! and by an ordinary user. Programs run in a process of their own, whose `HOME` a test can choose.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;
use toolroom_host::sandbox::{Level, is_unconfirmed};
use toolroom_host::shell::{Command as ShellCommand, Interpreter, Shells};

use super::world::{is_root, own, write};
use crate::process::bench::{Bench, NAMESPACES};
use crate::process::{BOUND, helper, until};

const CANARY: &str = "canary-51d0";

/// An ordinary user that no folder here belongs to before it is given to it.
const USER: u32 = 1_234;

/// Who starts programs, and on which level.
#[derive(Debug, Clone, Copy)]
struct Case {
    level: Level,
    by_root: bool,
}

fn cases() -> Vec<Case> {
    let starters = if is_root() { &[true, false][..] } else { &[false] };
    let levels = [Level::Namespaces, Level::Landlock];
    levels
        .into_iter()
        .flat_map(|level| starters.iter().map(move |by_root| Case { level, by_root: *by_root }))
        .collect()
}

fn namespaces() -> Vec<Case> {
    cases().into_iter().filter(|case| case.level == Level::Namespaces).collect()
}

/// A folder of the user that programs run as, and a copy of the helper that all users can start.
struct Place {
    here: TempDir,
    programs: TempDir,
    case: Case,
}

impl Place {
    fn new(case: Case, files: &[&str]) -> Self {
        let place = Self { here: TempDir::new().unwrap(), programs: TempDir::new().unwrap(), case };
        std::fs::copy(helper(), place.programs.path().join("supervised")).unwrap();
        std::fs::set_permissions(place.programs.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for file in files {
            place.put(file);
        }
        place.give();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.here.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, file: &str) {
        std::fs::create_dir_all(self.at(file).parent().unwrap()).unwrap();
        write(&self.at(file), CANARY, 0o644);
    }

    fn give(&self) {
        if self.case.by_root {
            own(self.here.path());
        } else if is_root() {
            give_all(self.here.path());
        }
    }

    fn command(&self, script: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(self.programs.path().join("supervised"));
        command.arg(self.here.path()).args(["bash", "-c", script]).envs(variables.iter().copied());
        command.env("CONFINED", self.case.level.name()).stdin(Stdio::null());
        if is_root() && !self.case.by_root {
            command.uid(USER).gid(USER);
        }
        command
    }

    /// Runs a script and gives all that was told of it.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> String {
        let output = self.command(script, variables).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// Files that hold the word, by their names, but for what was set aside.
    fn holding(&self, word: &str) -> Vec<PathBuf> {
        let mut open = vec![self.here.path().to_owned()];
        let mut found = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let is_aside = path.file_name().unwrap().to_string_lossy().starts_with("set-aside-");
                if path.is_dir() && !path.is_symlink() && !is_aside {
                    open.push(path);
                } else if std::fs::read_to_string(&path).is_ok_and(|text| text.contains(word)) && !is_aside {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn give_all(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| give_all(&entry.unwrap().path()));
    }
}

#[test]
fn a_program_in_a_home_makes_no_configuration_of_ours() {
    let ways = [
        "mkdir -p .config/toolroom; echo evil > .config/toolroom/toolroom.toml",
        "mkdir -p x/toolroom; echo evil > x/toolroom/toolroom.toml; mv .config old; mv x .config",
        "echo evil > toolroom.toml; mkdir -p .config; rm -rf .config/toolroom; ln -s .. .config/toolroom",
        "mkdir -p .config; mv .config old; cp -r old .config; mkdir -p .config/toolroom; echo evil > .config/toolroom/toolroom.toml",
    ];
    for case in cases() {
        for way in ways {
            for is_set in [true, false] {
                let place = Place::new(case, &[]);
                let (home, own) = (place.at(""), place.at(".config/toolroom"));
                // Where variables lead elsewhere, another process may look in the home all the same.
                let own = if is_set { own } else { PathBuf::from("/nowhere/toolroom") };
                let variables = [("HOME", home.to_str().unwrap()), ("OWN", own.to_str().unwrap())];
                let told = place.run(way, &variables);
                let made = place.at(".config/toolroom/toolroom.toml");
                assert!(!made.exists() && !is_unconfirmed(&made), "{case:?} {way}: {told}");
                let is_refused = told.contains("HoldsHome");
                assert_eq!(is_refused, case.level == Level::Landlock, "{case:?} {way}: {told}");
            }
        }
    }
}

#[test]
fn landlock_alone_starts_nothing_around_our_own_folders_or_a_home() {
    for case in cases().into_iter().filter(|case| case.level == Level::Landlock) {
        let place = Place::new(case, &[]);
        let own = place.at("data/toolroom");
        let told = place.run("echo x > ran", &[("HOME", "/nowhere"), ("OWN", own.to_str().unwrap())]);
        assert!(told.contains("CannotExcept") && !place.at("ran").exists(), "{case:?}: {told}");
        let home = place.at("ann");
        let told = place.run("echo x > ran", &[("HOME", home.to_str().unwrap())]);
        assert!(told.contains("HoldsHome") && !place.at("ran").exists(), "{case:?}: {told}");
        let told = place.run("echo x > ran", &[("HOME", "/nowhere")]);
        assert!(told.contains("Exited(0), Itself") && place.at("ran").exists(), "{case:?}: {told}");
    }
}

#[test]
fn a_link_of_ours_leads_to_nothing_that_a_program_could_make() {
    for case in namespaces() {
        let place = Place::new(case, &["mine.toml"]);
        let ours = TempDir::new().unwrap();
        std::fs::set_permissions(ours.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let link = |to: &str| {
            drop(std::fs::remove_file(ours.path().join("toolroom.toml")));
            std::os::unix::fs::symlink(place.at(to), ours.path().join("toolroom.toml")).unwrap();
        };
        let variables = [("HOME", "/nowhere"), ("OWN", ours.path().to_str().unwrap())];
        link("mine.toml");
        place.run("echo evil > mine.toml; rm -f mine.toml; echo evil > mine.toml", &variables);
        assert_eq!(std::fs::read_to_string(place.at("mine.toml")).unwrap(), CANARY, "{case:?}");
        link("none.toml");
        let told = place.run("echo evil > none.toml", &variables);
        assert!(told.contains("OwnIsMissing") && !place.at("none.toml").exists(), "{case:?}: {told}");
    }
}

#[test]
fn what_is_missing_is_not_made() {
    let names = [
        ".ssh/authorized_keys",
        ".ssh/config",
        ".aws/config",
        ".kube/config",
        ".docker/config.json",
        ".gnupg/gpg-agent.conf",
        ".netrc",
        ".npmrc",
        ".claude/settings.json",
        ".cursor/mcp.json",
        ".config/goose/config.yaml",
        ".devcontainer/devcontainer.json",
        ".envrc",
        ".cargo/config.toml",
        ".local/bin/ls",
        ".vscode/launch.json",
        ".idea/workspace.xml",
        ".config/toolroom/toolroom.toml",
        ".bash_profile",
    ];
    for case in cases() {
        for name in names {
            let place = Place::new(case, &["a.txt"]);
            let folder = Path::new(name).parent().unwrap().display().to_string();
            let script = format!("mkdir -p ./{folder}; echo evil > {name}");
            let told = place.run(&script, &[("HOME", "/nowhere")]);
            assert_eq!(place.holding("evil"), Vec::<PathBuf>::new(), "{case:?} {name}: {told}");
        }
        let place = Place::new(case, &[]);
        let told = place
            .run("echo made > .env; mkdir .docker; echo made > .docker/Dockerfile", &[("HOME", "/nowhere")]);
        assert!(told.contains("Exited(0), Itself") && place.holding("made").len() == 2, "{case:?}: {told}");
    }
}

#[test]
fn start_files_below_the_top_folder_are_not_changed() {
    let files =
        ["sub/.vscode/tasks.json", "sub/deep/.claude/settings.json", "sub/.envrc", "tools/opencode.json"];
    let ways = [
        "for file in $FILES; do echo evil > $file; done",
        "for file in $FILES; do rm -f $file; echo evil > $file; done",
        "mv sub old; mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json; mv sub/.envrc x; echo evil > sub/.envrc",
    ];
    for case in cases() {
        for way in ways {
            let place = Place::new(case, &files);
            std::os::unix::fs::symlink("tools/rc", place.at(".zshrc")).unwrap();
            place.put("tools/rc");
            place.give();
            let way = way.replace("$FILES", &format!("{} tools/rc", files.join(" ")));
            let told = place.run(&way, &[("HOME", "/nowhere")]);
            for file in files.into_iter().chain(["tools/rc"]) {
                let text = std::fs::read_to_string(place.at(file)).unwrap_or_default();
                assert_eq!(text, CANARY, "{case:?} {way} {file}: {told}");
            }
        }
    }
}

#[test]
fn more_start_files_than_are_covered_are_not_changed() {
    let files: Vec<String> = (0..150).map(|number| format!("{number}/.envrc")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for case in cases() {
        let place = Place::new(case, &files);
        let told = place.run("for file in */.envrc; do echo evil > $file; done", &[("HOME", "/nowhere")]);
        assert_eq!(place.holding("evil"), Vec::<PathBuf>::new(), "{case:?}: {told}");
        let told = place.run("echo x > file", &[("HOME", "/nowhere")]);
        assert!(told.contains("Exited(0), Itself"), "{case:?}: {told}");
    }
}

#[test]
fn start_files_behind_links_are_not_changed() {
    let ways = [
        "echo evil > .config/fish/config.fish",
        "echo evil > dotfiles/fish/config.fish",
        "mkdir dotfiles/nvim; echo evil > .config/nvim/init.lua",
        "rm .config; mkdir -p .config/fish; echo evil > .config/fish/config.fish",
        "echo evil > none",
        "rm .zshrc; echo evil > .zshrc",
        "mv dotfiles old; mkdir -p dotfiles/fish; echo evil > dotfiles/fish/config.fish",
    ];
    for case in cases() {
        for way in ways {
            let place = Place::new(case, &["dotfiles/fish/config.fish"]);
            std::os::unix::fs::symlink("dotfiles", place.at(".config")).unwrap();
            std::os::unix::fs::symlink("none", place.at(".zshrc")).unwrap();
            let told = place.run("echo x > file", &[("HOME", "/nowhere")]);
            assert!(told.contains("Exited(0), Itself"), "{case:?}: {told}");
            let told = place.run(way, &[("HOME", "/nowhere")]);
            let text = std::fs::read_to_string(place.at(".config/fish/config.fish")).unwrap_or_default();
            let is_run = place.at(".zshrc").exists() || place.at(".config/nvim").exists();
            assert!(text == CANARY && !is_run, "{case:?} {way}: {told}");
            assert!(
                place.at(".config").is_symlink() && place.at(".zshrc").is_symlink(),
                "{case:?} {way}: {told}"
            );
        }
    }
}

#[test]
fn many_credentials_keep_no_start_file_from_being_found() {
    let files: Vec<String> = (0..300).map(|number| format!("{number}/.env")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).chain(["a/b/c/.envrc"]).collect();
    for case in cases() {
        let place = Place::new(case, &files);
        let told = place.run("echo evil > a/b/c/.envrc", &[("HOME", "/nowhere")]);
        assert_eq!(place.holding("evil"), Vec::<PathBuf>::new(), "{case:?}: {told}");
        assert_eq!(told.contains("TooMuch"), case.level == Level::Namespaces, "{case:?}: {told}");
    }
}

#[test]
fn a_folder_with_more_start_files_than_can_be_watched_is_refused() {
    let files: Vec<String> = (0..600).map(|number| format!("{number}/.envrc")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for case in cases() {
        let place = Place::new(case, &files);
        let told = place.run("echo x > ran", &[("HOME", "/nowhere")]);
        assert!(told.contains("TooMuch") && !place.at("ran").exists(), "{case:?}: {told}");
    }
}

/// Credentials in a project, and a link to one.
const CREDENTIALS: [&str; 9] = [
    ".env",
    ".npmrc",
    "id_ed25519",
    ".pgpass",
    "sub/.ssh/id_rsa",
    "sub/deep/.env.local",
    "infra/terraform.tfstate",
    ".config/gcloud/access_tokens.db",
    "hidden/rc",
];

#[test]
fn programs_read_no_credentials() {
    for case in namespaces() {
        let place = Place::new(case, &CREDENTIALS);
        std::os::unix::fs::symlink("hidden/rc", place.at(".pypirc")).unwrap();
        for way in [
            "grep -r '' .; cat .env sub/.ssh/id_rsa hidden/rc .pypirc",
            "mv sub x; cat x/.ssh/id_rsa; cp -r infra y; cat y/*; ln .env link; cat link; mv .env z; cat z",
        ] {
            let told = place.run(way, &[("HOME", "/nowhere")]);
            assert!(told.contains("after") && !told.contains(CANARY), "{case:?}: {told}");
        }
        // What one program has moved or closed stays hidden from the next.
        let told = place
            .run("mv infra moved; mkdir shut; mv sub shut/; chmod 111 shut moved", &[("HOME", "/nowhere")]);
        let told = told + &place.run("cat moved/terraform.tfstate shut/sub/.ssh/id_rsa; chmod 755 moved shut; cat moved/* shut/sub/.ssh/* shut/sub/deep/.env.local", &[("HOME", "/nowhere")]);
        assert!(!told.contains(CANARY), "{case:?}: {told}");
    }
}

#[test]
fn no_link_or_setting_shows_the_next_program_what_is_hidden() {
    let files = [".ssh/id_work", ".ssh/config", ".env", "own/journal.db", "sub/.aws/credentials"];
    let plants = [
        "mkdir a b; ln -s ../.ssh/id_work a/.bashrc; ln -s ../.ssh b/.bashrc; ln -s ../.env b/.zshrc",
        "mkdir a; ln -s ../own/journal.db a/.bashrc; ln -s ../own a/.zshrc; ln -s ../sub/.aws/credentials a/.envrc",
        "mkdir -p a/.config b/.config; ln -s ../../.ssh a/.config/fish; ln -s ../../own/journal.db b/.config/fish",
    ];
    let settings = [
        "[core]\nsshCommand = ssh -i ~/.ssh/id_work -i own/journal.db",
        "[include]\npath = ../.ssh/config\npath = ../.env",
        "[core]\nhooksPath = .ssh\nfsmonitor = sub/.aws/credentials",
    ];
    for case in namespaces() {
        for (plant, setting) in
            plants.map(|plant| (plant, "")).into_iter().chain(settings.map(|one| ("", one)))
        {
            let place = Place::new(case, &files);
            for folder in [".git/objects", ".git/refs"] {
                std::fs::create_dir_all(place.at(folder)).unwrap();
            }
            write(&place.at(".git/HEAD"), "ref: refs/heads/main\n", 0o644);
            write(&place.at(".git/config"), setting, 0o644);
            place.give();
            let (home, own) = (place.at(""), place.at("own"));
            let home = if setting.is_empty() { Path::new("/nowhere") } else { &home };
            let variables = [("HOME", home.to_str().unwrap()), ("OWN", own.to_str().unwrap())];
            place.run(plant, &variables);
            let told = place.run("grep -r '' .; cat .ssh/* .env own/* sub/.aws/* a/.*rc b/.*rc", &variables);
            assert!(told.contains("Exited") && !told.contains(CANARY), "{case:?} {plant}{setting}: {told}");
        }
    }
}

#[test]
fn a_program_takes_no_name_from_credentials_for_the_next_one() {
    let files =
        ["sub/.config/gcloud/tokens", "deep/er/.aws/credentials", "ann/.gradle/gradle.properties", "rc"];
    for case in namespaces() {
        let place = Place::new(case, &files);
        std::os::unix::fs::symlink("rc", place.at(".pypirc")).unwrap();
        let ann = place.at("ann");
        let variables = [("HOME", ann.to_str().unwrap())];
        for way in [
            "mv sub/.config sub/c; mv deep/er/.aws deep/er/a; mv ann/.gradle ann/g",
            "mv sub x; mv deep/er y; mv ann z; mv x/.config x/c; mv z/.gradle z/g",
            "rm .pypirc",
            "mv .pypirc link",
        ] {
            place.run(way, &variables);
            let told = place.run("grep -r '' .", &variables);
            assert!(told.contains("Exited") && !told.contains(CANARY), "{case:?} {way}: {told}");
        }
    }
}

#[test]
fn a_link_with_a_name_of_the_list_hides_nothing_outside() {
    for case in namespaces() {
        let place = Place::new(case, &["a.txt"]);
        let plant = "mkdir -p a b; ln -s /usr/bin/env a/.env; ln -s /usr b/.ssh; ln -s ../.. b/.gnupg; ln -s .. b/.azure";
        place.run(plant, &[("HOME", "/nowhere")]);
        let told = place.run("/usr/bin/env cat a.txt", &[("HOME", "/nowhere")]);
        assert!(told.contains(CANARY), "{case:?}: {told}");
    }
}

#[tokio::test]
async fn a_program_ends_when_its_owner_saves_a_file_that_is_kept_from_it() {
    let script = "touch running; until [ -e go ]; do sleep 0.05; done; cat .env";
    for case in namespaces() {
        for (file, is_new) in [(".env", false), ("sub/.envrc", false), ("a.txt", false), (".env", true)] {
            let place = Place::new(case, &[file]);
            let mut command = place.command(script, &[("HOME", "/nowhere")]);
            let child = command.stdout(Stdio::piped()).spawn().unwrap();
            until(BOUND, || place.at("running").exists()).await;
            if is_new {
                std::fs::remove_file(place.at(file)).unwrap();
            }
            write(&place.at("new"), CANARY, 0o644);
            std::fs::rename(place.at("new"), place.at(file)).unwrap();
            let is_kept = file != "a.txt";
            if !is_kept {
                std::fs::write(place.at("go"), "").unwrap();
            }
            let told = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            assert_eq!(told.contains("Uncovered"), is_kept, "{case:?} {file} {is_new}: {told}");
        }
    }
}

#[tokio::test]
async fn a_lasting_shell_reads_no_credentials_that_came_after_it() {
    let bench = Bench::<NAMESPACES>::new();
    let shells = Shells::new(bench.supervisor.clone(), Interpreter::Bash);
    let says = async |text: &str| {
        let until = Instant::now() + BOUND;
        let (text, wall) = (text.to_owned(), BOUND);
        let command = ShellCommand { text, folder: None, variables: Vec::new(), wall, until };
        shells.run("a", bench.order("", &[]), &command).await.unwrap().stdout.text(1_000)
    };
    assert_eq!(says("x=kept; first=$$; echo $x").await, "kept\n");
    assert_eq!(says("[ $first = $$ ] && echo same").await, "same\n");
    write(&bench.path().join(".env"), CANARY, 0o644);
    assert_eq!(says("cat .env; echo $x").await, "kept\n");
}

#[test]
fn the_owner_opens_credentials_to_programs_by_name() {
    for case in namespaces() {
        let script = "cat .env sub/.env; echo; cat .npmrc; echo evil > .env";
        for (opened, count) in [(".env", 2), ("sub/.env", 1), ("*", 3), (".npmrc", 1), ("nothing", 0)] {
            let place = Place::new(case, &[".env", "sub/.env", ".npmrc"]);
            let told = place.run(script, &[("HOME", "/nowhere"), ("PROGRAMS_READ", opened)]);
            assert_eq!(told.matches(CANARY).count(), count, "{case:?} {opened}: {told}");
            assert_eq!(place.holding("evil"), Vec::<PathBuf>::new(), "what may be read is not changed");
        }
    }
}

#[test]
fn credentials_that_a_level_cannot_hide_keep_no_program_from_starting() {
    for case in cases() {
        let place = Place::new(case, &CREDENTIALS);
        let told = place.run("echo done > file; cat file", &[("HOME", "/nowhere")]);
        assert!(told.contains("done") && told.contains("Exited(0), Itself"), "{case:?}: {told}");
    }
}

#[test]
fn a_folder_with_more_credentials_than_can_be_hidden_is_refused() {
    let many: Vec<String> = (0..300).map(|number| format!("{number}/.env")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for case in namespaces() {
        let place = Place::new(case, &many);
        let told = place.run("cat */.env", &[("HOME", "/nowhere")]);
        assert!(told.contains("TooMuch") && !told.contains(CANARY), "{case:?}: {told}");
        let told = place.run("cat */.env", &[("HOME", "/nowhere"), ("PROGRAMS_READ", "*")]);
        assert_eq!(told.matches(CANARY).count(), 300, "{case:?}");
    }
}

#[tokio::test]
async fn a_configuration_that_appears_beside_a_running_program_is_marked() {
    for case in namespaces() {
        let place = Place::new(case, &[]);
        let (home, own) = (place.at(""), place.at(".config/toolroom"));
        let variables = [("HOME", home.to_str().unwrap()), ("OWN", own.to_str().unwrap())];
        let made = own.join("toolroom.toml");
        for is_made in [false, true] {
            let mut child =
                place.command("until [ -e go ]; do sleep 0.05; done", &variables).spawn().unwrap();
            until(BOUND, || is_unconfirmed(&made)).await;
            if is_made {
                std::fs::write(&made, "").unwrap();
            }
            std::fs::write(place.at("go"), "").unwrap();
            assert!(child.wait().unwrap().success());
            until(Duration::from_secs(10), || is_unconfirmed(&made) == is_made).await;
            std::fs::remove_file(place.at("go")).unwrap();
        }
    }
}
