//! Takes in the ends of calls that changed nothing: promises their rows, and says that they are over.
//!
//! All that come at the same time are promised with one write. Whoever brings one lets everybody run who is ready; the
//! first to come back promises what has come together, for all of them.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::sync::{Notify, mpsc};

use super::promises::Promises;
use super::queue::Entry;
use super::unit::{Haste, Outcome, Unit};
use crate::row::FORMAT;

/// Longest row that is promised.
const ROW_BYTES: usize = 64 * 1024;

/// Nobody is waited for once there is so much.
const ENOUGH_BYTES: usize = 256 * 1024;

/// Where ends are taken in. Everything goes on to the writer, in the same order.
#[derive(Debug)]
pub(super) struct Intake {
    gathered: Mutex<Gathered>,
    promises: Arc<Promises>,
    writer: mpsc::UnboundedSender<Entry>,
    hurry: Arc<Notify>,
}

/// What has come together and is not yet promised.
#[derive(Debug, Default)]
struct Gathered {
    /// How often something was promised before.
    number: u64,
    units: Vec<Unit>,
    lines: Vec<u8>,
    /// Nothing is taken in any more.
    is_over: bool,
}

/// The right to promise what has come together, if nobody has by then: at the latest when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    intake: Arc<Intake>,
    number: u64,
}

impl Intake {
    pub(super) fn new(
        promises: Arc<Promises>,
        writer: mpsc::UnboundedSender<Entry>,
        hurry: Arc<Notify>,
    ) -> Arc<Self> {
        Arc::new(Self { gathered: Mutex::default(), promises, writer, hurry })
    }

    pub(super) const fn promises(&self) -> &Arc<Promises> {
        &self.promises
    }

    /// Takes one in. What cannot be promised goes to the writer at once, and what comes behind the end is dropped, and so
    /// answered.
    pub(super) fn take_in(self: &Arc<Self>, unit: Unit) -> Option<Turn> {
        let mut gathered = self.gathered();
        if gathered.is_over {
            return None;
        }
        if !add(&unit, &mut gathered.lines) {
            drop(gathered);
            self.hand_on(unit);
            return None;
        }
        gathered.units.push(unit);
        let turn = Turn { intake: Arc::clone(self), number: gathered.number };
        let is_enough = gathered.lines.len() >= ENOUGH_BYTES;
        drop(gathered);
        // It has its turn now.
        (!is_enough).then_some(turn)
    }

    /// Takes nothing in any more.
    pub(super) fn end(&self) {
        let number = {
            let mut gathered = self.gathered();
            gathered.is_over = true;
            gathered.number
        };
        self.promise(number);
    }

    /// Promises what has come together, unless that was done since.
    fn promise(&self, number: u64) {
        let (mut units, mut lines) = {
            let mut gathered = self.gathered();
            if gathered.number != number {
                return;
            }
            gathered.number += 1;
            (std::mem::take(&mut gathered.units), std::mem::take(&mut gathered.lines))
        };
        let promise = if units.is_empty() { None } else { self.promises.make(&lines, units.len()) };
        for mut unit in units.drain(..) {
            let Some(promise) = promise else {
                self.hand_on(unit);
                continue;
            };
            unit.haste = Haste::Promised(promise);
            let answer = unit.answer.take();
            // If the writer has ended, it is in the inbox.
            drop(self.writer.send(Entry::Unit(unit)));
            // Whoever no longer waits does not need it.
            drop(answer.map(|answer| answer.send(Ok(Outcome::Written))));
        }
        lines.clear();
        // The room it took serves the next ones.
        let mut gathered = self.gathered();
        if gathered.units.capacity() == 0 {
            (gathered.units, gathered.lines) = (units, lines);
        }
    }

    /// To the writer, for whom somebody waits. If it has ended, that is answered by being dropped.
    fn hand_on(&self, unit: Unit) {
        drop(self.writer.send(Entry::Unit(unit)));
        self.hurry.notify_one();
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Lets everybody run who is ready, and promises what has come together.
    pub(super) async fn come(self) {
        let_others_run().await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.intake.promise(self.number);
    }
}

/// `tokio::task::yield_now` also looks for new work first, and whoever is alone would wait for that.
async fn let_others_run() {
    let mut is_back = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_back, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Adds the line of a row that can be promised.
fn add(unit: &Unit, lines: &mut Vec<u8>) -> bool {
    let Some(row) = unit.work.promisable() else { return false };
    let before = lines.len();
    lines.extend_from_slice(FORMAT.as_bytes());
    row.write_line(lines);
    let fits = lines.len() - before < ROW_BYTES;
    match fits {
        true => lines.push(b'\n'),
        false => lines.truncate(before),
    }
    fits
}
