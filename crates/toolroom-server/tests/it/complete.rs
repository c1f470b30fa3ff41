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
