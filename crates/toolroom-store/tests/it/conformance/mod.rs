//! What every ledger promises to the kernel. Run against the store and against the kernel's ledger in memory.

mod calls;
mod clients;
mod clocks;
mod edits;
mod grants;
mod limits;
mod questions;
mod standing;

use toolroom::ledger::{Artifacts, Storage};
use toolroom::testing::{ManualClock, MemoryLedger};

use crate::database::{START, TestDatabase};

#[tokio::test]
async fn the_store_keeps_what_every_ledger_promises() {
    let database = TestDatabase::new();
    let store = database.open().await;
    check(&store, &database.clock).await;
    store.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_ledger_in_memory_keeps_what_every_ledger_promises() {
    check(&MemoryLedger::new(), &ManualClock::at(START)).await;
}

/// Each part works in a project of its own.
async fn check(ledger: &(impl Storage + Artifacts), clock: &ManualClock) {
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
