//! What the settings mean, and the rules by which calls are judged.

use toolroom_host::text_file::{SkipReason, SkippedFile};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{About, AnswerFacts, ConfigFacts, ConfigTrouble, PolicyFacts};
use super::wording::{LISTED, counted, first_of, quoted};
use super::{one, unexamined};
use crate::config::skipped_file_problem;

pub(super) fn config(facts: &Result<ConfigFacts, ConfigTrouble>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(ConfigTrouble::NoHome(cause)) => {
            return one(Finding::error("config.no_home", cause, "export TOOLROOM_HOME=\"$HOME/.toolroom\""));
        }
        Err(ConfigTrouble::Unreadable(cause)) => {
            return one(Finding::error("config.unreadable", cause, "toolroom config check"));
        }
        Err(ConfigTrouble::Invalid(problems)) => {
            return one(Finding::error("config.invalid", first_of(problems), "toolroom config check"));
        }
    };
    let mut found = Vec::new();
    for odd in &facts.odd {
        let remedy = match &odd.about {
            About::Settings => "toolroom config check".to_owned(),
            About::Variable(name) => format!("unset {name}"),
            About::Agent(id) => format!("toolroom agents show {id}"),
        };
        found.push(Finding::warning("config.odd", &odd.text, remedy));
    }
    found.extend(facts.passed_over.iter().map(passed_over));
    if let Some(project) = facts.project.as_ref().filter(|project| project.ignored > 0) {
        let ignored = counted(project.ignored, "setting");
        let path = project.path.display();
        let details = format!("`{path}` is not trusted: {ignored} in it ignored");
        found.push(Finding::warning("config.untrusted", details, "toolroom trust"));
    }
    let files = [facts.user.as_ref(), facts.project.as_ref().map(|project| &project.path)];
    let files: Vec<String> =
        files.into_iter().flatten().map(|path| format!("`{}`", path.display())).collect();
    let details = if files.is_empty() { "no file; the defaults hold".to_owned() } else { files.join(", ") };
    Check::new(details, found)
}

/// Its rules, if it has any, do not hold: somebody may rely on them.
fn passed_over(passed: &SkippedFile) -> Finding {
    let file = quoted(&passed.path);
    let remedy = match passed.why {
        SkipReason::Stranger(_) => format!("sudo chown \"$(id -u)\" {file}"),
        SkipReason::LeadsNowhere | SkipReason::NotRegular => format!("mv {file} {file}.other"),
    };
    Finding::warning("config.passed_over", skipped_file_problem(passed).to_string(), remedy)
}

pub(super) fn policy(
    facts: Option<&Result<PolicyFacts, Vec<String>>>,
    answers: Option<&AnswerFacts>,
) -> Check {
    let facts = match facts {
        Some(Ok(facts)) => facts,
        Some(Err(problems)) => {
            return one(Finding::error("policy.invalid", first_of(problems), "toolroom policy check"));
        }
        None => return unexamined("policy.unexamined", "config"),
    };
    let mut details = format!("preset {}, {}", facts.preset.as_str(), counted(facts.rules, "rule"));
    if facts.examples > 0 {
        details.push_str(&format!(" ({}, all hold)", counted(facts.examples, "example")));
    }
    let mut found = Vec::new();
    match answers {
        Some(answers) => {
            details.push_str(&format!(", {}", counted(answers.count, "standing answer")));
            found.extend(answers.unreadable.iter().take(LISTED).map(|id| {
                let details = format!("the condition of the standing answer `{id}` cannot be read");
                Finding::warning("policy.unreadable_answer", details, format!("toolroom policy forget {id}"))
            }));
        }
        None => found.push(Finding::warning(
            "policy.answers_unexamined",
            format!("{details}; standing answers were not examined, see `store`"),
            "toolroom doctor",
        )),
    }
    Check::new(details, found)
}
