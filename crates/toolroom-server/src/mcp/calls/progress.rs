//! Progress and log notifications about a call.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use toolroom::call::Progress;

use crate::mcp::context::ClientChannel;
use crate::mcp::protocol::message::notification_text;

/// The total of a progress notification.
const WHOLE: f64 = 100.0;

/// The step of progress without a fraction.
const STEP: f64 = 0.01;

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// The level with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "critical" => Self::Critical,
            "alert" => Self::Alert,
            "emergency" => Self::Emergency,
            _ => return None,
        })
    }
}

/// Sends progress and log notifications about one call.
pub(in crate::mcp) struct ProgressNotifier {
    channel: ClientChannel,
    tool: String,
    /// The client's progress token, if it wants progress.
    token: Option<Value>,
    /// Whether it wants log messages.
    wants_logs: bool,
    /// The last progress, as bits: progress has to grow.
    last: AtomicU64,
}

impl ProgressNotifier {
    /// `None` if the client wants neither.
    pub(in crate::mcp) fn new(
        channel: &ClientChannel,
        tool: &str,
        token: Option<Value>,
        level: Option<LogLevel>,
    ) -> Option<Self> {
        let wants_logs = level.is_some_and(|level| level <= LogLevel::Info);
        let wanted = !channel.is_silent() && (token.is_some() || wants_logs);
        wanted.then(|| Self {
            channel: channel.clone(),
            tool: tool.to_owned(),
            token,
            wants_logs,
            last: AtomicU64::new((-STEP).to_bits()),
        })
    }

    /// Sends the notifications for one step.
    pub(in crate::mcp) fn notify(&self, Progress { message, fraction }: &Progress) {
        if let Some(token) = &self.token {
            let last = f64::from_bits(self.last.load(Ordering::Relaxed));
            let now = fraction.map_or(last + STEP, |fraction| fraction * WHOLE);
            if now > last {
                self.last.store(now.to_bits(), Ordering::Relaxed);
                let fields = [
                    Some(("progressToken", token.clone())),
                    Some(("progress", now.into())),
                    fraction.map(|_| ("total", WHOLE.into())),
                    (!message.is_empty()).then(|| ("message", message.as_str().into())),
                ];
                let params =
                    fields.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect();
                self.channel.try_send(notification_text("notifications/progress", &params));
            }
        }
        if self.wants_logs && !message.is_empty() {
            let params = json!({"level": "info", "logger": self.tool, "data": message});
            self.channel.try_send(notification_text("notifications/message", &params));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_without_a_message_has_none() {
        let (channel, mut heard) = ClientChannel::open();
        let notifier = ProgressNotifier::new(&channel, "t", Some(json!("a")), Some(LogLevel::Info)).unwrap();
        notifier.notify(&Progress { message: String::new(), fraction: Some(0.5) });
        let told: Value = serde_json::from_str(&heard.try_recv().unwrap()).unwrap();
        assert_eq!(told["params"], json!({"progressToken": "a", "progress": 50.0, "total": 100.0}));
        assert!(heard.try_recv().is_err(), "no empty message for the log");
    }

    #[test]
    fn progress_only_grows() {
        let (channel, mut heard) = ClientChannel::open();
        let notifier = ProgressNotifier::new(&channel, "t", Some(json!("a")), None).unwrap();
        for fraction in [Some(0.0), None, Some(0.5), Some(0.2), Some(1.0)] {
            notifier.notify(&Progress { message: "m".to_owned(), fraction });
        }
        let mut told = Vec::new();
        while let Ok(text) = heard.try_recv() {
            let read: Value = serde_json::from_str(&text).unwrap();
            told.push(read["params"]["progress"].as_f64().unwrap());
        }
        assert_eq!(told, [0.0, 0.01, 50.0, 100.0]);
    }

    #[test]
    fn a_client_that_wants_no_notifications_gets_none() {
        let (channel, _heard) = ClientChannel::open();
        assert!(ProgressNotifier::new(&channel, "t", None, None).is_none());
        assert!(ProgressNotifier::new(&channel, "t", None, Some(LogLevel::Warning)).is_none());
        assert!(
            ProgressNotifier::new(&ClientChannel::silent(), "t", Some(json!(1)), Some(LogLevel::Debug))
                .is_none()
        );
        assert!(ProgressNotifier::new(&channel, "t", None, LogLevel::from_name("debug")).is_some());
    }
}
