//! What to type so that a tool is available again.

use toolroom::catalog::Unavailable;

/// The command that undoes it.
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
