//! What the documents show besides sessions: scripts are run against a server, configuration is taken as it stands, and
//! links lead somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::home::{Home, repository};
use crate::serve::Served;

/// The blocks of a language in a document.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let starts = markdown.split(&fence).skip(1);
    starts.map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_page_of_the_guide_talks_to_a_server() {
    let guide = std::fs::read_to_string(repository().join("docs/guides/app-developers.md")).unwrap();
    let served = Served::new();
    served.project("shop");
    let key = served.key("shop", "chat,mint");
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agui/node_modules");
    assert!(packages.join("@ag-ui/client").is_dir(), "the clients are missing: run `make setup`");
    std::os::unix::fs::symlink(packages, served.home.path().join("node_modules")).unwrap();
    let page = served.home.path().join("page.mjs");
    std::fs::write(&page, blocks(&guide, "js").join("\n")).unwrap();
    let mut node = Command::new("node");
    node.arg(&page).env("TOOLROOM_URL", served.origin()).env("TOOLROOM_KEY", &key);
    let said = node.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    // Beside each line stands what it prints.
    let shown = guide.lines().filter_map(|line| line.strip_prefix("console.log(")?.split_once("; // "));
    let shown: String = shown.map(|(_, printed)| format!("{printed}\n")).collect();
    assert!(!shown.is_empty());
    assert_eq!(String::from_utf8(said.stdout).unwrap(), shown);
}

/// The documents for users.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/guides", "docs/reference", "docs/decisions"];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(repository().join(folder)).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn configuration_that_is_shown_is_taken() {
    let mut checked = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        // What Cargo reads is not ours.
        for block in blocks(&text, "toml").iter().filter(|block| !block.starts_with("[dependencies]")) {
            let home = Home::new();
            let file = home.path().join("shown.toml");
            std::fs::write(&file, block).unwrap();
            let told = home.run(&["config", "check", file.to_str().unwrap()]);
            assert_eq!(told.code, 0, "{}:\n{block}\n{told:?}", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} examples were found");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut followed = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let file = link.split('#').next().unwrap();
            if file.ends_with(".md") && !file.contains("://") {
                assert!(path.parent().unwrap().join(file).is_file(), "{}: {link}", path.display());
                followed += 1;
            }
        }
    }
    assert!(followed >= 50, "only {followed} links were found");
}
