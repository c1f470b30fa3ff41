//! Trace and span ids, and the `traceparent` header of W3C Trace Context.

use std::fmt;

use axum::http::HeaderMap;
use toolroom::clock::Clock;

const HEADER: &str = "traceparent";

const SAMPLED: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanContext {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) sampled: bool,
}

/// Sixteen bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceId(u128);

/// Eight bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanId(u64);

impl fmt::Display for TraceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl SpanContext {
    /// A new trace.
    pub(super) fn root(clock: &dyn Clock) -> Self {
        Self { trace: TraceId(clock.random_id().as_u128()), span: SpanId::fresh(clock), sampled: true }
    }

    pub(super) fn child(self, clock: &dyn Clock) -> Self {
        Self { span: SpanId::fresh(clock), ..self }
    }

    /// The parent span that a client sends.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(HEADER).iter();
        let value = values.next()?.to_str().ok()?;
        // Several headers are ambiguous, so they are ignored.
        if values.next().is_some() { None } else { Self::read(value.trim()) }
    }

    /// Reads `00-TRACE-SPAN-FLAGS`. Later versions may add more behind it.
    pub(in crate::telemetry) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        let trace = hex(parts.next()?, 32)?;
        let span = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        let is_whole = parts.next().is_none() || version > 0;
        (is_whole && version != u8::MAX && trace != 0 && span != 0).then_some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            sampled: flags & SAMPLED != 0,
        })
    }
}

impl SpanId {
    fn fresh(clock: &dyn Clock) -> Self {
        // The first half has the version in it, so it is never zero.
        Self(clock.random_id().as_u64_pair().0)
    }
}

/// So many small hex digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_hex)).then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod context_tests {
    use proptest::prelude::*;

    use super::*;

    const REST: &str = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_a_sender_says_is_read_whole_or_not_at_all() {
        let given = format!("00{REST}");
        let read = SpanContext::read(&given).unwrap();
        assert_eq!(read.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(read.span.to_string(), "00f067aa0ba902b7");
        assert!(read.sampled && !SpanContext::read(&given.replace("-01", "-00")).unwrap().sampled);
        assert!(SpanContext::read(&format!("cc{REST}-more")).is_some(), "a later version");
        for wrong in [
            "",
            "00",
            &given.to_uppercase(),
            &format!("0{REST}"),
            &format!("{given}-more"),
            &format!("ff{REST}"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(SpanContext::read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_sent_makes_reading_panic(text in "\\PC{0,80}|[0-9a-f-]{0,80}") {
            let _read = SpanContext::read(&text);
        }
    }
}
