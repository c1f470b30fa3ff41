//! A model without latency.

use std::sync::atomic::{AtomicU32, Ordering};

use toolroom::BoxFuture;
use toolroom::call::CancellationToken;
use toolroom::model::{
    Answer, Block, Model, ModelCallId, ModelError, ModelEvent, ModelRequest, StopReason, Usage,
};

/// Calls `app:echo` `calls` times in each of `turns` turns, then answers.
pub(crate) struct InstantModel {
    turns: u32,
    calls: u32,
    requests: AtomicU32,
}

impl InstantModel {
    pub(crate) fn new(turns: u32, calls: u32) -> Self {
        Self { turns, calls, requests: AtomicU32::new(0) }
    }
}

impl Model for InstantModel {
    fn name(&self) -> &str {
        "bench/instant"
    }

    fn ask<'a>(
        &'a self,
        _request: &'a ModelRequest,
        _on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
        _cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let turn = request % (self.turns + 1);
        let blocks = if turn == self.turns {
            vec![Block::text("said")]
        } else {
            let call = |number: u32| Block::Call {
                id: ModelCallId::new(&format!("call_{turn}_{number}")),
                name: "app__echo".to_owned(),
                arguments: format!(r#"{{"text": "hello", "turn": {turn}, "number": {number}}}"#).into(),
                opaque: None,
            };
            (0..self.calls).map(call).collect()
        };
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        Box::pin(std::future::ready(Ok(Answer { blocks, stop: StopReason::Done, usage, model: None })))
    }
}
