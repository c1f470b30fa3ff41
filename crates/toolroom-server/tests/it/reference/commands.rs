//! The commands, from `--help`, which is taken apart so that no width of a terminal counts.

use crate::home::Home;

/// No help is wider than this, however wide the terminal.
const WIDEST: &str = "110";

/// What `--help` says of one command.
struct Help {
    about: String,
    usage: String,
    parts: Vec<Part>,
    /// What stands below all parts.
    rest: Vec<String>,
}

struct Part {
    title: String,
    /// A name or flag, and what is said of it.
    entries: Vec<(String, String)>,
    /// The lines as they are.
    lines: Vec<String>,
}

pub(super) fn text(home: &Home) -> String {
    let root = help(home, &[]);
    let everywhere: Vec<String> = root
        .part("Options")
        .map(|part| part.entries.iter().map(|(flag, _)| flag.clone()).collect())
        .unwrap_or_default();
    let mut text = section("toolroom", &root, &[]);
    below(home, &root, &mut Vec::new(), &everywhere, &mut text);
    text
}

fn below(home: &Home, help: &Help, words: &mut Vec<String>, everywhere: &[String], text: &mut String) {
    for (name, _) in help.part("Commands").map(|part| part.entries.as_slice()).unwrap_or_default() {
        // It says the same once more.
        if name == "help" {
            continue;
        }
        words.push(name.clone());
        let found = self::help(home, words);
        text.push_str(&section(&format!("toolroom {}", words.join(" ")), &found, everywhere));
        below(home, &found, words, everywhere, text);
        words.pop();
    }
}

fn section(name: &str, help: &Help, everywhere: &[String]) -> String {
    let mut text = format!("## `{name}`\n\n{}\n\n```text\n{}\n```\n\n", sentence(&help.about), help.usage);
    for part in &help.parts {
        // Commands have sections of their own.
        if part.title == "Commands" && name != "toolroom" {
            continue;
        }
        if part.title == "Examples" {
            text.push_str(&format!("```text\n{}\n```\n\n", part.lines.join("\n")));
            continue;
        }
        let entries = part.entries.iter().filter(|(entry, _)| !everywhere.contains(entry));
        let entries: String = entries.map(|(entry, about)| format!("- `{entry}`: {about}\n")).collect();
        if !entries.is_empty() {
            text.push_str(&entries);
            text.push('\n');
        }
    }
    for line in &help.rest {
        text.push_str(&format!("{line}\n\n"));
    }
    text
}

fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

impl Help {
    fn part(&self, title: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.title == title)
    }
}

fn help(home: &Home, words: &[String]) -> Help {
    let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    arguments.push("--help");
    let mut command = home.command(&arguments);
    let printed = String::from_utf8(command.env("COLUMNS", WIDEST).output().unwrap().stdout).unwrap();
    let mut help = Help { about: String::new(), usage: String::new(), parts: Vec::new(), rest: Vec::new() };
    let mut open = false;
    for line in printed.lines() {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            help.usage = usage.to_owned();
        } else if line.is_empty() {
            open = false;
        } else if let (Some(title), false) = (line.strip_suffix(':'), line.starts_with(' ')) {
            help.parts.push(Part { title: title.to_owned(), entries: Vec::new(), lines: Vec::new() });
            open = true;
        } else if help.usage.is_empty() {
            append(&mut help.about, line);
        } else if let (true, Some(part)) = (open || line.starts_with(' '), help.parts.last_mut()) {
            part.take(line);
        } else {
            // A paragraph may have been wrapped; what begins with a capital begins anew.
            match help.rest.last_mut().filter(|_| !line.starts_with(char::is_uppercase)) {
                Some(last) => append(last, line),
                None => help.rest.push(line.to_owned()),
            }
        }
    }
    help
}

impl Part {
    fn take(&mut self, line: &str) {
        self.lines.push(line.strip_prefix("  ").unwrap_or(line).to_owned());
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        // What is said of an entry goes on below itself, further to the right than any entry begins.
        if let (true, Some((_, about))) = (indent > 8, self.entries.last_mut()) {
            append(about, words);
            return;
        }
        let (entry, about) = words.split_once("  ").unwrap_or((words, ""));
        self.entries.push((entry.to_owned(), about.trim().to_owned()));
    }
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}
