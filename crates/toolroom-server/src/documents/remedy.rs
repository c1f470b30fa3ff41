//! How to enable a tool.

use toolroom::catalog::Unavailable;

/// The command or flag that enables the tool.
pub(crate) fn remedy(off: &Unavailable) -> String {
    match off {
        Unavailable::Tool { name } => format!("switch it on with `toolroom tools enable {name}`"),
        Unavailable::Feature { name } => format!("switch it on with `toolroom switch on {name}`"),
        Unavailable::Context { missing } => {
            let flags: Vec<String> = missing.iter().map(|key| format!("--context {key}=…")).collect();
            format!("add {}", flags.join(" "))
        }
    }
}
