//! Sixty secrets in six encodings, said in every way a tool can say things: none reaches anything that is kept or told.

use std::path::Path;
use std::process::{Command, Stdio};

use aho_corasick::AhoCorasick;

use crate::home::{Home, Ran, ran};

/// Half of them are stored, half are in the environment.
const CANARIES: usize = 60;

/// A piece of so many characters would be a hit.
const PIECE: usize = 10;

const WAYS: [&str; 10] =
    ["result", "message", "key", "error", "hint", "cause", "progress", "pieces", "panic", "long"];

type Encoder = (&'static str, fn(&str) -> String);

const ENCODERS: [Encoder; 6] = [
    ("plain", |text| text.to_owned()),
    ("base64", |text| base64(text.as_bytes())),
    ("hex", |text| text.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ("percent", |text| {
        let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let encode =
            |byte: u8| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        text.bytes().map(encode).collect()
    }),
    ("json", |text| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }),
    ("html", |text| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&#39;")
    }),
];

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |chunk: &[u8]| {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        let digit = |at: usize| char::from(ALPHABET[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= chunk.len() { digit(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(encode).collect()
}

/// Twelve characters that no other canary has in common with it, and what makes encodings differ.
fn canary(number: usize) -> String {
    let mut state = number as u64 + 0x9e37_79b9_7f4a_7c15;
    let mut letters = String::new();
    for _ in 0..14 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters.push(char::from(b"abcdefghijklmnopqrstuvwxyz"[(state >> 33) as usize % 26]));
    }
    let odd = ["/", "\"", "&", " ", "ü", "<>", "'", "+=", "\\", "%"][number % 10];
    let (first, second) = letters.split_at(7);
    format!("{first}{odd}{second}{odd}Q{number:02}")
}

struct Aviary {
    home: Home,
    said: String,
}

impl Aviary {
    fn new() -> Self {
        let home = Home::new();
        for number in 0..CANARIES / 2 {
            home.run_with_stdin(&["secrets", "set", &format!("CANARY_{number}")], &canary(number)).ended(0);
        }
        Self { home, said: String::new() }
    }

    fn run(&mut self, arguments: &[&str]) -> Ran {
        let mut command: Command = self.home.own_tools(arguments);
        for number in CANARIES / 2..CANARIES {
            command.env(format!("CANARY_{number}_TOKEN"), canary(number));
        }
        let ran = ran(command.stdin(Stdio::null()).output().unwrap());
        self.said.push_str(&ran.out);
        self.said.push_str(&ran.err);
        ran
    }
}

#[test]
fn no_secret_reaches_anything_that_is_kept_or_told() {
    let mut aviary = Aviary::new();
    let mut calls = 0;
    for (name, encode) in ENCODERS {
        let all: Vec<String> = (0..CANARIES).map(|number| encode(&canary(number))).collect();
        let text = format!("text={}", all.join(" | "));
        for way in WAYS {
            let way = format!("way={way}");
            let said = aviary.run(&["call", "blurt", &text, &way]);
            assert!(said.code == 0 || said.code == 1, "{name} {way}: {said:?}");
            calls += 1;
        }
        aviary.run(&["call", "publish_note", "path=/nowhere/x", &text]).ended(4);
        aviary.run(&["call", "calculator", &text]).ended(1);
        aviary.run(&["call", &all[0], &text]);
        aviary.run(&["call", "calculator", &text, "--dry-run"]);
    }
    for arguments in [
        &["log", "--json", "--limit", "1000"][..],
        &["log", "last"],
        &["approvals", "--json"],
        &["approvals", "show", "last"],
        &["approvals", "deny", "last", "--never"],
        &["policy", "list", "--json"],
        &["policy", "export", "--all"],
        &["secrets", "list", "--json"],
        &["config", "show", "--origin"],
        &["doctor", "--json"],
        &["tools", "--all", "--json"],
    ] {
        aviary.run(arguments);
    }
    let backup = aviary.home.path().join("backup.tar");
    aviary.run(&["backup", "create", backup.to_str().unwrap()]).ended(0);
    assert_eq!(calls, 60);

    let mut kept = Vec::new();
    read_all(aviary.home.path(), &mut kept);
    assert!(kept.len() > 100_000, "the journal holds something: {} bytes", kept.len());
    assert!(aviary.said.contains("[secret CANARY_7]") && aviary.said.contains("CANARY_45_TOKEN]"));
    // Base64 of a piece is found only at one of three places; the whole one is looked for as well.
    let (owners, forms): (Vec<String>, Vec<String>) = (0..CANARIES)
        .flat_map(|number| pieces(&canary(number)).into_iter().map(move |piece| (number, piece)))
        .flat_map(|(number, piece)| {
            ENCODERS.map(|(name, encode)| (format!("{name} of {}", canary(number)), encode(&piece)))
        })
        .unzip();
    // All of them at once: there are thousands, and what is searched has megabytes.
    let search = AhoCorasick::new(&forms).unwrap();
    assert!(search.is_match(canary(0).as_bytes()), "a whole one would be found");
    let places = [("kept", kept.as_slice()), ("said", aviary.said.as_bytes())];
    let hits: Vec<String> = places
        .into_iter()
        .flat_map(|(place, text)| search.find_iter(text).map(move |hit| (place, hit.pattern())))
        .map(|(place, pattern)| format!("{place}: {}", owners[pattern.as_usize()]))
        .collect();
    assert!(hits.is_empty(), "{} hits: {:#?}", hits.len(), &hits[..hits.len().min(5)]);
}

/// The whole, and every piece that would be too much.
fn pieces(canary: &str) -> Vec<String> {
    let letters: Vec<char> = canary.chars().collect();
    let windows = letters.windows(PIECE).map(|piece| piece.iter().collect());
    windows.chain([canary.to_owned()]).collect()
}

/// Every file below, the master key apart: what the key opens is sealed.
fn read_all(folder: &Path, kept: &mut Vec<u8>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("master.key") => {}
            _ if path.is_dir() => read_all(&path, kept),
            _ => kept.extend(std::fs::read(&path).unwrap()),
        }
    }
}
