//! The task that writes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Notify, mpsc};
use tokio::task::yield_now;
use tokio::time::Instant;
use toolroom::clock::Timestamp;
use toolroom::conversation::{RunId, StepError};
use toolroom::ledger::CallId;

use super::batch::Batch;
use super::large::Large;
use super::promises::{ENOUGH, Promises};
use super::queue::Entry;
use super::transaction::{Frame, Us, Written, run};
use super::unit::{Answer, Durability, Haste, Outcome, Refusal, Unit, Work};
use crate::connect::{Purpose, connect};
use crate::conversation::Hold;
use crate::instance::{EXPIRE_EVERY, HEARTBEAT_EVERY, Instance};
use crate::notice::tell;
use crate::{StoreError, statements};

/// How long promised rows gather before they are written together.
const GATHER: Duration = Duration::from_millis(100);

/// When promised rows that the database did not take are tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// How often a locked database is asked for again. Each time SQLite has already waited its own ten seconds.
const LOCK_TRIES: u32 = 3;

/// The writer's own state.
#[derive(Debug)]
pub(super) struct Writer {
    /// Absent after it broke, until the next batch.
    connection: Option<SqliteConnection>,
    path: PathBuf,
    instance: Instance,
    /// How hard the connection commits at present.
    level: Durability,
    /// Written inside a savepoint; it counts once the transaction around it is committed.
    uncommitted_heartbeat: Option<Timestamp>,
    /// Begun by us and not yet closed: as long as there are any, we say that we live.
    open: HashSet<CallId>,
    /// Taken by us and still running: the same holds for them.
    runs: HashSet<RunId>,
    /// Programs of ours in the background: for them, too.
    programs: HashSet<u64>,
    /// What is promised.
    promises: Option<Arc<Promises>>,
    /// Somebody waits.
    hurry: Arc<Notify>,
    /// Too large to be written before anything else.
    large: Large,
    /// Promised, and not taken by the database.
    owed: Vec<Unit>,
    /// When that is tried again.
    pay_at: Instant,
}

impl Writer {
    /// `connection` commits as [`Durability::Process`].
    pub(super) fn new(
        connection: SqliteConnection,
        path: PathBuf,
        instance: Instance,
        promises: Option<Arc<Promises>>,
        hurry: Arc<Notify>,
    ) -> Self {
        Self {
            connection: Some(connection),
            path,
            instance,
            level: Durability::Process,
            uncommitted_heartbeat: None,
            open: HashSet::new(),
            runs: HashSet::new(),
            programs: HashSet::new(),
            promises,
            hurry,
            large: Large::default(),
            owed: Vec::new(),
            pay_at: Instant::now(),
        }
    }

    /// Writes until the queue ends or somebody stops it.
    pub(super) async fn run(mut self, mut queued: mpsc::UnboundedReceiver<Entry>) {
        let mut waiting = None;
        let mut stop = None;
        let mut expire_at = Instant::now() + EXPIRE_EVERY;
        while stop.is_none() {
            let mut next = match waiting.take() {
                Some(unit) => Some(Entry::Unit(unit)),
                None => tokio::select! {
                    entry = queued.recv() => entry,
                    () = self.large.hashed() => {
                        self.write_large().await;
                        continue;
                    }
                    () = async { tokio::time::sleep(HEARTBEAT_EVERY).await }, if self.is_at_work() => {
                        self.write(Batch::default()).await;
                        continue;
                    }
                    () = tokio::time::sleep_until(self.pay_at), if !self.owed.is_empty() => {
                        self.pay().await;
                        continue;
                    }
                    () = tokio::time::sleep_until(expire_at) => {
                        self.expire_overdue().await;
                        expire_at = Instant::now() + EXPIRE_EVERY;
                        continue;
                    }
                },
            };
            if next.is_none() {
                break;
            }
            self.gather(next.as_ref(), queued.len()).await;
            let mut batch = Batch::with_room(1 + queued.len());
            let mut told = Vec::new();
            while let Some(entry) = next.take() {
                match entry {
                    Entry::Unit(unit) => waiting = self.large.put(unit).and_then(|unit| batch.admit(unit)),
                    Entry::Tell(tell) => told.push(tell),
                    Entry::Stop(stopped) => stop = Some(stopped),
                }
                if waiting.is_none() && stop.is_none() {
                    next = queued.try_recv().ok();
                }
            }
            // A command that only read leaves without asking for the write lock.
            if !batch.is_empty() {
                self.write(batch).await;
            }
            // Whoever wants to read waits for that, too; whoever comes all the time does not put it off.
            if !self.owed.is_empty() && (!told.is_empty() || self.pay_at <= Instant::now()) {
                self.pay().await;
            }
            for tell in told {
                // Whoever no longer waits does not need to know.
                let _gone = tell.send(());
            }
            // Nor does whoever comes all the time put this off.
            if self.large.is_hashed() {
                self.write_large().await;
            }
        }
        while self.write_large().await {}
        self.pay().await;
        let ended = self.end().await;
        if let Some(stop) = stop {
            // Whoever stopped us and left does not need to know.
            drop(stop.send(ended));
        }
    }

