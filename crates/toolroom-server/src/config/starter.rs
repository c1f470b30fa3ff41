//! The files that `toolroom init` writes.

use toolroom::policy::Preset;

/// The user's first file: every default written out, and one rule and one limit to be taken as a pattern.
#[must_use]
pub fn starter(preset: Preset) -> String {
    format!(
        r#"# Settings of Toolroom. `toolroom config show --origin` shows what holds, and why.

[policy]
# What runs unasked where no rule decides: careful, balanced or open.
preset = "{preset}"
# A question nobody answers becomes a no after this long.
approval_expires = "24h"

[redaction]
# Hide what has the format of a known kind of key, and variables that look like secrets.
patterns = true
environment = true

# Tools work in a folder of their own; `workspace`, at the top of this file, names another one. What else they may
# reach is opened here.
#[files]
#read = ["~/Documents"]
#write = ["~/notes"]
#programs_read = [".env"]
#[network]
#open = ["printer.lan", "localhost:11434"]

# Limits in place of a tool's own.
#[tool.lottery]
#rate = ["3/h", "20/day project"]

# Rules are checked against their examples when they are loaded.
#[[rule]]
#id = "no-prod-mail"
#effect = "deny"
#tool = "send_*"
#when = "args.to contains '@prod'"
"#
    )
}

/// The first file of a project: it says what may be set, and sets nothing but the preset, if there is to be one.
#[must_use]
pub fn project_starter(preset: Option<Preset>) -> String {
    let (mark, preset) = match preset {
        Some(preset) => ("", preset),
        None => ("#", Preset::Careful),
    };
    format!(
        r#"# Settings of this project. Until `toolroom trust` they can only make things stricter:
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
