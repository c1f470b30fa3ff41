//! Where the value of a secret comes from: typed unseen, or piped in. Never from the command line.

use std::io::{self, IsTerminal, Read};

use toolroom_host::terminal::Terminal;
use zeroize::Zeroizing;

use crate::cli::console::exit::Usage;
use crate::cli::console::output::Output;
use crate::cli::console::output::single_line;
use crate::vault::{SecretNameError, check_secret_name};

/// Longer values are files, and kept as such.
const MAX_BYTES: usize = 64 * 1_024;

/// The end of a line behind a value that was piped in.
const MAX_LINE_END: usize = 2;

/// What came of asking for a value.
pub(super) enum Given {
    Value(Zeroizing<String>),
    /// The person pressed Ctrl-C.
    Interrupted,
}

/// Whether a new secret may have this name.
pub(super) fn check_name(name: &str) -> Result<(), Usage> {
    check_secret_name(name).map_err(|error| match error {
        SecretNameError::IsValue => on_the_command_line(),
        SecretNameError::NotPlain => Usage(format!("{error}; `{}` is none", single_line(name))),
    })
}

/// Why a value is not taken from there, and what to do now.
pub(super) fn on_the_command_line() -> Usage {
    Usage(
        "a value is never given on the command line: every process of the machine can read it there, and it may now \
         be in your shell's history. Nothing was kept. Remove it from the history, use a new value if others could \
         see it, and type it when asked (`toolroom secrets set NAME`) or pipe it in (`… | toolroom secrets set NAME`)"
            .to_owned(),
    )
}

/// The value of a secret, from the person at the terminal or from a pipe.
pub(super) async fn read(name: &str, output: Output) -> anyhow::Result<Given> {
    if !io::stdin().is_terminal() {
        return Ok(Given::Value(piped(io::stdin().lock())?));
    }
    let Some(terminal) = Terminal::open() else {
        let text = "the value cannot be asked for unseen, because messages go elsewhere; pipe it in";
        return Err(Usage(text.to_owned()).into());
    };
    output.talk(format_args!("value of `{name}` (not shown):"));
    let value = match typed(terminal).await {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Given::Interrupted),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let instead = format!("give it on standard input: `toolroom secrets set {name} < FILE`");
            return Err(Usage(format!("{error}, and nothing was kept; {instead}")).into());
        }
        value => value?.unwrap_or_default(),
    };
    checked(&value)?;
    // Enough to notice that half of it was pasted, or twice as much.
    output.talk(format_args!("{} characters", value.chars().count()));
    Ok(Given::Value(value))
}

/// Reads a hidden line on a thread of its own: a person may take their time, the runtime may not.
async fn typed(mut terminal: Terminal) -> io::Result<Option<Zeroizing<String>>> {
    let read = tokio::task::spawn_blocking(move || {
        terminal.discard_typed_ahead()?;
        terminal.read_hidden_line()
    });
    read.await.map_err(io::Error::other)?
}

/// Everything there is, without the one end of line that `echo` and editors add.
fn piped(input: impl Read) -> anyhow::Result<Zeroizing<String>> {
    // Room for all of it at once, so that no part stays behind in memory.
    let limit = MAX_BYTES + MAX_LINE_END + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    input.take(u64::try_from(limit)?).read_to_end(&mut bytes)?;
    let text = str::from_utf8(&bytes)
        .map_err(|_| Usage("the value is not UTF-8; encode it first, e.g. with base64".to_owned()))?;
    let value = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    checked(value)?;
    Ok(Zeroizing::new(value.to_owned()))
}

fn checked(value: &str) -> Result<(), Usage> {
    let wrong = if value.is_empty() {
        "the value is empty; nothing was kept".to_owned()
    } else if value.len() > MAX_BYTES {
        format!("the value is longer than {MAX_BYTES} bytes")
    } else if value.contains('\0') {
        "the value holds a NUL character, which no program could be given".to_owned()
    } else {
        return Ok(());
    };
    Err(Usage(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_end_of_line_is_not_part_of_a_value() {
        let check = |text: &str, value: &str| assert_eq!(*piped(text.as_bytes()).unwrap(), value);
        check("a value", "a value");
        check("a value\n", "a value");
        check("a value\r\n", "a value");
        check("a value\n\n", "a value\n");
        check("-----BEGIN\nKEY-----\n", "-----BEGIN\nKEY-----");
        check(" spaces ", " spaces ");
        check(&"x".repeat(MAX_BYTES), &"x".repeat(MAX_BYTES));
        check(&format!("{}\r\n", "x".repeat(MAX_BYTES)), &"x".repeat(MAX_BYTES));
    }

    #[test]
    fn what_is_no_value_is_refused_without_repeating_it() {
        let check = |bytes: &[u8], why: &str| {
            let text = piped(bytes).unwrap_err().to_string();
            assert!(text.contains(why) && !text.contains("s3cr3t"), "{text}");
        };
        check(b"", "empty");
        check(b"\n", "empty");
        check(b"s3cr3t\0", "NUL");
        check(b"s3cr3t\xff", "UTF-8");
        check("x".repeat(MAX_BYTES + 1).as_bytes(), "longer");
        check("x".repeat(10 * MAX_BYTES).as_bytes(), "longer");
    }

    #[test]
    fn a_name_that_is_none_is_told_and_a_value_is_not() {
        check_name("GITHUB_TOKEN").unwrap();
        assert!(check_name("a b").unwrap_err().to_string().contains("`a b` is none"));
        let told = check_name("ghp_0123456789abcdefghijklmnopqrstuvwxyzABCD").unwrap_err().to_string();
        assert!(told.contains("never given") && !told.contains("ghp_"), "{told}");
    }
}
