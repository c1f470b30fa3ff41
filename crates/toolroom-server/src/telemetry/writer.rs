//! Writes the log on its own thread. Logging never blocks: lines that do not fit the queue are dropped and counted.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock as _, SystemClock};
use tracing::Level;

use super::RedactFn;
use super::log_line::{EventFields, LogContent, LogRecord, RedactedRecord};

/// Capacity of the queue; as many lines may be in writing.
const QUEUE_LINES: usize = 8_192;

/// Capacity that is kept after a burst, so that the usual load reuses warm memory.
const KEPT_CAPACITY: usize = 1_024;

/// How long lines are collected into one write, to save context switches and system calls.
const BATCH_DELAY: Duration = Duration::from_millis(10);

/// Bytes per write.
const WRITE_BYTES: usize = 64 * 1024;

/// How long shutdown waits for pending lines.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Queues lines for the writer thread.
pub(super) struct Writer {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when the queue becomes non-empty or closes.
    wake: Condvar,
    /// Lines dropped since the last report.
    lost: AtomicU64,
    is_json: AtomicBool,
}

#[derive(Default)]
struct Queue {
    commands: Vec<WriterCommand>,
    /// No more lines, or the writer thread has ended.
    is_closed: bool,
}

enum WriterCommand {
    Write(LogRecord),
    /// Answers once all earlier lines are written.
    Flush(SyncSender<()>),
}

impl Shared {
    /// Queues a command. Fails if the queue is closed, or full and it is a line.
    fn add(&self, command: WriterCommand) -> bool {
        let mut queue = self.lock();
        let before = queue.commands.len();
        if queue.is_closed || (before >= QUEUE_LINES && matches!(command, WriterCommand::Write(_))) {
            return false;
        }
        queue.commands.push(command);
        drop(queue);
        if before == 0 {
            self.wake.notify_one();
        }
        true
    }

    /// Waits for commands, collects lines for a moment, then takes all. `None` once closed.
    fn take(&self, mut commands: Vec<WriterCommand>) -> Option<Vec<WriterCommand>> {
        let is_idle = |queue: &mut Queue| queue.commands.is_empty() && !queue.is_closed;
        let queue = self.wake.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let is_line = matches!(queue.commands.first()?, WriterCommand::Write(_));
        drop(queue);
        if is_line {
            std::thread::sleep(BATCH_DELAY);
        }
        std::mem::swap(&mut commands, &mut self.lock().commands);
        Some(commands)
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Starts the thread, which writes redacted lines to `out`.
    pub(super) fn start(
        out: impl io::Write + Send + 'static,
        redact: RedactFn,
        is_json: bool,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { is_json: AtomicBool::new(is_json), ..Shared::default() });
        let known = Arc::clone(&shared);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            let thread = Thread(known);
            work(out, redact, &thread.0);
        })?;
        Ok(Self { shared })
    }

    pub(super) fn write_json(&self, is_json: bool) {
        self.shared.is_json.store(is_json, Ordering::Relaxed);
    }

    pub(super) fn write(&self, record: LogRecord) {
        if !self.shared.add(WriterCommand::Write(record)) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until pending lines are written, at most [`SHUTDOWN_TIMEOUT`].
    pub(super) fn finish(&self) {
        let (sender, done) = sync_channel(1);
        self.shared.add(WriterCommand::Flush(sender));
        let _in_time = done.recv_timeout(SHUTDOWN_TIMEOUT);
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Queued lines are not redacted yet.
        formatter.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.close();
    }
}

/// Closes the queue when the writer thread ends.
struct Thread(Arc<Shared>);

impl Drop for Thread {
    fn drop(&mut self) {
        // Also on panic, so that no flush waits forever.
        self.0.close();
        let left = std::mem::take(&mut self.0.lock().commands);
        drop(left);
    }
}

fn work(mut out: impl io::Write, redact: RedactFn, shared: &Shared) {
    let mut lines = Vec::new();
    let add = |record: &LogRecord, lines: &mut Vec<u8>| {
        let line = RedactedRecord { record, redact };
        match shared.is_json.load(Ordering::Relaxed) {
            // Cannot fail: text and numbers into memory.
            true => drop(serde_json::to_writer(&mut *lines, &line)),
            false => lines.extend_from_slice(line.text().as_bytes()),
        }
        lines.push(b'\n');
    };
    let report_lost = |lines: &mut Vec<u8>| {
        let lost = shared.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let message = "dropped log lines: the reader is too slow".to_owned();
            let content = LogContent::Event(EventFields { message, fields: vec![("lines", lost.into())] });
            let at = SystemClock.now();
            let record = LogRecord { at, level: Level::WARN, target: module_path!(), content, request: None };
            add(&record, lines);
        }
    };
    let mut is_broken = false;
    let mut write = |lines: &mut Vec<u8>| {
        // Ends a partial line, such as one cut off by a full disk.
        if is_broken {
            lines.insert(0, b'\n');
        }
        // A failed write cannot be reported anywhere.
        let written = write_all(&mut out, lines);
        if let Some(last) = written.checked_sub(1) {
            is_broken = lines.get(last) != Some(&b'\n');
        }
        lines.clear();
    };
    let mut room = Vec::new();
    while let Some(mut commands) = shared.take(room) {
        for command in commands.drain(..) {
            match command {
                WriterCommand::Write(record) => add(&record, &mut lines),
                WriterCommand::Flush(done) => {
                    report_lost(&mut lines);
                    write(&mut lines);
                    // The caller may have timed out.
                    let _gone = done.send(());
                }
            }
            if lines.len() >= WRITE_BYTES {
                write(&mut lines);
            }
        }
        commands.shrink_to(KEPT_CAPACITY);
        room = commands;
        report_lost(&mut lines);
        if !lines.is_empty() {
            write(&mut lines);
        }
    }
}

/// Writes as much as possible. Returns the number of bytes.
fn write_all(out: &mut impl io::Write, bytes: &[u8]) -> usize {
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

    /// Accepts a write when told to.
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

    fn record(text: String) -> LogRecord {
        let content = LogContent::Event(EventFields { message: text, fields: Vec::new() });
        LogRecord { at: SystemClock.now(), level: Level::INFO, target: "t", content, request: None }
    }

    #[test]
    fn a_slow_reader_costs_lines_but_no_time() {
        let ((go, wait), (sent, lines)) = (channel(), channel());
        let writer = Writer::start(Slow(wait, sent), |text| text.into(), true).unwrap();
        // More than fit the queue and the batch in writing.
        let all = 4 * QUEUE_LINES;
        for number in 0..all {
            writer.write(record(format!("line {number}")));
        }
        let _pieces = (0..all).try_for_each(|_| go.send(()));
        let (mut kept, mut lost) = (0, 0);
        // Every line is either written or counted.
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

    /// Panics at the first write.
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
    fn a_panic_of_the_writer_thread_blocks_no_caller() {
        let writer = Writer::start(Broken, |text| text.into(), true).unwrap();
        writer.write(record("first".to_owned()));
        // Returns by an answer or by the end of the thread.
        writer.finish();
        while !writer.shared.lock().is_closed {
            std::thread::yield_now();
        }
        writer.write(record("later".to_owned()));
        assert_eq!(writer.shared.lost.load(Ordering::Relaxed), 1);
        assert!(writer.shared.lock().commands.is_empty());
    }

    /// A disk with limited space.
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
    fn a_partial_line_does_not_corrupt_the_next() {
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
