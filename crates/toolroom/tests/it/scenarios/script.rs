//! Reading a scenario: what is there, what is said, and what the models answer.

use serde_json::{Map, Value};
use toolroom::model::ModelErrorKind;

/// One scenario: a file of `tests/scenarios`.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) tools: Vec<ToolLine>,
    /// `client NAME WORDS…`: a tool that the client brings with each message, and runs itself.
    pub(super) client_tools: Vec<ToolLine>,
    pub(super) models: Vec<ModelLine>,
    /// `ranker NAME key=value…`: it looks over the tools.
    pub(super) ranker: Option<ModelLine>,
    pub(super) rules: Vec<RuleLine>,
    /// `secret NAME VALUE`
    pub(super) secrets: Vec<(String, String)>,
    pub(super) agent: Map<String, Value>,
    pub(super) steps: Vec<Step>,
    pub(super) expected: String,
}

/// `tool NAME WORDS… => BEHAVIOUR`
#[derive(Debug, Clone)]
pub(super) struct ToolLine {
    pub(super) name: String,
    pub(super) words: Vec<String>,
    pub(super) does: String,
}

/// `model NAME key=value…`: one more in the chain.
#[derive(Debug, Clone)]
pub(super) struct ModelLine {
    pub(super) name: String,
    pub(super) facts: Vec<(String, String)>,
}

/// `rule EFFECT TOOL [by operator] [when CONDITION]`
#[derive(Debug, Clone)]
pub(super) struct RuleLine {
    pub(super) effect: String,
    pub(super) tool: String,
    pub(super) by: Option<String>,
    pub(super) when: Option<String>,
}

/// Something that happens, and how the models answer to it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) does: Does,
    pub(super) turns: Vec<Turn>,
}

#[derive(Debug)]
pub(super) enum Does {
    /// `user: TEXT`
    Say(String),
    /// `user until NAME runs, then stop: TEXT`, or `then die`.
    SayUntil { tool: String, then: Ending, text: String },
    /// `answer WORD [to TOOL] [as operator]` to every open question, or to one.
    Answer { answer: String, tool: Option<String>, operator: bool },
    /// `edit {JSON}`: other arguments for the open question.
    Edit(Value),
    /// `handed`: what waits for the client, and with which arguments.
    Handed,
    /// `deliver NAME {JSON}`, or `deliver NAME failed TEXT`: what the client says of a call that it was handed.
    Deliver { tool: String, outcome: Result<Value, String> },
    /// `resume`, or `resume twice`: two at once.
    Resume { twice: bool },
    /// `resume as NAME`: by another agent.
    ResumeAs(String),
    /// `resume with NAME…`: the client has these tools by now.
    ResumeWith(Vec<ToolLine>),
    /// `picture: TEXT`
    Picture(String),
    /// `switch NAME on|off`
    Switch { tool: String, on: bool },
    /// `deny NAME`: the agent may no longer use it.
    Deny(String),
    /// `a day passes`
    DayPasses,
    /// `cancel`: the open run.
    Cancel,
    /// `requests`: what the models were asked since the last time.
    Requests,
    /// `thread`: what is kept of the conversation.
    Thread,
    /// `questions`: how many wait for an answer.
    Questions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Stop,
    Die,
}

/// One answer of a model.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Who has to be the one that is asked, if the script says.
    pub(super) model: Option<String>,
    pub(super) parts: Vec<Part>,
    /// Tokens that are reported.
    pub(super) usage: (u64, u64),
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Say(String),
    Think(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
    },
    Fail(ModelErrorKind, String),
    /// The stream broke off and begins anew.
    Again(String),
    Hang,
    /// There is no room for more.
    Cut,
    Nothing,
}

/// The scenario in a file.
pub(super) fn parse(text: &str) -> Script {
    let (script, expected) = text.split_once("\n---\n").unwrap();
    let mut parsed = Script { expected: expected.trim_end().to_owned(), ..Script::default() };
    for line in script.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        parsed.line(line);
    }
    if parsed.models.is_empty() {
        parsed.models.push(ModelLine { name: "test/one".to_owned(), facts: Vec::new() });
    }
    parsed
}

impl Script {
    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once([' ', ':']).unwrap_or((line, ""));
        let rest = rest.trim_start();
        match word {
            "tool" => self.tools.push(tool_line(rest)),
            "client" => self.client_tools.push(tool_line(rest)),
            "model" if !line.contains(": ") && !line.ends_with(':') => self.models.push(model_line(rest)),
            "ranker" => self.ranker = Some(model_line(rest)),
            "secret" => {
                let (name, value) = rest.split_once(' ').unwrap();
                self.secrets.push((name.to_owned(), value.to_owned()));
            }
            "rule" => self.rules.push(rule_line(rest)),
            "agent" => self.agent = serde_json::from_str(rest).unwrap(),
            "model" => {
                let (name, answer) = line.split_once(':').unwrap();
                let name = name.trim_start_matches("model").trim();
                let turn = turn((!name.is_empty()).then(|| name.to_owned()), answer.trim());
                self.steps.last_mut().unwrap().turns.push(turn);
            }
            _ => self.steps.push(Step { does: does(word, rest, line), turns: Vec::new() }),
        }
    }
}

