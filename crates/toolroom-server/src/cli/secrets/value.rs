//! Reads the value of a secret from a hidden prompt or stdin, never from the command line.

use std::io::{self, IsTerminal, Read};

use toolroom_host::terminal::Terminal;
use zeroize::Zeroizing;

use crate::cli::console::exit::Usage;
use crate::cli::console::output::{Output, single_line};
use crate::vault::{SecretNameError, check_secret_name};

/// Limit of a value.
const MAX_BYTES: usize = 64 * 1_024;

/// Length of a line end after a piped value.
const MAX_LINE_END: usize = 2;

pub(super) enum SecretInput {
    Value(Zeroizing<String>),
    /// Ctrl-C at the prompt.
    Interrupted,
}

/// Checks the name of a new secret.
pub(super) fn check_name(name: &str) -> Result<(), Usage> {
    check_secret_name(name).map_err(|error| match error {
        SecretNameError::IsValue => on_the_command_line(),
        SecretNameError::NotPlain => Usage(format!("{error}; `{}` is none", single_line(name))),
    })
}

/// Error for a value on the command line.
pub(super) fn on_the_command_line() -> Usage {
    Usage(
        "values are never given on the command line: other processes can read them there, and your shell may keep \
         them in its history. Nothing was stored. Remove the value from the history, change it if it was exposed, \
         and enter it at the prompt (`toolroom secrets set NAME`) or pipe it in (`… | toolroom secrets set NAME`)"
            .to_owned(),
    )
}

/// Reads the value from the terminal or a pipe.
pub(super) async fn read(name: &str, output: Output) -> anyhow::Result<SecretInput> {
    if !io::stdin().is_terminal() {
        return Ok(SecretInput::Value(piped(io::stdin().lock())?));
    }
    let Some(terminal) = Terminal::open() else {
        let text = "no terminal for the hidden prompt; pipe the value in";
        return Err(Usage(text.to_owned()).into());
    };
    output.talk(format_args!("Value of `{name}` (not shown):"));
    let value = match typed(terminal).await {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(SecretInput::Interrupted),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let instead = format!("use standard input: `toolroom secrets set {name} < FILE`");
            return Err(Usage(format!("{error}; nothing was stored; {instead}")).into());
        }
        value => value?.unwrap_or_default(),
    };
    checked(&value)?;
    // Reveals a value that was pasted in part or twice.
    output.talk(format_args!("{} characters", value.chars().count()));
    Ok(SecretInput::Value(value))
}

/// Reads a hidden line on a blocking thread.
async fn typed(mut terminal: Terminal) -> io::Result<Option<Zeroizing<String>>> {
    let read = tokio::task::spawn_blocking(move || {
        terminal.discard_typed_ahead()?;
        terminal.read_hidden_line()
    });
    read.await.map_err(io::Error::other)?
}

/// Reads all input without the final line end that `echo` and editors add.
fn piped(input: impl Read) -> anyhow::Result<Zeroizing<String>> {
    // Allocated once, so that no copy stays in memory.
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
        "the value is empty; nothing was stored".to_owned()
    } else if value.len() > MAX_BYTES {
        format!("the value is longer than {MAX_BYTES} bytes")
    } else if value.contains('\0') {
        "the value contains a NUL character, which cannot be passed to programs".to_owned()
    } else {
        return Ok(());
    };
    Err(Usage(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_final_line_end_is_not_part_of_a_value() {
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
    fn invalid_values_are_refused_without_printing_them() {
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
    fn an_error_prints_an_invalid_name_but_no_value() {
        check_name("GITHUB_TOKEN").unwrap();
        assert!(check_name("a b").unwrap_err().to_string().contains("`a b` is none"));
        let told = check_name("ghp_0123456789abcdefghijklmnopqrstuvwxyzABCD").unwrap_err().to_string();
        assert!(told.contains("never given") && !told.contains("ghp_"), "{told}");
    }
}
