//! What is installed: the program says what it is, a manual, completions, notices, and a package that comes and goes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::home::{Home, Ran, binary, ran, repository};

fn script(name: &str, words: &[&Path]) -> Ran {
    let mut command = Command::new(repository().join("scripts").join(name));
    command
        .args(words)
        .env("CARGO", env!("CARGO"))
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("DEB_LEVEL", "1");
    ran(command.output().unwrap())
}

fn names_below(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_program_says_which_one_it_is() {
    let home = Home::new();
    assert_eq!(home.run(&["--version"]).ended(0).out, format!("toolroom {}\n", env!("CARGO_PKG_VERSION")));
    for words in [["--version", "--json"], ["--json", "--version"]] {
        let told = home.run(&words).ended(0).json();
        assert_eq!(told["version"], json!(env!("CARGO_PKG_VERSION")));
        assert!(told["schema"].as_i64().unwrap() >= 6, "{told}");
        assert!(told["rustc"].as_str().unwrap().starts_with("rustc 1."), "{told}");
        assert!(told["target"].as_str().unwrap().contains("-linux-"), "{told}");
        assert!(told.as_object().unwrap().contains_key("commit") && told["profile"].is_string(), "{told}");
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let home = Home::new();
    let folder = home.path().join("man1");
    let missing = home.run(&["man", folder.to_str().unwrap()]).ended(2);
    assert!(missing.err.contains("man1") && missing.err.contains("mkdir -p"), "{missing:?}");
    std::fs::create_dir(&folder).unwrap();
    let (mine, link) = (home.path().join("mine"), folder.join("toolroom-call.1"));
    std::fs::write(&mine, "mine").unwrap();
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    let linked = home.run(&["man", folder.to_str().unwrap()]).ended(2);
    assert!(
        linked.err.contains(link.to_str().unwrap()) && linked.err.contains("is a symbolic link"),
        "{linked:?}"
    );
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    assert_eq!(names_below(&folder), ["toolroom-call.1".to_owned()].into(), "none is written");
    std::fs::remove_file(&link).unwrap();
    let told = home.run(&["man", folder.to_str().unwrap(), "--json"]).ended(0).json();
    let pages = names_below(&folder);
    assert_eq!(told["pages"].as_array().unwrap().len(), pages.len());
    for page in ["toolroom.1", "toolroom-call.1", "toolroom-backup-create.1", "toolroom-self-check.1"] {
        assert!(pages.contains(page), "{page}: {pages:?}");
    }
    let page = std::fs::read_to_string(folder.join("toolroom-migrate.1")).unwrap();
    assert!(page.contains(".SH NAME") && page.contains("toolroom migrate \\-\\-plan"), "{page}");
    assert!(home.run(&["man"]).ended(0).out.contains(".TH"));
    // Every command that the help names has one.
    let help = home.run(&["--help"]).ended(0).out;
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for command in commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        let has_page =
            command.is_empty() || command == "help" || pages.contains(&format!("toolroom-{command}.1"));
        assert!(has_page, "{command} has no page");
    }
}

#[test]
fn a_program_that_grew_too_large_is_not_released() {
    let home = Home::new();
    let (program, limit) = (home.path().join("toolroom"), 40_000_000);
    let file = std::fs::File::create(&program).unwrap();
    file.set_len(limit).unwrap();
    script("size-limit", &[&program]).ended(0);
    file.set_len(limit + 1).unwrap();
    let refused = script("size-limit", &[&program]).ended(1);
    assert!(refused.err.contains("40000001 bytes, and may have 40000000"), "{refused:?}");
    let refused = script("size-limit", &[&program, Path::new("100")]).ended(1);
    assert!(refused.err.contains("may have 100;") && refused.err.contains("cargo tree"), "{refused:?}");
    script("size-limit", &[&home.path().join("nothing")]).ended(1);
    // Everything that is installed and packed has passed it.
    let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
    let release = makefile.split("\nrelease:").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(release.contains("@scripts/size-limit $(BUILT)/release/toolroom"), "{release}");
    assert!(makefile.contains("\ninstall: release ") && makefile.contains("\ndeb: release "));
}

#[test]
fn self_check_works_in_a_folder_of_its_own_and_says_what_it_tried() {
    let home = Home::new();
    let told = home.run(&["self-check", "--json"]).ended(0).json();
    assert_eq!(told["good"], json!(true), "{told}");
    let names: Vec<&str> =
        told["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["program", "migrations", "storage", "call", "sandbox"]);
    assert_eq!(names_below(home.path()), BTreeSet::new(), "nothing of it stays here");
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = home.command(&["self-check"]);
    let text = ran(command.env("TMPDIR", &temporary).output().unwrap()).ended(0);
    assert!(text.out.contains("calculator 17*23 = 391") && text.err.contains("works"), "{text:?}");
    assert_eq!(names_below(&temporary), BTreeSet::new());
    let mut nowhere = home.command(&["self-check", "--json"]);
    let failed = ran(nowhere.env("TMPDIR", "/no/such/folder").output().unwrap()).ended(1).json();
    assert_eq!(failed["good"], json!(false), "{failed}");
    let details = failed["checks"][2]["details"].as_str().unwrap();
    assert!(
        details.contains("cannot create a temporary folder in `/no/such/folder`")
            && details.contains("set `TMPDIR`"),
        "{details}"
    );
    std::fs::write(home.path().join("toolroom.toml"), "x = [\n").unwrap();
    let mut elsewhere = home.command(&["self-check"]);
    let misled = ran(elsewhere.current_dir(home.path()).output().unwrap()).ended(1);
    assert!(misled.out.contains("failed  settings") && misled.out.contains("toolroom.toml:1:"), "{misled:?}");
    assert!(misled.out.contains("toolroom config check"), "{misled:?}");
}

#[test]
fn the_version_is_told_beside_nothing_else() {
    let home = Home::new();
    for words in [&["--version"][..], &["-V"], &["--version", "--color", "never"], &["--json", "--version"]] {
        assert!(home.run(words).ended(0).out.contains(env!("CARGO_PKG_VERSION")), "{words:?}");
    }
    for words in [&["--version", "extra"][..], &["--version", "--extra"], &["--version", "--json", "extra"]] {
        let refused = home.run(words).ended(2);
        assert!(refused.err.contains("extra") && refused.out.is_empty(), "{refused:?}");
    }
    let both = home.run(&["--version", "log"]).ended(2);
    assert!(both.err.contains("`--version` cannot be combined with a command"), "{both:?}");
}

/// Names and versions of crates that are linked into the program, as Cargo tells them.
fn linked() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--locked",
        "--offline",
        "-p",
        "toolroom-server",
        "-e",
        "normal",
        "--prefix",
        "none",
    ]);
    cargo.args(["-f", "{p}", "--target", "x86_64-unknown-linux-gnu"]).current_dir(repository());
    let output = ran(cargo.output().unwrap()).ended(0).out;
    let crates = output.lines().filter(|line| !line.contains("(/") && !line.contains("(proc-macro)"));
    crates.map(|line| line.trim_end_matches(" (*)").replacen(" v", " ", 1)).collect()
}