fn does(word: &str, rest: &str, line: &str) -> Does {
    match word {
        "user" if line.starts_with("user:") => Does::Say(rest.to_owned()),
        "user" => {
            let (head, text) = line.split_once(": ").unwrap();
            let words: Vec<&str> = head.split_whitespace().collect();
            let ["user", "until", tool, "runs,", "then", then] = words.as_slice() else {
                panic!("not understood: {line}")
            };
            let then = match *then {
                "stop" => Ending::Stop,
                "die" => Ending::Die,
                other => panic!("`{other}`: stop or die"),
            };
            Does::SayUntil { tool: (*tool).to_owned(), then, text: text.to_owned() }
        }
        "answer" => {
            let operator = rest.ends_with(" as operator");
            let rest = rest.trim_end_matches(" as operator");
            let (answer, tool) = rest
                .split_once(" to ")
                .map_or((rest, None), |(answer, tool)| (answer, Some(tool.to_owned())));
            Does::Answer { answer: answer.to_owned(), tool, operator }
        }
        "edit" => Does::Edit(serde_json::from_str(rest).unwrap()),
        "handed" => Does::Handed,
        "deliver" => {
            let (tool, said) = rest.split_once(' ').unwrap();
            let outcome = match said.strip_prefix("failed ") {
                Some(why) => Err(why.to_owned()),
                None => Ok(serde_json::from_str(said).unwrap()),
            };
            Does::Deliver { tool: tool.to_owned(), outcome }
        }
        "resume" if rest.starts_with("with ") => {
            Does::ResumeWith(rest.split_whitespace().skip(1).map(tool_line).collect())
        }
        "resume" => match rest.strip_prefix("as ") {
            Some(agent) => Does::ResumeAs(agent.to_owned()),
            None => Does::Resume { twice: rest == "twice" },
        },
        "picture" => Does::Picture(rest.to_owned()),
        "switch" => {
            let (tool, state) = rest.split_once(' ').unwrap();
            Does::Switch { tool: tool.to_owned(), on: state == "on" }
        }
        "deny" => Does::Deny(rest.to_owned()),
        "a" if line == "a day passes" => Does::DayPasses,
        "questions" => Does::Questions,
        "cancel" => Does::Cancel,
        "requests" => Does::Requests,
        "thread" => Does::Thread,
        _ => panic!("not understood: {line}"),
    }
}

fn tool_line(rest: &str) -> ToolLine {
    let (head, does) = rest.split_once("=>").unwrap_or((rest, "echo"));
    let mut words = head.split_whitespace().map(str::to_owned);
    ToolLine { name: words.next().unwrap(), words: words.collect(), does: does.trim().to_owned() }
}

fn model_line(rest: &str) -> ModelLine {
    let mut words = rest.split_whitespace();
    let name = words.next().unwrap().to_owned();
    let facts = words.map(|word| word.split_once('=').unwrap_or((word, "yes")));
    ModelLine { name, facts: facts.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
}

fn rule_line(rest: &str) -> RuleLine {
    let (head, when) =
        rest.split_once(" when ").map_or((rest, None), |(head, when)| (head, Some(when.to_owned())));
    let words: Vec<&str> = head.split_whitespace().collect();
    let by = words.iter().position(|word| *word == "by").map(|at| words[at + 1].to_owned());
    RuleLine { effect: words[0].to_owned(), tool: words[1].to_owned(), by, when }
}

/// `say TEXT & call NAME {…} & think TEXT (10 in, 5 out)`
fn turn(model: Option<String>, text: &str) -> Turn {
    let (text, usage) = match text.strip_suffix(" out)").and_then(|text| text.rsplit_once(" (")) {
        Some((text, usage)) => {
            let (input, output) = usage.split_once(" in, ").unwrap();
            (text, (input.parse().unwrap(), output.parse().unwrap()))
        }
        None => (text, (0, 0)),
    };
    Turn { model, parts: text.split(" & ").map(part).collect(), usage }
}

fn part(text: &str) -> Part {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "say" => Part::Say(rest.replace("\\n", "\n")),
        "think" => Part::Think(rest.to_owned()),
        "call" => {
            let (name, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
            let (name, id) =
                name.split_once('#').map_or((name, None), |(name, id)| (name, Some(id.to_owned())));
            Part::Call { id, name: name.to_owned(), arguments: arguments.to_owned() }
        }
        "fail" => {
            let (kind, message) = rest.split_once(' ').unwrap_or((rest, "it failed"));
            let kind = serde_json::from_value(Value::String(kind.to_owned())).unwrap();
            Part::Fail(kind, message.to_owned())
        }
        "again" => Part::Again(rest.to_owned()),
        "hang" => Part::Hang,
        "cut" => Part::Cut,
        "nothing" => Part::Nothing,
        _ => panic!("a model cannot do this: {text}"),
    }
}
