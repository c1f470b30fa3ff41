//! How to enable a tool.

use toolroom::catalog::Off;

/// The command or flag that enables the tool.
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
