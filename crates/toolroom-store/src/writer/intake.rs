//! Takes in the ends of calls that changed nothing: promises their rows, and says that they are over.
//!
//! All that come at the same time are promised with one write.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::{Notify, mpsc};

use super::promises::Promises;
use super::queue::Entry;
use super::unit::{Haste, Outcome};
use crate::row::FORMAT;

/// Longest row that is promised.
const ROW_BYTES: usize = 64 * 1024;

/// Rows that are promised with one write.
const MOST: usize = 256;

/// Takes ends in until it is stopped or the last queue is gone; everything goes on to the writer, in the same order.
pub(super) async fn take_in(
    mut ended: mpsc::UnboundedReceiver<Entry>,
    promises: Arc<Promises>,
    writer: mpsc::UnboundedSender<Entry>,
    hurry: Arc<Notify>,
) {
    let (mut entries, mut lines) = (Vec::new(), Vec::new());
    while ended.recv_many(&mut entries, MOST).await > 0 {
        // Whoever is about to end as well does so first.
        let_others_run().await;
        while entries.len() < MOST
            && let Ok(entry) = ended.try_recv()
        {
            entries.push(entry);
        }
        // What comes behind the end is dropped, and so answered.
        let stop = entries.iter().position(|entry| matches!(entry, Entry::Stop(_)));
        entries.truncate(stop.map_or(entries.len(), |stop| stop + 1));
        lines.clear();
        let added: Vec<bool> = entries.iter().map(|entry| add(entry, &mut lines)).collect();
        let rows = added.iter().filter(|is_added| **is_added).count();
        let promise = if rows > 0 { promises.make(&lines, rows) } else { None };
        for (mut entry, is_added) in entries.drain(..).zip(added) {
            let mut answer = None;
            if let (Entry::Unit(unit), true, Some(promise)) = (&mut entry, is_added, promise) {
                unit.haste = Haste::Promised(promise);
                answer = unit.answer.take();
            }
            let is_urgent = match &entry {
                Entry::Unit(unit) => unit.haste == Haste::Now,
                Entry::Tell(_) | Entry::Stop(_) => true,
            };
            // If the writer has ended, what was promised is in the inbox; what was not is answered by being dropped.
            drop(writer.send(entry));
            if is_urgent {
                hurry.notify_one();
            }
            if let Some(answer) = answer {
                // Whoever no longer waits does not need it.
                drop(answer.send(Ok(Outcome::Written)));
            }
        }
        if stop.is_some() {
            return;
        }
    }
}

/// Lets everybody run who is ready. `tokio::task::yield_now` also looks for new work first, and whoever is alone would wait
/// for that.
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
fn add(entry: &Entry, lines: &mut Vec<u8>) -> bool {
    let Entry::Unit(unit) = entry else { return false };
    let Some(row) = unit.work.promisable() else { return false };
    let before = lines.len();
    lines.extend_from_slice(FORMAT.as_bytes());
    let is_written = serde_json::to_writer(&mut *lines, &row).is_ok() && lines.len() - before < ROW_BYTES;
    match is_written {
        true => lines.push(b'\n'),
        false => lines.truncate(before),
    }
    is_written
}
