//! Ordinary commands of people who write software: the judge must not be in their way.

use toolroom::policy::Ruling;
use toolroom_tools::shell::judge::{JudgeSettings, judge};

const COMMANDS: &str = include_str!("../../shell/developer_commands.txt");

#[test]
fn ordinary_commands_are_hardly_ever_refused_and_mostly_run_unasked() {
    let settings = JudgeSettings::default();
    let commands: Vec<&str> =
        COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    let count =
        |wanted: Ruling| commands.iter().filter(|text| judge(text, &settings).verdict == wanted).count();
    let (asked, denied) = (count(Ruling::Ask), count(Ruling::Deny));
    let all = commands.len();
    println!("{all} commands: {} run, {asked} ask, {denied} are refused", all - asked - denied);
    assert!(all >= 300, "only {all} commands");
    assert!(denied * 100 <= all * 3, "{denied} of {all} are refused");
    assert!((all - asked - denied) * 100 >= all * 60, "{asked} of {all} ask");
}