#[test]
fn notices_name_every_crate_that_is_linked() {
    let notices = script("third-party-notices", &[]).ended(0).out;
    let named: BTreeSet<&str> =
        notices.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name)).collect();
    let linked = linked();
    assert!(linked.len() > 100, "{linked:?}");
    for name in &linked {
        assert!(named.contains(name.as_str()), "{name} is not in the notices");
    }
    assert!(notices.contains("Permission is hereby granted, free of charge"), "texts are inside");
}

#[test]
fn the_unit_of_the_package_is_the_one_that_the_program_prints() {
    let printed = Home::new().run(&["service", "install", "--print"]).ended(0).out;
    let packaged = std::fs::read_to_string(repository().join("packaging/systemd/toolroom.service")).unwrap();
    assert_eq!(printed, packaged);
}

#[test]
fn a_package_is_installed_used_upgraded_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let made = script("deb", &[&binary(), folder.path()]).ended(0);
    let package = Path::new(made.out.trim());
    let name = package.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with(&format!("toolroom_{}_", env!("CARGO_PKG_VERSION"))), "{name}");
    let old = repository().join("crates/toolroom-store/tests/databases/schema-1.db");
    let tried = script("try-package", &[package, &old]).ended(0);
    for step in
        ["called in two commands", "served at", "an old database was brought here", "removed without a trace"]
    {
        assert!(tried.out.contains(step), "{step}: {tried:?}");
    }
}

#[test]
fn staging_puts_program_manual_and_completions_below_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    script("stage", &[&binary(), folder.path()]).ended(0);
    for file in [
        "bin/toolroom",
        "share/man/man1/toolroom.1.gz",
        "share/bash-completion/completions/toolroom",
        "share/zsh/site-functions/_toolroom",
        "share/fish/vendor_completions.d/toolroom.fish",
    ] {
        assert!(folder.path().join(file).metadata().unwrap().len() > 0, "{file}");
    }
    let home = Home::new();
    let mut installed = Command::new(folder.path().join("bin/toolroom"));
    installed.args(["call", "calculator", "expression=17*23", "--json"]).env("TOOLROOM_HOME", home.path());
    let report: Value = ran(installed.output().unwrap()).ended(0).json();
    assert_eq!(report["outcome"], json!("done"), "{report}");
}
