//! Small talk: greetings, thanks, questions about the model.

use super::texts;
use super::tool_list::ToolList;

/// The longest small talk in words.
const MAX_WORDS: usize = 8;

/// Words that may accompany a greeting or thanks.
const FILLERS: [&str; 16] = [
    "there", "again", "all", "everyone", "you", "so", "very", "much", "a", "lot", "toolroom", "good", "and",
    "that", "is", "great",
];

const GREETINGS: [&str; 17] = [
    "hi",
    "hello",
    "hey",
    "hallo",
    "howdy",
    "hola",
    "salut",
    "salom",
    "assalomu",
    "привет",
    "здравствуйте",
    "morning",
    "afternoon",
    "evening",
    "moin",
    "servus",
    "ciao",
];

const THANKS: [&str; 10] =
    ["thanks", "thank", "thx", "cheers", "danke", "merci", "gracias", "rahmat", "спасибо", "ty"];

const FAREWELLS: [&str; 6] = ["bye", "goodbye", "farewell", "tschüss", "quit", "exit"];

/// Questions about the model, in lower case without punctuation.
const ABOUT: [&str; 24] = [
    "help",
    "help me",
    "please help",
    "help please",
    "?",
    "what can you do",
    "what can i do",
    "what can i do here",
    "what can you do for me",
    "what do you do",
    "how does this work",
    "how do you work",
    "who are you",
    "what are you",
    "are you an ai",
    "are you a bot",
    "which model are you",
    "what model are you",
    "what is this",
    "how are you",
    "how are you doing",
    "what tools do you have",
    "which tools do you have",
    "what tools are there",
];

/// The reply to small talk; `None` for other messages.
pub(super) fn answer(text: &str, tools: &ToolList<'_>) -> Option<String> {
    let words: Vec<String> = text
        .split_whitespace()
        .take(MAX_WORDS + 1)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let phrase = words.join(" ");
    if words.len() > MAX_WORDS {
        return None;
    }
    if text.trim() == "?" || ABOUT.contains(&phrase.as_str()) {
        return Some(match phrase.as_str() {
            "what tools do you have" | "which tools do you have" | "what tools are there" => {
                texts::all(tools)
            }
            _ => texts::introduction(tools),
        });
    }
    let is_only = |list: &[&str]| {
        words.iter().any(|word| list.contains(&word.as_str()))
            && words.iter().all(|word| list.contains(&word.as_str()) || FILLERS.contains(&word.as_str()))
    };
    if is_only(&THANKS) {
        return Some(texts::welcome());
    }
    if is_only(&FAREWELLS) {
        return Some(texts::farewell());
    }
    let greets = is_only(&GREETINGS)
        || GREETINGS.iter().any(|hi| ABOUT.iter().any(|about| phrase == format!("{hi} {about}")));
    greets.then(|| texts::greeting(tools))
}
