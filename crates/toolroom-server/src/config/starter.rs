//! The files that `toolroom init` writes.

use toolroom::policy::Preset;

/// The first user file: common defaults, with a limit and a rule as commented examples.
#[must_use]
pub fn starter(preset: Preset) -> String {
    format!(
        r#"# Settings of Toolroom. `toolroom config show --origin` shows the values in effect and their origin.

[policy]
# What runs without approval where no rule decides: careful, balanced or open.
preset = "{preset}"
# Unanswered approvals are denied after this time.
approval_expires = "24h"

[redaction]
# Redact text in known API key formats, and variables that look like secrets.
patterns = true
environment = true

# Tools work in their own folder; set `workspace` at the top of this file to use another one. Grant more access here.
#[files]
#read = ["~/Documents"]
#write = ["~/notes"]
#programs_read = [".env"]
#[network]
#open = ["printer.lan", "localhost:11434"]

# Limits of tools.
#[tool.lottery]
#rate = ["3/h", "20/day project"]

# Rules; their examples are checked at startup.
#[[rule]]
#id = "no-prod-mail"
#effect = "deny"
#tool = "send_*"
#when = "args.to contains '@prod'"
"#
    )
}

/// The first project file: commented examples, and the preset if given.
#[must_use]
pub fn project_starter(preset: Option<Preset>) -> String {
    let (mark, preset) = match preset {
        Some(preset) => ("", preset),
        None => ("#", Preset::Careful),
    };
    format!(
        r#"# Settings of this project. Until trusted with `toolroom trust` they may only restrict:
# a stricter preset, rules that ask or deny, tighter limits.

{mark}[policy]
{mark}preset = "{preset}"

#[tool.lottery]
#rate = "3/h"

#[[rule]]
#id = "ask-before-mail"
#effect = "ask"
#tool = "send_*"
#reason = "mail of this project goes to customers"
"#
    )
}