    /// Writes one large unit alone, so that whoever comes meanwhile waits for no other. Says whether there was one.
    async fn write_large(&mut self) -> bool {
        let Some(unit) = self.large.take() else { return false };
        let mut batch = Batch::default();
        // An empty batch takes whatever it is given.
        drop(batch.admit(unit));
        self.write(batch).await;
        true
    }

    /// Lets others come, too: one commit costs as much as that of all of them.
    async fn gather(&self, first: Option<&Entry>, behind_it: usize) {
        let nobody_waits = matches!(first, Some(Entry::Unit(unit)) if unit.haste != Haste::Now);
        if nobody_waits && self.promises.is_some() && behind_it < ENOUGH {
            // If somebody has hurried before, it is only a shorter wait.
            drop(tokio::time::timeout(GATHER, self.hurry.notified()).await);
        }
        // Whoever is about to write as well does so first.
        yield_now().await;
    }

    /// Writes what was promised and could not be written.
    async fn pay(&mut self) {
        let mut batch = Batch::default();
        let owed = std::mem::take(&mut self.owed);
        self.owed.extend(owed.into_iter().filter_map(|unit| batch.admit(unit)));
        if !batch.is_empty() {
            self.write(batch).await;
        }
        self.pay_at = Instant::now() + TRY_AGAIN;
    }

    fn tell_whether_behind(&self) {
        if let Some(promises) = &self.promises {
            promises.fall_behind(!self.owed.is_empty());
        }
    }

    /// Answers with no what nobody answered in time.
    async fn expire_overdue(&mut self) {
        let Some(connection) = self.connection.as_mut() else { return };
        if let Err(error) = self.instance.expire_overdue(connection).await {
            let error = self.failed(error);
            self.undo(Frame::Transaction).await;
            tracing::debug!(path = %self.path.display(), %error, "what is overdue is looked at later");
        }
    }

    /// Writes a batch and answers its units.
    pub(super) async fn write(&mut self, batch: Batch) {
        let durability = batch.durability();
        let mut units = batch.into_units();
        for unit in &mut units {
            if let Work::Close(_, hashes) = &mut unit.work {
                // Before anybody has to wait for the lock.
                hashes.settle().await;
            }
        }
        let answers = self.answers(&units, durability).await;
        if let Some(notice) = self.instance.notice()
            && units.iter().any(|unit| unit.work.changes_standing())
        {
            tell(notice.as_ref()).await;
        }
        let mut kept = Vec::new();
        for (unit, answer) in units.into_iter().zip(answers) {
            if let Haste::Promised(promise) = unit.haste {
                match &answer {
                    Err(Refusal::Store(StoreError::AlreadyRecorded(_))) => {}
                    Err(Refusal::Store(error)) if !error.is_about_the_row() => {
                        self.owed.push(unit);
                        continue;
                    }
                    Err(error) => tracing::error!(%error, "a row that was promised can never be written"),
                    Ok(_) => {}
                }
                kept.push(promise);
            }
            if let (Work::Begin(begin), Ok(_)) = (&unit.work, &answer) {
                self.open.insert(begin.record.id.clone());
            }
            // Also when it failed: nobody will try again, and the row must not be taken for a living call.
            if let Some(call) = unit.work.ends() {
                self.open.remove(call);
            }
            self.note_run(&unit.work, &answer);
            self.note_program(&unit.work, &answer);
            // Whoever no longer waits does not need it.
            drop(unit.answer.map(|waiting| waiting.send(answer)));
        }
        if let Some(promises) = &self.promises {
            promises.keep(kept.into_iter());
        }
        self.tell_whether_behind();
    }

    /// Keeps track of the runs we work on.
    fn note_run(&mut self, work: &Work, answer: &Answer) {
        match (work, answer) {
            (Work::Run(change), Ok(_)) if change.keeps_running() => {
                self.runs.insert(change.run.id.clone());
            }
            // Also when a step failed: if nobody tries again, others may go on with the run.
            (Work::Run(change), Ok(_) | Err(Refusal::NotStepped(StepError::Lost(_)) | Refusal::Store(_))) => {
                self.runs.remove(&change.run.id);
            }
            (Work::Hold(Hold::LetGo(run)), _) => {
                self.runs.remove(run);
            }
            (Work::Hold(_), Ok(Outcome::Taken(run))) => {
                self.runs.insert(run.id.clone());
            }
            _ => {}
        }
    }

    /// Keeps track of our programs in the background.
    fn note_program(&mut self, work: &Work, answer: &Answer) {
        if let Ok(Outcome::Numbered(number)) = answer {
            self.programs.insert(*number);
        } else if let Work::Program(change) = work
            && let Some(number) = change.ends()
        {
            self.programs.remove(&number);
        }
    }

    /// Whether somebody has to know that we live.
    fn is_at_work(&self) -> bool {
        !self.open.is_empty() || !self.runs.is_empty() || !self.programs.is_empty()
    }

