//! What a scenario is played with: scripted models and tools, everything else as it is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::agent::{Agent, AgentRecord, Candidate};
use toolroom::call::CallContext;
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::Answerer;
use toolroom::model::{
    Answer, Block, Model, ModelCallId, ModelError, ModelErrorKind, ModelEvent, ModelFacts, ModelRequest,
    Price, StopReason, Usage,
};
use toolroom::policy::{Policy, Preset, Rule, RuleText};
use toolroom::redact::{Fixed, Patterns, Redactor, Secret};
use toolroom::testing::{ManualClock, MemoryConversations, MemoryLedger, NoSeal};
use toolroom::tool::{
    Arguments, Capability, ClientTool, ClientTools, Effect, Tool, ToolError, ToolOutput, ToolSpec,
};
use toolroom::{BoxFuture, Toolroom};

use super::script::{ModelLine, Part, RuleLine, Script, ToolLine, Turn};

/// The answers that are still to come, and what was asked.
#[derive(Default)]
pub(super) struct Prompter {
    pub(super) turns: VecDeque<Turn>,
    pub(super) requests: Vec<String>,
    /// Told when a model hangs.
    pub(super) hangs: Arc<tokio::sync::Notify>,
}

pub(super) type Prompt = Arc<Mutex<Prompter>>;

/// Which tools have begun, and how often.
pub(super) type Begun = Arc<tokio::sync::watch::Sender<Vec<String>>>;

pub(super) struct Stage {
    pub(super) agent: Agent,
    pub(super) room: Toolroom,
    pub(super) ledger: Arc<MemoryLedger>,
    pub(super) client_tools: ClientTools,
    pub(super) clock: Arc<ManualClock>,
    record: AgentRecord,
    models: Vec<ModelLine>,
    pub(super) conversations: MemoryConversations,
    pub(super) prompt: Prompt,
    pub(super) begun: Begun,
}

impl Stage {
    pub(super) fn new(script: &Script) -> Self {
        let prompt = Prompt::default();
        let begun = Arc::new(tokio::sync::watch::Sender::new(Vec::new()));
        let rules = script.rules.iter().enumerate().map(|(place, line)| rule(place, line)).collect();
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_700_000_000_000_000)));
        let secrets = script.secrets.iter().map(|(name, value)| Secret::new(name, value));
        let room = Toolroom::builder(Arc::clone(&ledger))
            .clock(Arc::clone(&clock) as Arc<dyn Clock>)
            .redactions(Arc::new(Fixed::new(Redactor::new(secrets, Patterns::None))))
            .policy(Policy::new(Preset::Open, rules).unwrap())
            .seal(Arc::new(NoSeal))
            .build();
        for line in &script.tools {
            room.catalog().register(Scripted::new(line, &begun)).unwrap();
        }
        let client_tools = ClientTools::new(script.client_tools.iter().map(client_tool).collect()).unwrap();
        let mut record = serde_json::to_value(AgentRecord::default()).unwrap();
        merge(&mut record, &Value::Object(script.agent.clone()));
        let conversations = MemoryConversations::new();
        let chain = script.models.iter().map(|line| candidate(line, &prompt));
        let record: AgentRecord = serde_json::from_value(record).unwrap();
        let mut agent =
            Agent::new(room.clone(), Arc::new(conversations.clone()), record.clone(), chain).unwrap();
        if let Some(line) = &script.ranker {
            agent = agent.ranker(candidate(line, &prompt));
        }
        let models = script.models.clone();
        Self { agent, room, ledger, client_tools, clock, record, models, conversations, prompt, begun }
    }

    /// An agent like the one there is, but for what is changed.
    pub(super) fn other(&self, change: impl FnOnce(&mut AgentRecord)) -> Agent {
        let mut record = self.record.clone();
        change(&mut record);
        let chain = self.models.iter().map(|line| candidate(line, &self.prompt));
        Agent::new(self.room.clone(), Arc::new(self.conversations.clone()), record, chain).unwrap()
    }
}

pub(super) fn client_tool(line: &ToolLine) -> ClientTool {
    let parameters = match line.words.iter().any(|word| word == "strict") {
        true => strict(),
        false => Value::Null,
    };
    ClientTool::new(&line.name, &format!("The client does {}.", line.name), parameters).unwrap()
}

/// The schema of a tool that takes one number and nothing else.
fn strict() -> Value {
    json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false
    })
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

fn rule(place: usize, line: &RuleLine) -> Rule {
    let text = RuleText {
        id: format!("rule{}", place + 1),
        effect: serde_json::from_value(json!(line.effect)).unwrap(),
        tool: line.tool.clone(),
        when: line.when.clone(),
        by: line.by.as_ref().map(|by| if by == "operator" { Answerer::Operator } else { Answerer::Caller }),
        reason: Some("the scenario says so".to_owned()),
        matches: Vec::new(),
        not_matches: Vec::new(),
    };
    Rule::new(text).unwrap()
}

