//! The house rules that can be held exactly: who depends on whom, licenses, the map, the doors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::home::repository;

/// Which crate of ours may use which others of ours.
const EDGES: &[(&str, &[&str])] = &[
    ("toolroom", &[]),
    ("toolroom-host", &[]),
    ("toolroom-models", &["toolroom", "toolroom-host"]),
    (
        "toolroom-server",
        &["toolroom", "toolroom-host", "toolroom-models", "toolroom-store", "toolroom-tools"],
    ),
    ("toolroom-store", &["toolroom"]),
    ("toolroom-tools", &["toolroom", "toolroom-host"]),
];

/// Crates that open sockets, files or processes by themselves: the kernel must not even link them.
const NOT_IN_THE_KERNEL: &[&str] = &[
    "hyper",
    "landlock",
    "mio",
    "reqwest",
    "rustix",
    "rustls",
    "socket2",
    "sqlx",
    "tar",
    "tempfile",
    "tokio-rustls",
];

fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
    cargo.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(repository());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}`"))
}

#[test]
fn crates_use_each_other_only_along_the_drawn_edges() {
    let metadata = metadata();
    let ours: BTreeMap<&str, BTreeSet<&str>> = list(&metadata, "packages")
        .iter()
        .filter(|package| package["source"].is_null())
        .map(|package| {
            let uses = list(package, "dependencies").iter().filter(|dependency| dependency["kind"].is_null());
            let names = uses.map(|dependency| dependency["name"].as_str().unwrap());
            (package["name"].as_str().unwrap(), names.filter(|name| name.starts_with("toolroom")).collect())
        })
        .collect();
    let drawn: BTreeMap<&str, BTreeSet<&str>> =
        EDGES.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    for (name, uses) in &ours {
        let allowed = drawn.get(name).unwrap_or_else(|| panic!("{name} is not in the drawing"));
        assert!(uses.is_subset(allowed), "{name} uses {uses:?}, allowed are {allowed:?}");
    }
    assert_eq!(ours.keys().collect::<Vec<_>>(), drawn.keys().collect::<Vec<_>>());
    for package in list(&metadata, "packages").iter().filter(|package| package["source"].is_null()) {
        assert!(
            package["features"].as_object().unwrap().is_empty(),
            "{} has Cargo features",
            package["name"]
        );
    }
}

#[test]
fn the_kernel_links_nothing_that_opens_anything() {
    let metadata = metadata();
    let names: BTreeMap<&str, &str> = list(&metadata, "packages")
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let mut open: Vec<&str> = nodes.keys().copied().filter(|id| names[id] == "toolroom").collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dependency in list(nodes[id], "deps") {
            let normal = list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
            if normal {
                open.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    let linked: BTreeSet<&str> = seen.iter().map(|id| names[id]).collect();
    assert!(linked.len() > 20, "the walk found only {linked:?}");
    for name in NOT_IN_THE_KERNEL {
        // tokio's own feature set is unified over the workspace, so its reactor shows up here through others.
        let through_tokio = matches!(*name, "mio" | "socket2");
        assert!(through_tokio || !linked.contains(name), "the kernel links {name}");
    }
}

#[test]
fn licenses_and_bans_are_those_of_deny_toml() {
    let deny: toml::Table = std::fs::read_to_string(repository().join("deny.toml")).unwrap().parse().unwrap();
    let allowed: BTreeSet<&str> = deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|license| license.as_str().unwrap())
        .collect();
    let metadata = metadata();
    let packages = list(&metadata, "packages");
    assert!(packages.len() > 50, "only {} packages were found", packages.len());
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        *versions.entry(name).or_default() += 1;
        let license = package["license"].as_str().unwrap_or_else(|| panic!("{name} declares no license"));
        assert!(is_allowed(license, &allowed), "{name} is under {license}");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source.starts_with("registry+")), "{name} comes from {source:?}");
    }
    let bans = deny["bans"]["deny"].as_array().unwrap();
    assert!(bans.len() > 5);
    for ban in bans {
        let name = ban["crate"].as_str().unwrap();
        let count = versions.get(name).copied().unwrap_or(0);
        let most = usize::from(ban.get("deny-multiple-versions").is_some());
        assert!(count <= most, "{count} versions of {name}, at most {most} may be there");
    }
}

/// `A OR B` needs one of them, `A AND B` both; the old `A/B` means OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
    expression.split(" AND ").all(|all| all.split(" OR ").any(|one| allowed.contains(one.trim())))
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(&repository().join("crates"), &mut files);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    assert!(files.len() > 60, "the scanner found only {} files", files.len());
    files.into_iter().map(|file| (file.clone(), std::fs::read_to_string(file).unwrap())).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (file, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        let name = file.display().to_string();
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        assert!(first.starts_with("//! ") || is_test, "{} has no first line of purpose", file.display());
    }
}

#[test]
fn doors_are_in_the_host_crate_and_one_clock() {
    let mut doors = BTreeSet::new();
    for (file, text) in sources() {
        if text.contains("reason = \"this is the door") {
            doors.insert(file.strip_prefix(repository()).unwrap().display().to_string());
        }
    }
    let outside: Vec<&String> =
        doors.iter().filter(|door| !door.starts_with("crates/toolroom-host/")).collect();
    assert_eq!(outside, ["crates/toolroom/src/clock.rs"]);
    assert!(doors.len() > 3, "{doors:?}");
}

#[test]
fn nothing_unfinished_is_left_lying_about() {
    // Put together here, so that this file does not find itself.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["#[ig", "nore"]].map(|halves| halves.concat());
    for (file, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{} holds a {mark}", file.display());
        }
    }
}

/// The rooms of a crate: what lies directly under its `src`.
fn rooms(name: &str) -> BTreeSet<String> {
    let folder = repository().join("crates").join(name).join("src");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() { format!("{name}/") } else { name }
    });
    named.filter(|name| name != "lib.rs" && name != "main.rs" && !name.ends_with("_tests.rs")).collect()
}

#[test]
fn the_map_shows_every_room_and_no_other() {
    let map = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let code_map = map.split("\n## ").find(|section| section.starts_with("Code map")).unwrap();
    for (name, _) in EDGES {
        let heading = format!("### `{name}`");
        let section = code_map.split("\n### ").find(|part| format!("### {part}").starts_with(&heading));
        let section = section.unwrap_or_else(|| panic!("the map does not show {name}"));
        let shown: BTreeSet<String> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once(" |").map(|(rooms, _)| rooms))
            .flat_map(|rooms| rooms.split("`, `").map(|room| room.trim_end_matches('`').to_owned()))
            .collect();
        assert_eq!(shown, rooms(name), "the map of {name}");
    }
}

