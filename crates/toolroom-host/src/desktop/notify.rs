//! Desktop notifications.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::DesktopError;
use super::session::{Desktop, in_short, program};
use crate::environment;
use crate::process::{Limits, Status};

const NOTIFIER: &str = "notify-send";

/// The program passes the notification on and exits.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Desktop {
    /// Shows a notification.
    pub async fn notify(&self, title: &str, message: &str) -> Result<(), DesktopError> {
        let bus = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];
        if !bus.iter().any(|name| environment::variable(name).is_some()) {
            return Err(DesktopError::NoBus);
        }
        let notifier = tokio::task::spawn_blocking(|| program(NOTIFIER, "libnotify-bin")).await;
        let missing = DesktopError::NoProgram { program: NOTIFIER, package: "libnotify-bin" };
        let mut order = notifier.map_err(|_| missing)??;
        // Nothing after the two dashes is an option.
        let words = ["--app-name=Toolroom", "--", &plain(title), &body(message)];
        order = order.with_arguments(words);
        order.limits = Limits { wall: Some(TIMEOUT), ..Limits::default() };
        let ended = self.supervisor.run(order, &CancellationToken::new()).await?;
        match ended.status {
            Status::Exited(0) => Ok(()),
            status => Err(DesktopError::Failed {
                program: NOTIFIER,
                status: status.code().unwrap_or(-1),
                said: in_short(&ended.stderr.text(1_000)),
                next: "look whether a service for notifications runs in this session: `notify-send test` in a terminal of it",
            }),
        }
    }
}

/// Joins a text to one line without control characters.
fn plain(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Escapes a message: notification servers interpret markup, links and images, and `notify-send` interprets escapes.
fn body(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' => safe.push_str("\\\\"),
            '\n' => safe.push('\n'),
            char if char.is_control() => safe.push(' '),
            char => safe.push(char),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_contains_neither_markup_nor_escapes() {
        assert_eq!(body("a <img src=\"http://x\"> & b"), "a &lt;img src=\"http://x\"&gt; &amp; b");
        assert_eq!(body("\\074b\\076\ttwo\nlines\u{1b}[2J"), "\\\\074b\\\\076 two\nlines [2J");
        assert_eq!(plain("one\ntwo\u{7}"), "one two ");
    }
}