    async fn answers(&mut self, units: &[Unit], durability: Durability) -> Vec<Answer> {
        let mut tries = 1;
        loop {
            let result = match self.together(units, durability).await {
                Err(error) if error.may_be_one_unit() => self.one_by_one(units, error).await,
                result => result,
            };
            match result {
                Ok(answers) => return answers,
                Err(StoreError::Locked(_)) if tries < LOCK_TRIES => tries += 1,
                Err(error) => {
                    tracing::error!(path = %self.path.display(), %error, "nothing could be written");
                    return units.iter().map(|_| Err(error.clone().into())).collect();
                }
            }
        }
    }

    /// All units in one transaction.
    async fn together(&mut self, units: &[Unit], durability: Durability) -> Result<Vec<Answer>, StoreError> {
        self.prepare(durability).await?;
        self.transact(units, Frame::Transaction).await
    }

    /// All units in one transaction, each undone alone if it fails.
    async fn one_by_one(&mut self, units: &[Unit], first: StoreError) -> Result<Vec<Answer>, StoreError> {
        if let [unit] = units {
            return Ok(vec![Err(blame(unit, first))]);
        }
        self.execute(statements::BEGIN).await?;
        self.uncommitted_heartbeat = None;
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            match self.transact(std::slice::from_ref(unit), Frame::Savepoint).await {
                Ok(answer) => answers.extend(answer),
                Err(error) if error.may_be_one_unit() => answers.push(Err(blame(unit, error))),
                Err(error) => {
                    self.undo(Frame::Transaction).await;
                    return Err(error);
                }
            }
        }
        match self.execute(statements::COMMIT).await {
            Ok(()) => {
                if let Some(at) = self.uncommitted_heartbeat.take() {
                    self.instance.was_seen(at);
                }
                Ok(answers)
            }
            Err(error) => {
                self.undo(Frame::Transaction).await;
                Err(error)
            }
        }
    }

    /// Runs the units inside `frame`; leaves nothing of them when it fails.
    async fn transact(&mut self, units: &[Unit], frame: Frame) -> Result<Vec<Answer>, StoreError> {
        let us = Us { instance: &self.instance, at_work: self.is_at_work(), runs: &self.runs };
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        match run(connection, us, units, frame).await {
            Ok(Written { answers, heartbeat_at }) => {
                match (frame, heartbeat_at) {
                    (Frame::Transaction, Some(at)) => self.instance.was_seen(at),
                    (Frame::Savepoint, Some(at)) => self.uncommitted_heartbeat = Some(at),
                    (Frame::Transaction | Frame::Savepoint, None) => {}
                }
                Ok(answers)
            }
            Err(error) => {
                self.undo(frame).await;
                Err(self.failed(error))
            }
        }
    }

    /// A connection that commits as hard as asked.
    async fn prepare(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.connection.is_none() {
            self.connection = Some(connect(&self.path, Purpose::Write).await?);
            self.level = Durability::Process;
        }
        if self.level != durability {
            let setting = match durability {
                Durability::Process => statements::NORMAL_SYNC,
                Durability::Power => statements::FULL_SYNC,
            };
            let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
            let result = setting.setting().execute(connection).await;
            result.map_err(|error| self.failed(error))?;
            self.level = durability;
        }
        Ok(())
    }

    async fn execute(&mut self, statement: statements::Statement) -> Result<(), StoreError> {
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        let result = statement.query().execute(connection).await;
        result.map(drop).map_err(|error| self.failed(error))
    }

    /// Rolls back. Fails when there is nothing to roll back, which is as good.
    async fn undo(&mut self, frame: Frame) {
        let statement = match frame {
            Frame::Transaction => statements::ROLLBACK,
            Frame::Savepoint => statements::UNDO_UNIT,
        };
        drop(self.execute(statement).await);
    }

    fn failed(&mut self, error: sqlx::Error) -> StoreError {
        let error = StoreError::at(&self.path, error);
        if error.lost_connection() {
            self.connection = None;
        }
        error
    }

    async fn end(mut self) -> Result<(), StoreError> {
        // Not when the last one lets go of it: a task that is still there when the process ends never does.
        if let Some(promises) = &self.promises {
            promises.end();
        }
        let Some(mut connection) = self.connection.take() else {
            return Ok(());
        };
        let signed_off = self.instance.sign_off(&mut connection).await;
        let closed = connection.close().await;
        signed_off.and(closed).map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
impl Writer {
    pub(super) fn connection(&mut self) -> Option<&mut SqliteConnection> {
        self.connection.as_mut()
    }
}

/// Says what is wrong with a unit that failed alone.
fn blame(unit: &Unit, error: StoreError) -> Refusal {
    match (unit.work.calls().next(), unit.work.record()) {
        (Some(call), _) if error.is_final_status() => StoreError::AlreadyRecorded(call.clone()).into(),
        (_, Some(record)) if error.is_called_before() => StoreError::CalledBefore {
            call: record.id.clone(),
            run: record.run.as_deref().unwrap_or_default().to_owned(),
            model_call: record.model_call.as_deref().unwrap_or_default().to_owned(),
        }
        .into(),
        _ => error.into(),
    }
}