/// A path is meant from the root of the repository, or from a room of a crate: `config/keys/`.
#[test]
fn paths_in_the_guides_for_developers_exist() {
    let mut files = Vec::new();
    collect(&repository().join("crates"), &mut files);
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut count = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(repository().join(page)).unwrap();
        let built = text.split("\n## Planned").next().unwrap().replace("```", "");
        let is_path = |code: &&str| {
            let ends = [".rs", ".toml", ".md", "/"].iter().any(|ending| code.ends_with(ending));
            ends && code.contains('/') && !code.contains(char::is_whitespace)
        };
        for path in built.split('`').skip(1).step_by(2).filter(is_path) {
            let below = format!("/{path}");
            let is_in_crate = |file: &String| match path.ends_with('/') {
                true => file.contains(&below),
                false => file.ends_with(&below),
            };
            let exists = repository().join(path).exists() || files.iter().any(is_in_crate);
            assert!(exists, "{page} names `{path}`, which does not exist");
            count += 1;
        }
    }
    assert!(count > 60, "only {count} paths were found");
}

#[test]
fn migrations_come_in_pairs() {
    let folder = repository().join("crates/toolroom-store/migrations");
    let names = |database: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder.join(database)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    assert!(!names("sqlite").is_empty());
    assert_eq!(names("sqlite"), names("postgres"));
}

#[test]
fn invariants_name_what_holds_them() {
    let map = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let section = map.split("\n## ").find(|section| section.starts_with("Invariants")).unwrap();
    let tests: String = sources().into_iter().map(|(_, text)| text).collect();
    let mut numbered = 0;
    for line in section.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        numbered += 1;
        let held_by: Vec<&str> =
            line.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
        let planned = line.contains("(planned");
        let lint = line.contains("clippy.toml");
        assert!(planned || lint || !held_by.is_empty(), "nothing holds: {line}");
        for name in held_by {
            let function = name.rsplit("::").next().unwrap();
            assert!(tests.contains(&format!("fn {function}(")), "`{name}` does not exist: {line}");
        }
    }
    assert_eq!(numbered, 11, "design and map count the same invariants");
}

#[test]
fn the_seal_is_shown_by_examples_that_do_not_compile() {
    let context = std::fs::read_to_string(repository().join("crates/toolroom/src/call/context.rs")).unwrap();
    assert!(context.matches("```compile_fail").count() >= 3, "cargo runs these as doctests");
    assert!(!context.contains("derive(Clone)"));
}
