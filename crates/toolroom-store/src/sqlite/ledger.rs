//! The kernel's write port. Each method queues its work when it is called.

use toolroom::BoxFuture;
use toolroom::ledger::{
    BeginCall, BeginError, CallId, CloseCall, DecideError, Decision, EditCall, Ledger, LedgerError, ParkCall,
    ParkError,
};

use crate::sqlite::artifacts::Hashes;
use crate::sqlite::writer::{Outcome, Refusal, Work};
use crate::{Store, StoreError};

impl Ledger for Store {
    fn begin(&self, begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>> {
        let answer = self.submit(Work::Begin(Box::new(begin)));
        Box::pin(async move {
            match answer.await {
                Ok(_) => Ok(()),
                Err(Refusal::RateLimited { limit, retry_after }) => {
                    Err(BeginError::RateLimited { limit, retry_after })
                }
                Err(Refusal::GrantSpent) => Err(BeginError::GrantSpent),
                Err(other) => Err(LedgerError::new("begin the call", other).into()),
            }
        })
    }

    fn park(&self, park: ParkCall) -> BoxFuture<'static, Result<(), ParkError>> {
        let keys = self.sealing_keys().or_key_of(park.approval.sealed.as_deref());
        let answer = self.submit(Work::Park(Box::new(park), keys));
        Box::pin(async move {
            answer.await.map(drop).map_err(|refusal| {
                let stale = matches!(refusal, Refusal::Store(StoreError::OtherKey));
                let error = LedgerError::new("park the call", refusal);
                if stale { ParkError::StaleKey(error) } else { error.into() }
            })
        })
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'static, Result<(), DecideError>> {
        let call = decision.call.clone();
        let answer = self.submit(Work::Decide(Box::new(decision)));
        Box::pin(async move { decided(answer.await, call) })
    }

    fn edit(&self, edit: EditCall) -> BoxFuture<'static, Result<(), DecideError>> {
        let call = edit.of.clone();
        let keys = self.sealing_keys().or_key_of(edit.park.approval.sealed.as_deref());
        let answer = self.submit(Work::Edit(Box::new(edit), keys));
        Box::pin(async move { decided(answer.await, call) })
    }

    fn close(&self, close: CloseCall) -> BoxFuture<'static, Result<(), LedgerError>> {
        let hashes = Hashes::start(&close.artifacts);
        let answer = self.submit(Work::Close(Box::new(close), hashes));
        Box::pin(
            async move { answer.await.map(drop).map_err(|error| LedgerError::new("close the call", error)) },
        )
    }
}

fn decided(answer: Result<Outcome, Refusal>, call: CallId) -> Result<(), DecideError> {
    match answer {
        Ok(_) => Ok(()),
        Err(Refusal::NotWaiting) => Err(DecideError::NotWaiting(call)),
        Err(Refusal::NotYours(error)) => Err(error),
        Err(other) => Err(LedgerError::new("take the answer", other).into()),
    }
}
