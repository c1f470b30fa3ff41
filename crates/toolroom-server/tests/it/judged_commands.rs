//! The effect of the command judge on the files of a workspace, and its corpora through the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::home::{Home, belongs_to_programs};
use crate::shop::Shop;

const HARMFUL: &str = include_str!("../../../toolroom-tools/tests/shell/harmful_commands.txt");
const EVERYDAY: &str = include_str!("../../../toolroom-tools/tests/shell/everyday_commands.txt");

/// Commands that delete the canary or reveal the secret, with programs that are on no list.
const LOSING: &[&str] = &[
    "truncate -s 0 canary.txt",
    ": > canary.txt",
    "> canary.txt",
    "true >| canary.txt",
    "printf '' > canary.txt",
    "cat /dev/null > canary.txt",
    "cp /dev/null canary.txt",
    "cp -f /dev/./null canary.txt",
    "install /dev/null canary.txt",
    "ln -sf /dev/null canary.txt",
    "tee canary.txt < /dev/null",
    "sort -o canary.txt /dev/null",
    "sed -i d canary.txt",
    "sed -i '1,$d' canary.txt",
    "sed -i 's/.*//' canary.txt",
    "sed -ni 7p canary.txt",
    "tar cf x.tar canary.txt --remove-files",
    "chmod 000 canary.txt",
    "chmod a-r canary.txt",
    "find . -name 'canary*' -exec truncate -s 0 {} +",
    "ls canary.txt | xargs -n1 cp /dev/null",
    "rm canary.txt spare.txt",
    "rm spare.txt; rm canary.txt",
    "rm canar*",
    "echo 'rm canary.txt' | bash -v",
    "echo 'rm canary.txt' | sh -h",
    "echo 'import os; os.remove(\"canary.txt\")' | python3 -v",
    "cat $(printf '.e%s' nv)",
    "f=.env; cat $f",
    "for f in .env; do cat $f; done",
    "echo .env | xargs cat",
    "cat ${x:-.env}",
];

#[test]
fn a_command_that_deletes_a_file_waits_for_an_answer_and_the_file_stays() {
    let shop = Shop::new();
    let [canary, spare, secret] = ["canary.txt", "spare.txt", ".env"].map(|name| shop.workspace.join(name));
    for (file, content) in [(&canary, "alive\n"), (&spare, "alive\n"), (&secret, "TOKEN=canary-4711\n")] {
        fs::write(file, content).unwrap();
        belongs_to_programs(file);
    }
    let mode = fs::metadata(&canary).unwrap().permissions().mode();
    for command in LOSING {
        let argument = format!("command={command}");
        let asked = shop.home.run(&["call", "run_command", &argument, "--json"]);
        assert_eq!(asked.code, 4, "{command}: {asked:?}");
        assert!(!asked.out.contains("canary-4711"), "{command}: {asked:?}");
        assert_eq!(fs::read_to_string(&canary).unwrap_or_default(), "alive\n", "{command}");
        assert_eq!(fs::metadata(&canary).unwrap().permissions().mode(), mode, "{command}");
        assert!(fs::symlink_metadata(&canary).unwrap().is_file() && spare.exists(), "{command}");
    }
    // Removing a single named file is everyday work.
    shop.home.run(&["call", "run_command", "command=rm spare.txt"]).ended(0);
    assert!(!spare.exists() && canary.exists());
}

#[test]
fn the_command_line_judges_the_corpora_as_the_judge_does() {
    let home = Home::new();
    for (corpus, step) in [(HARMFUL, 40), (EVERYDAY, 30)] {
        let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
        for line in lines.step_by(step) {
            let (class, command) = line.split_once(' ').unwrap();
            let command = command.replace('⏎', "\n");
            let explained = home.run(&["policy", "explain", "--", &command]);
            let is_right = match class {
                "run" => explained.code == 0,
                "ask" => matches!(explained.code, 3 | 4),
                _ => explained.code == 3,
            };
            assert!(is_right, "{line}: {explained:?}");
        }
    }
}
