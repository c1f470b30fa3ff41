//! What to type so that a tool is available again.

use toolroom::catalog::Off;

/// The command that undoes it.
pub(crate) fn remedy(off: &Off) -> String {
    match off {
        Off::Tool { name } => format!("switch it on with `toolroom tools enable {name}`"),
        Off::Feature { name } => format!("switch it on with `toolroom switch on {name}`"),
        Off::Context { missing } => {
            let flags: Vec<String> = missing.iter().map(|key| format!("--context {key}=…")).collect();
            format!("add {}", flags.join(" "))
        }
    }
}