fn candidate(line: &ModelLine, prompt: &Prompt) -> Candidate {
    let mut facts = ModelFacts { window: 100_000, ..ModelFacts::UNKNOWN };
    for (key, value) in &line.facts {
        match key.as_str() {
            "window" => facts.window = value.parse().unwrap(),
            "tools" => facts.tools = value == "yes",
            "on_device" => facts.on_device = true,
            "price" => {
                let (input, output) = value.split_once('/').unwrap();
                let (input, output) = (input.parse().unwrap(), output.parse().unwrap());
                facts.price = Some(Price { input, output, cache_read: None, cache_write: None });
            }
            other => panic!("no such fact: {other}"),
        }
    }
    Candidate::new(Arc::new(ScriptedModel { name: line.name.clone(), prompt: Arc::clone(prompt) }))
        .facts(facts)
}

struct ScriptedModel {
    name: String,
    prompt: Prompt,
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let turn = {
                let mut prompt = self.prompt.lock().unwrap();
                prompt.requests.push(super::transcript::request(&self.name, request));
                prompt.turns.pop_front().unwrap_or_else(|| panic!("{} is asked and has no line", self.name))
            };
            if let Some(model) = &turn.model {
                assert_eq!(*model, self.name, "the script has another model answer here");
            }
            let mut blocks = Vec::new();
            let mut stop = StopReason::Done;
            for (place, part) in turn.parts.into_iter().enumerate() {
                match part {
                    Part::Say(text) => {
                        told(ModelEvent::Text(text.clone()));
                        blocks.push(Block::text(text));
                    }
                    Part::Think(text) => blocks.push(Block::Reasoning { text, opaque: None }),
                    Part::Call { id, name, arguments } => {
                        let id = id.unwrap_or_else(|| format!("c{}", place + 1));
                        // The names of scripts are bare, those on the wire are not.
                        let is_meant = |wire: &str| wire.ends_with(&format!("__{}", name.replace(':', "__")));
                        let offered = request
                            .tools
                            .iter()
                            .find(|tool| is_meant(&tool.name) || tool.name == name.replace(':', "__"));
                        let name = offered.map_or(name, |tool| tool.name.clone());
                        blocks.push(Block::Call {
                            id: ModelCallId::new(&id),
                            name,
                            arguments: arguments.into(),
                            opaque: None,
                        });
                    }
                    Part::Again(reason) => {
                        told(ModelEvent::Again { reason, after: Duration::ZERO });
                        blocks.clear();
                    }
                    Part::Fail(kind, message) => return Err(ModelError::new(kind, message)),
                    Part::Hang => {
                        self.prompt.lock().unwrap().hangs.notify_one();
                        cancellation.cancelled().await;
                        return Err(ModelError::new(ModelErrorKind::Cancelled, "stopped"));
                    }
                    Part::Cut => stop = StopReason::Length,
                    Part::Nothing => {}
                }
            }
            let (input, output) = turn.usage;
            let usage = Usage { input, output, ..Usage::default() };
            Ok(Answer { blocks, stop, usage, model: None })
        })
    }
}

struct Scripted {
    spec: ToolSpec,
    does: String,
    runs: AtomicU32,
    begun: Begun,
}

impl Scripted {
    fn new(line: &ToolLine, begun: &Begun) -> Self {
        let mut spec = ToolSpec::new(&format!("app:{}", line.name), format!("Does {}.", line.name)).unwrap();
        spec = spec.parameters(json!({"type": "object"}));
        let (mut effect, mut capabilities) = (Effect::Pure, Vec::new());
        for word in &line.words {
            match word.as_str() {
                "read" => effect = Effect::Read,
                "write" => effect = Effect::OnceOnlyWrite,
                "destructive" => effect = Effect::Destructive,
                "private" => capabilities.push(Capability::ReadsPrivate),
                "untrusted" => capabilities.push(Capability::ReadsUntrusted),
                "outward" => capabilities.push(Capability::Egress),
                "serial" => spec.serial = true,
                "short" => spec = spec.result_cap(200),
                "strict" => spec = spec.parameters(strict()),
                other => panic!("a tool cannot be {other}"),
            }
        }
        let spec = spec.effect(effect).capabilities(&capabilities).title(line.name.to_uppercase());
        Self { spec, does: line.does.clone(), runs: AtomicU32::new(0), begun: Arc::clone(begun) }
    }
}

impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let runs = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
            self.begun.send_modify(|begun| begun.push(self.spec.id.bare().to_owned()));
            let (word, rest) = self.does.split_once(' ').unwrap_or((self.does.as_str(), ""));
            match word {
                "echo" => Ok(ToolOutput::new(Value::Object(arguments))),
                "count" => Ok(ToolOutput::new(json!(runs))),
                "progress" => {
                    context.progress(rest, None);
                    Ok(ToolOutput::new(json!("moved")))
                }
                "error" => Err(ToolError::tool(rest)),
                "give" => Ok(ToolOutput::new(serde_json::from_str::<Value>(rest).unwrap())),
                "hang" => {
                    context.cancelled().await;
                    Err(ToolError::tool("stopped"))
                }
                "after" => {
                    // Ends only once another one has begun: they run side by side, or never end.
                    let mut seen = self.begun.subscribe();
                    seen.wait_for(|begun| begun.iter().any(|name| name == rest)).await.unwrap();
                    Ok(ToolOutput::new(json!(runs)))
                }
                other => panic!("a tool cannot {other}"),
            }
        })
    }
}
