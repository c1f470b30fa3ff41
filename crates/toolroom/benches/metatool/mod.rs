//! MetaTool's single-tool requests, and how well a selector answers them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use toolroom::selector::{Selector, ToolCard};

/// Requests per tool used as examples; the others are evaluated.
const LEARNED: usize = 20;

/// Messages that need no tool.
const SMALL_TALK: &[&str] = &[
    "hello",
    "hi there, how are you today?",
    "thanks a lot, that was great",
    "good morning!",
    "ok",
    "yes please",
    "no, not that one",
    "who are you?",
    "what can you do for me?",
    "that makes sense, thank you",
    "please continue",
    "why did you do that?",
    "I don't understand, can you explain that again?",
    "what is the meaning of life?",
    "asdf qwerty zxcv",
    "12345",
    "you are wrong",
    "see you tomorrow",
    "I am so happy right now",
    "never mind",
    "how old is the universe?",
    "can you repeat the last answer more slowly?",
    "do you dream?",
    "I love you",
    "my grandmother knits sweaters",
    "the cat sat on the mat",
    "how do magnets work?",
    "guten Tag",
    "🙂",
    "hmm",
];

/// Tools with descriptions, and requests with the right tool.
pub(crate) struct MetaTool {
    tools: BTreeMap<String, String>,
    requests: Vec<(String, String)>,
}

/// Counts of requests by the selector's answer.
#[derive(Default, Clone, Copy)]
pub(crate) struct Quality {
    pub(crate) requests: usize,
    pub(crate) first: usize,
    pub(crate) among_five: usize,
    pub(crate) abstained: usize,
}

impl Quality {
    /// `part` in percent of the requests.
    pub(crate) fn percent(&self, part: usize) -> f64 {
        100.0 * part as f64 / self.requests.max(1) as f64
    }
}

/// Which requests are evaluated.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    All,
    /// The half that was not used for tuning.
    HeldOut,
}

impl MetaTool {
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let tools = serde_json::from_slice(&std::fs::read(folder.join("tools.json"))?)?;
        let requests = rows(&std::fs::read_to_string(folder.join("queries.csv"))?);
        Ok(Self { tools, requests })
    }

    pub(crate) fn cold(&self) -> Selector {
        Selector::new(self.tools.keys().map(|name| self.card(name)))
    }

    pub(crate) fn evaluate_cold(&self, part: Part) -> Quality {
        evaluate(&self.cold(), self.requests.iter().filter(|(request, _)| part.has(request)))
    }

    /// Uses some requests of each tool as examples, and evaluates the others.
    pub(crate) fn evaluate_with_examples(&self, part: Part) -> Quality {
        let mut of_tools: BTreeMap<&str, Vec<&(String, String)>> = BTreeMap::new();
        for request in &self.requests {
            of_tools.entry(&request.1).or_default().push(request);
        }
        for requests in of_tools.values_mut() {
            requests.sort_by_key(|(request, _)| hash(request, 1));
        }
        let card = |name: &String| {
            let requests = of_tools.get(name.as_str()).into_iter().flatten().take(LEARNED);
            ToolCard {
                usage_examples: requests.map(|(request, _)| request.clone()).collect(),
                ..self.card(name)
            }
        };
        let selector = Selector::new(self.tools.keys().map(card));
        let others = of_tools.values().flat_map(|requests| requests.iter().skip(LEARNED).copied());
        evaluate(&selector, others.filter(|(request, _)| part.has(request)))
    }

    pub(crate) fn evaluate_small_talk(&self) -> Quality {
        let talk: Vec<(String, String)> =
            SMALL_TALK.iter().map(|text| ((*text).to_owned(), String::new())).collect();
        evaluate(&self.cold(), talk.iter())
    }

    /// For each tenth of the tools, evaluates their requests with these tools removed.
    pub(crate) fn evaluate_without_the_tool(&self) -> Quality {
        let mut sum = Quality::default();
        for tenth in 0..10 {
            let missing = |name: &str| hash(name, 2) % 10 == tenth;
            let remaining = self.tools.keys().filter(|name| !missing(name)).map(|name| self.card(name));
            let selector = Selector::new(remaining);
            let quality = evaluate(&selector, self.requests.iter().filter(|(_, tool)| missing(tool)));
            sum.requests += quality.requests;
            sum.abstained += quality.abstained;
        }
        sum
    }

    fn card(&self, name: &str) -> ToolCard {
        let description = self.tools.get(name).cloned().unwrap_or_default();
        ToolCard { id: name.to_owned(), name: name.to_owned(), description, ..ToolCard::default() }
    }
}

impl Part {
    fn has(self, request: &str) -> bool {
        match self {
            Self::All => true,
            Self::HeldOut => hash(request, 0) % 2 == 1,
        }
    }
}

fn evaluate<'a>(selector: &Selector, requests: impl Iterator<Item = &'a (String, String)>) -> Quality {
    let mut quality = Quality::default();
    for (request, tool) in requests {
        let ranking = selector.rank(request, 5);
        quality.requests += 1;
        quality.abstained += usize::from(ranking.abstained);
        quality.first += usize::from(ranking.tools.first().is_some_and(|ranked| ranked.id == *tool));
        quality.among_five += usize::from(ranking.tools.iter().any(|ranked| ranked.id == *tool));
    }
    quality
}

/// A stable hash (FNV-1a).
fn hash(text: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let sum = text.bytes().fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    sum >> 7
}

/// The rows of a CSV text with two columns, without the header.
fn rows(text: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                cells.push(std::mem::take(&mut cell).trim_end().to_owned());
                if let [request, tool] = cells.as_slice() {
                    rows.push((request.clone(), tool.clone()));
                }
                cells.clear();
            }
            _ => cell.push(c),
        }
    }
    rows.drain(..rows.len().min(1));
    rows
}
