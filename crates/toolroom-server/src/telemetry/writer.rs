//! Writes the log. A reader that is slow, or gone, keeps nobody from their work: what cannot be written in time is
//! left out, and counted.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock as _, SystemClock};
use tracing::Level;

use super::Hide;
use super::line::{Record, Said, Told, Words};

/// Lines that may wait while as many are being written.
const WAITING: usize = 8_192;

/// Lines whose room is kept when they are written: those of an ordinary moment, so that the next ones come to memory that
/// was just used.
const ROOM: usize = 1_024;

/// How long lines gather before they are written together: each one alone would cost a change of threads and a write.
const GATHER: Duration = Duration::from_millis(10);

/// Text that is written at once.
const PIECE: usize = 64 * 1024;

/// How long the end of the process waits for its last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Hands lines to the thread that writes them.
pub(super) struct Writer {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Rings when something waits where nothing did, and when nothing more comes.
    came: Condvar,
    /// Lines that were left out since that was last told.
    lost: AtomicU64,
    is_json: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    orders: Vec<Order>,
    /// Nothing more comes, or nobody is left to write it.
    is_over: bool,
}

enum Order {
    Write(Record),
    /// Says when everything before is written.
    Tell(SyncSender<()>),
}

impl Shared {
    /// Adds an order, if somebody is there to take it; a line only as long as there is room.
    fn add(&self, order: Order) -> bool {
        let mut waiting = self.lock();
        let before = waiting.orders.len();
        if waiting.is_over || (before >= WAITING && matches!(order, Order::Write(_))) {
            return false;
        }
        waiting.orders.push(order);
        drop(waiting);
        if before == 0 {
            self.came.notify_one();
        }
        true
    }

    /// Waits until there are orders, lets lines gather, and takes all of them. None once nothing more comes.
    fn take(&self, mut orders: Vec<Order>) -> Option<Vec<Order>> {
        let is_idle = |waiting: &mut Waiting| waiting.orders.is_empty() && !waiting.is_over;
        let waiting = self.came.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let is_line = matches!(waiting.orders.first()?, Order::Write(_));
        drop(waiting);
        if is_line {
            std::thread::sleep(GATHER);
        }
        std::mem::swap(&mut orders, &mut self.lock().orders);
        Some(orders)
    }

