//! A stream of events, read as it comes.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::wire::{Asked, Wire};

/// Timeout of an event, keep-alives aside.
const PATIENCE: Duration = Duration::from_secs(60);

/// An event, and the place after it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) event: Value,
}

impl Told {
    fn read(block: &str) -> Option<Self> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let event = serde_json::from_str(field("data: ")?).unwrap();
        Some(Self { id: field("id: ").unwrap_or_default().to_owned(), event })
    }

    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }

    /// Its number in the run.
    pub(crate) fn seq(&self) -> u64 {
        self.id.rsplit('-').next().unwrap().parse().unwrap()
    }
}

/// The events of a stream that has ended.
pub(crate) fn events(text: &str) -> Vec<Told> {
    text.split("\n\n").filter_map(Told::read).collect()
}

/// A stream that is open.
pub(crate) struct Stream {
    wire: Wire,
    text: String,
    /// How it ended: in order, or cut off.
    pub(crate) end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    CutOff,
}

impl Stream {
    pub(crate) fn open(mut wire: Wire, asked: &Asked) -> Self {
        wire.send(asked);
        Self::of(wire)
    }

    /// What comes on a connection that was asked for it.
    pub(crate) fn of(mut wire: Wire) -> Self {
        wire.head().is(200);
        Self { wire, text: String::new(), end: None }
    }

    /// What is told next; nothing, once it has ended.
    pub(crate) fn next(&mut self) -> Option<Told> {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "nothing more is told");
            while let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                // Signs of life are nothing that happens.
                if let Some(told) = Told::read(&block) {
                    return Some(told);
                }
            }
            if self.end.is_some() {
                return None;
            }
            match self.wire.chunk() {
                Ok(piece) if piece.is_empty() => self.end = Some(End::Whole),
                Ok(piece) => self.text.push_str(std::str::from_utf8(&piece).unwrap()),
                Err(_) => self.end = Some(End::CutOff),
            }
        }
    }

    /// What is left, to the end.
    pub(crate) fn rest(&mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// What is told, up to something that is waited for.
    #[track_caller]
    pub(crate) fn until(&mut self, mut is_it: impl FnMut(&Told) -> bool) -> Vec<Told> {
        let mut told = Vec::new();
        while let Some(next) = self.next() {
            let found = is_it(&next);
            told.push(next);
            if found {
                return told;
            }
        }
        panic!("it never came to that: {told:?}")
    }
}
