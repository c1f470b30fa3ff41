//! The conformance suite of back ends: the guarantees that `port/mod.rs` states.
//!
//! A back end implements [`Backend`] and calls [`conformance_suite!`]. The kernel's ledger in memory, which has one process,
//! passes the part about a single store.

mod calls;
mod clients;
mod clocks;
mod edits;
mod grants;
mod limits;
mod processes;
mod questions;
mod standing;

use toolroom::ledger::{Artifacts, Storage};
use toolroom::testing::{ManualClock, MemoryLedger};

use crate::database::{START, TestDatabase};

/// A back end: a database that several processes open.
pub(crate) trait Backend: Sized {
    /// The database as one process sees it.
    type Store: Storage + Artifacts + Clone + Send + Sync + 'static;

    /// Creates an empty database.
    fn create() -> Self;

    /// The clock of all processes.
    fn clock(&self) -> &ManualClock;

    /// Opens the database as a process on a machine. `is_alive` is the liveness of other processes on this machine.
    async fn open_as(
        &self,
        machine: &str,
        process: &str,
        is_alive: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self::Store;

    /// Opens the database as one more living process.
    async fn open(&self) -> Self::Store {
        self.open_as("here", "me", |_| true).await
    }
}

impl Backend for TestDatabase {
    type Store = toolroom_store::Store;

    fn create() -> Self {
        Self::new()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn open_as(
        &self,
        machine: &str,
        process: &str,
        is_alive: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self::Store {
        Self::open_as(self, machine, process, is_alive).await
    }
}

macro_rules! conformance_suite {
    ($name:ident, $backend:ty) => {
        mod $name {
            use super::*;

            #[tokio::test]
            async fn one_store() {
                let backend = <$backend as Backend>::create();
                check_store(&backend.open().await, backend.clock()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn two_stores_write_at_once_and_lose_nothing() {
                processes::two_stores_write_at_once_and_lose_nothing::<$backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn limits_are_exact_across_stores() {
                processes::limits_are_exact_across_stores::<$backend>().await;
            }

            #[tokio::test]
            async fn limits_look_at_each_call_at_its_own_time() {
                processes::limits_look_at_each_call_at_its_own_time::<$backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn an_answer_given_in_one_store_is_seen_by_one_that_looks_for_it() {
                processes::an_answer_given_in_one_store_is_seen_by_one_that_looks_for_it::<$backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn of_many_answers_and_edits_at_once_one_is_taken() {
                processes::of_many_answers_and_edits_at_once_one_is_taken::<$backend>().await;
            }

            #[tokio::test]
            async fn a_process_on_another_machine_is_dead_without_heartbeats() {
                processes::a_process_on_another_machine_is_dead_without_heartbeats::<$backend>().await;
            }

            #[tokio::test]
            async fn a_running_call_stays_open_when_its_question_is_closed_too_late() {
                processes::a_running_call_stays_open_when_its_question_is_closed_too_late::<$backend>().await;
            }

            #[tokio::test]
            async fn an_approved_call_whose_process_died_begins_again() {
                processes::an_approved_call_whose_process_died_begins_again::<$backend>().await;
            }
        }
    };
}

conformance_suite!(sqlite, TestDatabase);

#[tokio::test]
async fn the_ledger_in_memory_passes_the_part_about_one_store() {
    check_store(&MemoryLedger::new(), &ManualClock::at(START)).await;
}

/// What holds for a single process. Each part uses a project of its own.
async fn check_store(ledger: &(impl Storage + Artifacts), clock: &ManualClock) {
    calls::a_call_is_begun_and_closed(ledger, clock).await;
    calls::a_final_status_stays_and_an_open_one_does_not(ledger, clock).await;
    calls::every_field_comes_back(ledger, clock).await;
    calls::a_call_that_never_began_is_inserted(ledger, clock).await;
    calls::listings_are_filtered_and_newest_first(ledger, clock).await;
    calls::scopes_see_their_own(ledger, clock).await;
    calls::usage_counts_what_was_let_run(ledger, clock).await;
    grants::a_grant_is_used_once(ledger, clock).await;
    grants::a_grant_holds_only_for_what_was_asked(ledger, clock).await;
    grants::answers_are_taken_from_those_who_may(ledger, clock).await;
    grants::other_scopes_cannot_answer_or_use_a_question(ledger, clock).await;
    grants::only_a_call_whose_end_is_unknown_begins_again(ledger, clock).await;
    grants::a_process_taken_for_dead_does_not_close_a_call_that_began_again(ledger, clock).await;
    clients::only_the_client_answers_what_it_runs(ledger, clock).await;
    clients::a_client_answers_nothing_that_people_are_asked(ledger, clock).await;
    questions::a_question_tells_everything(ledger, clock).await;
    questions::a_call_is_parked_once(ledger, clock).await;
    questions::a_yes_keeps_what_is_sealed_and_a_no_removes_it(ledger, clock).await;
    questions::only_a_final_status_removes_what_is_sealed_for_a_call_that_ran(ledger, clock).await;
    questions::what_is_void_or_has_expired_ends_only_what_is_pending(ledger, clock).await;
    questions::pending_ones_are_listed_oldest_first(ledger, clock).await;
    questions::other_scopes_do_not_see_a_question(ledger, clock).await;
    edits::an_edit_by_who_may_answer_is_a_yes_to_the_other_call(ledger, clock).await;
    edits::an_edit_by_who_may_not_answer_asks_anew(ledger, clock).await;
    edits::an_edit_that_is_not_taken_changes_nothing(ledger, clock).await;
    standing::an_answer_that_outlives_its_question_comes_back_whole(ledger, clock).await;
    standing::an_answer_that_is_not_taken_leaves_nothing(ledger, clock).await;
    clocks::a_question_from_the_future_is_over(ledger, clock).await;
    clocks::calls_from_the_future_lock_no_tool(ledger, clock).await;
    clocks::the_last_call_is_the_one_written_last(ledger, clock).await;
    limits::limits_count_who_they_say(ledger, clock).await;
    limits::artifacts_belong_to_their_scope(ledger, clock).await;
}
