//! Completion: what a shell gets to offer.

use crate::home::Home;

/// Asks as bash would, with the cursor behind the last word.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let index = words.len() - 1;
    let asked: Vec<&str> = ["--"].into_iter().chain(words.iter().copied()).collect();
    let mut command = home.own_tools(&asked);
    command.env("TOOLROOM_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index.to_string());
    command.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_IFS", "\n");
    let ran = crate::home::ran(command.output().unwrap()).ended(0);
    ran.out.lines().map(str::to_owned).collect()
}

#[test]
fn tools_arguments_and_values_are_offered() {
    let home = Home::new();
    let has = |words: &[&str], wanted: &str| {
        let offered = offered(&home, words);
        assert!(offered.iter().any(|word| word == wanted), "{words:?} lacks {wanted}: {offered:?}");
    };
    has(&["toolroom", "c"], "call");
    has(&["toolroom", "call", "calc"], "calculator");
    has(&["toolroom", "call", "calculator", ""], "expression=");
    has(&["toolroom", "call", "repeat", "text=x", "sh"], "shape=");
    has(&["toolroom", "call", "repeat", "shape=l"], "shape=list");
    has(&["toolroom", "tools", "disable", "get"], "get_local_time");
    has(&["toolroom", "switch", "off", "me"], "memory");
    has(&["toolroom", "policy", "explain", "calc"], "calculator");
    has(&["toolroom", "policy", "explain", "--provenance", "private", "repeat", "sh"], "shape=");
    has(&["toolroom", "policy", "explain", "repeat", "--provenance", "un"], "untrusted");
    has(&["toolroom", "log", "--tool", "app"], "append_note");
}

#[test]
fn scripts_exist_for_the_usual_shells() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell]).ended(0).out;
        assert!(script.contains("toolroom"), "{shell}: {script}");
    }
    home.run(&["completions", "tcsh"]).ended(2);
}

#[test]
fn bash_offers_what_stands_behind_its_own_splits() {
    let home = Home::new();
    let folder = home
        .own_tools(&[])
        .get_program()
        .to_str()
        .map(|path| path.rsplit_once('/').unwrap().0.to_owned())
        .unwrap();
    let link = home.path().join("toolroom");
    std::os::unix::fs::symlink(format!("{folder}/own_tools"), &link).unwrap();
    let script = home.run(&["completions", "bash"]).ended(0).out;
    let file = home.path().join("completion.bash");
    std::fs::write(&file, script).unwrap();
    // `words` as bash splits them: at spaces, and before and after `=` and `:`.
    let offered = |line: &str, words: &[&str]| {
        let list: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let ask = format!(
            "source '{}'; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({}); COMP_CWORD={}; _toolroom; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display(),
            list.join(" "),
            words.len() - 1,
        );
        let path = format!("{}:{}", home.path().display(), std::env::var("PATH").unwrap());
        let mut bash = std::process::Command::new("bash");
        bash.args(["--norc", "-c", &ask]).env("PATH", path).env("TOOLROOM_HOME", home.path());
        let output = bash.output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(offered("toolroom call rep", &["toolroom", "call", "rep"]), ["repeat"]);
    assert_eq!(offered("toolroom call app:rep", &["toolroom", "call", "app", ":", "rep"]), ["repeat"]);
    assert_eq!(offered("toolroom call repeat sh", &["toolroom", "call", "repeat", "sh"]), ["shape="]);
    assert_eq!(
        offered("toolroom call repeat shape=", &["toolroom", "call", "repeat", "shape", "="]),
        ["text", "list"]
    );
    assert_eq!(
        offered("toolroom call repeat shape=l", &["toolroom", "call", "repeat", "shape", "=", "l"]),
        ["list"]
    );
    let flags = ["toolroom", "call", "--timeout", "5s", "repeat", "sh"];
    assert_eq!(offered("toolroom call --timeout 5s repeat sh", &flags), ["shape="]);
    assert!(!home.path().join("toolroom.db").exists(), "pressing a key opens no database");
}
