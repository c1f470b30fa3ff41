//! `toolroom init`: the first file, for oneself or for a project.

use serde_json::json;

use crate::home::Home;
use crate::project::{Project, finish_in};
use crate::pty::{Pty, Stdout};

#[test]
fn init_writes_a_short_file_once_and_says_what_comes_next() {
    let project = Project::new("");
    let file = project.home.path().join("toolroom.toml");
    let ran = project.run(&["init"]).ended(0);
    assert_eq!(ran.out, format!("Created {}\n", file.display()));
    assert_eq!(ran.err.matches("toolroom ").count(), 2, "the two next commands: {ran:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.lines().count() < 40 && text.contains("preset = \"balanced\""), "{text}");
    assert_eq!(project.run(&["config", "check"]).ended(0).out, "ok: 4 keys, 0 rules, 0 limits\n");
    for arguments in [&["init"][..], &["init", "--yes", "--preset", "open"]] {
        let again = project.run(arguments).ended(2);
        assert!(again.err.contains("already exists; edit it, or move it away"), "{again:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(!project.home.path().join("toolroom.db").exists());

    let ran = project.run(&["init", "--project", "--preset", "careful", "--json"]).ended(0);
    assert_eq!(ran.json()["next"], json!(["toolroom config check", "toolroom trust"]));
    assert!(std::fs::read_to_string(project.file()).unwrap().contains("\npreset = \"careful\"\n"));
    assert!(project.run(&["init", "--project"]).ended(2).err.contains("already exists"));
    let below = project.folder().join("below");
    std::fs::create_dir(&below).unwrap();
    let ran = finish_in(project.home.command(&["init", "--project"]), &below).ended(0);
    assert!(ran.err.contains(&format!("takes precedence over `{}`", project.file().display())), "{ran:?}");
    finish_in(project.home.command(&["init", "--project"]), project.home.path()).ended(2);
    project.run(&["init", "--preset", "lax"]).ended(2);
}

#[test]
fn init_asks_one_thing_on_a_terminal_and_guesses_nothing() {
    for (typed, preset) in
        [("\n", "balanced"), ("careful\n", "careful"), ("OPEN\n", "open"), ("\u{4}", "balanced")]
    {
        let home = Home::new();
        let mut sitting = Pty::new(80).starts(&home.command(&["init"]), Stdout::Terminal);
        sitting.sees("Preset [balanced]:");
        sitting.types(typed);
        let screen = sitting.leaves().ended(0).screen;
        for preset in ["open ", "balanced ", "careful "] {
            assert!(screen.contains(preset), "{screen}");
        }
        let shown = home.run(&["config", "show", "policy.preset"]).ended(0).out;
        assert_eq!(shown, format!("policy.preset = \"{preset}\"\n"), "{typed:?}: {screen}");
    }
    let home = Home::new();
    let mut sitting = Pty::new(80).starts(&home.command(&["init"]), Stdout::Terminal);
    sitting.sees("Preset [balanced]:");
    sitting.types("carefull\n");
    sitting.sees("did you mean `careful`?\nPreset [balanced]:");
    sitting.types("careful\n");
    sitting.leaves().ended(0).shows("Preset [balanced]: careful\nCreated ");
    let home = Home::new();
    let sitting = Pty::new(80).starts(&home.command(&["init", "--yes"]), Stdout::Terminal);
    let screen = sitting.leaves().ended(0).screen;
    assert!(!screen.contains("Preset ["), "{screen}");
}
