//! Ways around a judge: none of them just runs.

use toolroom::policy::Ruling;
use toolroom_tools::shell::judge::{JudgeSettings, Security, judge};

const COMMANDS: &str = include_str!("../../shell/attack_commands.txt");

#[test]
fn no_way_around_the_judge_just_runs() {
    let strict = JudgeSettings { security: Security::Strict, ..JudgeSettings::default() };
    let lines = COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    let texts: Vec<String> = lines.map(|line| line.replace('⏎', "\n")).collect();
    let slipped = |settings: &JudgeSettings, least: Ruling| -> Vec<String> {
        texts.iter().filter(|text| judge(text, settings).verdict < least).cloned().collect()
    };
    assert!(texts.len() >= 400, "only {} lines", texts.len());
    assert_eq!(slipped(&JudgeSettings::default(), Ruling::Ask), Vec::<String>::new());
    assert_eq!(slipped(&strict, Ruling::Deny), Vec::<String>::new());
}
