//! ProgressNotifier of life of a call, as its client is told them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use toolroom::call::Progress;

use crate::mcp::client_channel::ClientChannel;
use crate::mcp::protocol::message::notification_text;

/// How much there is of something that is done.
const WHOLE: f64 = 100.0;

/// The least step between two signs that do not say how far the tool is.
const STEP: f64 = 0.01;

/// How much a message matters.
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
    /// The level of that name.
    pub(crate) fn of(name: &str) -> Option<Self> {
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

/// Tells a client how one of its calls comes along.
pub(in crate::mcp) struct ProgressNotifier {
    channel: ClientChannel,
    tool: String,
    /// What the client calls its call, if it wants to hear how far it is.
    token: Option<Value>,
    /// Whether it wants to read what the tool says.
    reads: bool,
    /// What was said last, as bits: it has to grow.
    last: AtomicU64,
}

impl ProgressNotifier {
    /// Nothing, where nobody wants to hear anything.
    pub(in crate::mcp) fn of(
        channel: &ClientChannel,
        tool: &str,
        token: Option<Value>,
        level: Option<LogLevel>,
    ) -> Option<Self> {
        let reads = level.is_some_and(|level| level <= LogLevel::Info);
        let wanted = !channel.is_silent() && (token.is_some() || reads);
        wanted.then(|| Self {
            channel: channel.clone(),
            tool: tool.to_owned(),
            token,
            reads,
            last: AtomicU64::new((-STEP).to_bits()),
        })
    }

    /// Passes one on.
    pub(in crate::mcp) fn pass_on(&self, Progress { message, fraction }: &Progress) {
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
                self.channel.mention(notification_text("notifications/progress", &params));
            }
        }
        if self.reads && !message.is_empty() {
            let params = json!({"level": "info", "logger": self.tool, "data": message});
            self.channel.mention(notification_text("notifications/message", &params));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_says_nothing_is_given_no_words() {
        let (channel, mut heard) = ClientChannel::open();
        let signs = ProgressNotifier::of(&channel, "t", Some(json!("a")), Some(LogLevel::Info)).unwrap();
        signs.pass_on(&Progress { message: String::new(), fraction: Some(0.5) });
        let told: Value = serde_json::from_str(&heard.try_recv().unwrap()).unwrap();
        assert_eq!(told["params"], json!({"progressToken": "a", "progress": 50.0, "total": 100.0}));
        assert!(heard.try_recv().is_err(), "no empty message for the log");
    }

    #[test]
    fn what_is_said_of_a_call_only_grows() {
        let (channel, mut heard) = ClientChannel::open();
        let signs = ProgressNotifier::of(&channel, "t", Some(json!("a")), None).unwrap();
        for fraction in [Some(0.0), None, Some(0.5), Some(0.2), Some(1.0)] {
            signs.pass_on(&Progress { message: "m".to_owned(), fraction });
        }
        let mut told = Vec::new();
        while let Ok(text) = heard.try_recv() {
            let read: Value = serde_json::from_str(&text).unwrap();
            told.push(read["params"]["progress"].as_f64().unwrap());
        }
        assert_eq!(told, [0.0, 0.01, 50.0, 100.0]);
    }

    #[test]
    fn whoever_wants_nothing_is_told_nothing() {
        let (channel, _heard) = ClientChannel::open();
        assert!(ProgressNotifier::of(&channel, "t", None, None).is_none());
        assert!(ProgressNotifier::of(&channel, "t", None, Some(LogLevel::Warning)).is_none());
        assert!(
            ProgressNotifier::of(&ClientChannel::silent(), "t", Some(json!(1)), Some(LogLevel::Debug))
                .is_none()
        );
        assert!(ProgressNotifier::of(&channel, "t", None, LogLevel::of("debug")).is_some());
    }
}
