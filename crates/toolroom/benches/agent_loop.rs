//! Cost of the agent loop alone: an instant model, an echo tool and conversations in memory. Encoding for vendors is
//! measured in `toolroom-models`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its arguments")]

mod instant_model;
#[expect(dead_code, reason = "times are per iteration, computed here")]
mod measure;

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use instant_model::InstantModel;
use measure::{Bar, Measure, median, report};
use serde_json::Value;
use tokio::runtime::Builder;
use toolroom::Toolroom;
use toolroom::agent::{Agent, AgentLimits, AgentRecord, Candidate, SendRequest};
use toolroom::conversation::{Conversations, RunState};
use toolroom::model::ModelFacts;
use toolroom::testing::MemoryConversations;
use toolroom::tool::{Effect, ToolError, tool_fn};

/// Runs per case; the median is reported.
const RUNS: usize = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let measure = Measure::from_arguments();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    for (turns, calls) in [(1, 1), (10, 1), (50, 1), (10, 10)] {
        let case = format!("iteration_of_{turns}_with_{calls}_calls");
        if !measure.selects("agent_loop", &case) {
            continue;
        }
        let room = Toolroom::in_memory();
        room.catalog().register(
            tool_fn(
                "app:echo",
                "Return the arguments",
                |_, args: Value| async move { Ok::<_, ToolError>(args) },
            )?
            .with(|spec| spec.effect(Effect::Pure)),
        )?;
        let conversations = MemoryConversations::new();
        let model = Arc::new(InstantModel::new(turns, calls));
        let facts = ModelFacts { window: 10_000_000, ..ModelFacts::UNKNOWN };
        let limits = AgentLimits { iterations: turns + 1, ..AgentLimits::default() };
        let record = AgentRecord { limits, ..AgentRecord::default() };
        let storage: Arc<dyn Conversations> = Arc::new(conversations.clone());
        let agent = Agent::new(room, storage, record, [Candidate::new(model).facts(facts)])?;
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let request = SendRequest::new("say it");
            let scope = request.scope.clone();
            let began = Instant::now();
            let run = runtime.block_on(agent.send(request))?.run;
            times.push(began.elapsed().as_secs_f64() * 1e6 / f64::from(turns + 1));
            assert_eq!((run.state, run.iterations), (RunState::Done, turns + 1));
            runtime.block_on(conversations.delete_conversation(&scope, &run.conversation))?;
        }
        let bar = if calls == 1 { Bar::floor_and_aim(53.0, 10.0) } else { Bar::floor_and_aim(101.0, 50.0) };
        report("agent_loop", &case, median(&mut times), "us", bar, RUNS);
    }
    Ok(())
}