    /// Nothing more comes.
    fn end(&self) {
        self.lock().is_over = true;
        self.came.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Starts the thread, which writes to `out` what `hide` leaves of each line.
    pub(super) fn start(out: impl io::Write + Send + 'static, hide: Hide, is_json: bool) -> io::Result<Self> {
        let shared = Arc::new(Shared { is_json: AtomicBool::new(is_json), ..Shared::default() });
        let known = Arc::clone(&shared);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            let thread = Thread(known);
            work(out, hide, &thread.0);
        })?;
        Ok(Self { shared })
    }

    pub(super) fn write_json(&self, is_json: bool) {
        self.shared.is_json.store(is_json, Ordering::Relaxed);
    }

    pub(super) fn write(&self, record: Record) {
        if !self.shared.add(Order::Write(record)) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything is written, but not for long: whoever does not read does not get the rest.
    pub(super) fn finish(&self) {
        let (told, done) = sync_channel(1);
        self.shared.add(Order::Tell(told));
        let _in_time = done.recv_timeout(LAST_LINES);
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What waits may hold what nobody has hidden yet.
        formatter.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// The thread that writes.
struct Thread(Arc<Shared>);

impl Drop for Thread {
    fn drop(&mut self) {
        // Also when it broke: nobody waits any more for what it would have written.
        self.0.end();
        let left = std::mem::take(&mut self.0.lock().orders);
        drop(left);
    }
}

fn work(mut out: impl io::Write, hide: Hide, shared: &Shared) {
    let mut lines = Vec::new();
    let add = |record: &Record, lines: &mut Vec<u8>| {
        let told = Told { record, hide };
        match shared.is_json.load(Ordering::Relaxed) {
            // Texts and numbers under names, and memory to write them to: nothing can fail.
            true => drop(serde_json::to_writer(&mut *lines, &told)),
            false => lines.extend_from_slice(told.text().as_bytes()),
        }
        lines.push(b'\n');
    };
    let own_up = |lines: &mut Vec<u8>| {
        let lost = shared.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let message = "lines of the log are left out: whoever reads it is too slow".to_owned();
            let said = Said::Words(Words { message, fields: vec![("lines", lost.into())] });
            let at = SystemClock.now();
            let record = Record { at, level: Level::WARN, target: module_path!(), said, visit: None };
            add(&record, lines);
        }
    };
    let mut is_broken = false;
    let mut write = |lines: &mut Vec<u8>| {
        // What is left of a line that broke off, on a disk that was full, spoils no other one.
        if is_broken {
            lines.insert(0, b'\n');
        }
        // Nobody is left to be told that nothing can be told.
        let written = put(&mut out, lines);
        if let Some(last) = written.checked_sub(1) {
            is_broken = lines.get(last) != Some(&b'\n');
        }
        lines.clear();
    };
    let mut room = Vec::new();
    while let Some(mut orders) = shared.take(room) {
        for order in orders.drain(..) {
            match order {
                Order::Write(record) => add(&record, &mut lines),
                Order::Tell(told) => {
                    own_up(&mut lines);
                    write(&mut lines);
                    // Whoever no longer waits need not know.
                    let _gone = told.send(());
                }
            }
            if lines.len() >= PIECE {
                write(&mut lines);
            }
        }
        orders.shrink_to(ROOM);
        room = orders;
        own_up(&mut lines);
        if !lines.is_empty() {
            write(&mut lines);
        }
    }
}

/// Writes as much as is taken; says how much that was.
fn put(out: &mut impl io::Write, bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(0) => break,
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _flushed = out.flush();
    bytes.len() - rest.len()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Takes a piece when it is told to.
    struct Slow(Receiver<()>, Sender<String>);

    impl io::Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.send(String::from_utf8_lossy(bytes).into_owned()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(text: String) -> Record {
        let said = Said::Words(Words { message: text, fields: Vec::new() });
        Record { at: SystemClock.now(), level: Level::INFO, target: "t", said, visit: None }
    }

    #[test]
    fn a_reader_that_is_too_slow_costs_lines_and_no_time() {
        let ((go, wait), (told, lines)) = (channel(), channel());
        let writer = Writer::start(Slow(wait, told), |text| text.into(), true).unwrap();
        // More than wait, and are being written.
        let all = 4 * WAITING;
        for number in 0..all {
            writer.write(record(format!("line {number}")));
        }
        let _pieces = (0..all).try_for_each(|_| go.send(()));
        let (mut kept, mut lost) = (0, 0);
        // Each is written or counted, or this never ends.
        while kept + lost < all as u64 {
            for line in lines.recv().unwrap().lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                match line["lines"].as_u64() {
                    Some(count) => lost += count,
                    None => kept += 1,
                }
            }
        }
        assert!(lost > 0 && kept > 0, "{kept} of {all}");
        writer.finish();
    }

    /// Breaks at the first word.
    struct Broken;

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("a mistake")
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_thread_that_breaks_holds_up_nobody_and_keeps_nothing() {
        let writer = Writer::start(Broken, |text| text.into(), true).unwrap();
        writer.write(record("first".to_owned()));
        // Somebody who waits is told, by an answer or by its end.
        writer.finish();
        while !writer.shared.lock().is_over {
            std::thread::yield_now();
        }
        writer.write(record("later".to_owned()));
        assert_eq!(writer.shared.lost.load(Ordering::Relaxed), 1);
        assert!(writer.shared.lock().orders.is_empty());
    }

    /// A disk with room for so many bytes.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<(usize, Vec<u8>)>>);

    impl io::Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let taken = bytes.len().min(disk.0 - disk.1.len());
            disk.1.extend_from_slice(&bytes[..taken]);
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_breaks_off_spoils_no_other_one() {
        let disk = Disk(Arc::new(Mutex::new((250, Vec::new()))));
        let writer = Writer::start(disk.clone(), |text| text.into(), true).unwrap();
        let tell = |words: &str| (0..4).for_each(|number| writer.write(record(format!("{words} {number}"))));
        tell("before");
        writer.finish();
        disk.0.lock().unwrap().0 = 10_000;
        tell("after");
        writer.finish();
        let log = String::from_utf8(disk.0.lock().unwrap().1.clone()).unwrap();
        let (whole, broken): (Vec<&str>, Vec<&str>) =
            log.lines().partition(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert_eq!(
            (whole.iter().filter(|line| line.contains("after")).count(), broken.len()),
            (4, 1),
            "{log}"
        );
    }
}
