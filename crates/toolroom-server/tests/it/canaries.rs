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

/// Those that say a text once and as a whole.
const ONCE: [&str; 4] = ["result", "key", "error", "progress"];

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
    fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let home = Home::new();
        for (name, value) in secrets {
            home.run_with_stdin(&["secrets", "set", &name], &value).ended(0);
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

    /// Says a text in every way, where it is kept and where it is refused.
    fn say(&mut self, name: &str, text: &str, ways: &[&str]) {
        for way in ways {
            let way = format!("way={way}");
            let said = self.run(&["call", "blurt", text, &way]);
            assert!(said.code == 0 || said.code == 1, "{name} {way}: {said:?}");
        }
        self.run(&["call", "publish_note", "path=/nowhere/x", text]).ended(4);
        self.run(&["call", "calculator", text]).ended(1);
        self.run(&["call", "calculator", text, "--dry-run"]);
    }

    /// Looks at everything that was kept.
    fn look(&mut self) {
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
            self.run(arguments);
        }
        let backup = self.home.path().join("backup.tar");
        self.run(&["backup", "create", backup.to_str().unwrap()]).ended(0);
    }

    /// Fails if anything that was kept or told holds a canary, or a piece of one.
    #[track_caller]
    fn is_silent_about(&self, canaries: &[String]) {
        let mut kept = Vec::new();
        read_all(self.home.path(), &mut kept);
        assert!(kept.len() > 100_000, "the journal holds something: {} bytes", kept.len());
        // Base64 of a piece is found only at one of three places; the whole one is looked for as well.
        let (owners, forms): (Vec<String>, Vec<String>) = canaries
            .iter()
            .flat_map(|canary| pieces(canary).into_iter().map(move |piece| (canary, piece)))
            .flat_map(|(canary, piece)| {
                ENCODERS.map(|(name, encode)| (format!("{name} of {canary}"), encode(&piece)))
            })
            .unzip();
        // All of them at once: there are thousands, and what is searched has megabytes.
        let search = AhoCorasick::new(&forms).unwrap();
        assert!(search.is_match(canaries[0].as_bytes()), "a whole one would be found");
        let places = [("kept", kept.as_slice()), ("said", self.said.as_bytes())];
        let hits: Vec<String> = places
            .into_iter()
            .flat_map(|(place, text)| search.find_iter(text).map(move |hit| (place, hit.pattern())))
            .map(|(place, pattern)| format!("{place}: {}", owners[pattern.as_usize()]))
            .collect();
        assert!(hits.is_empty(), "{} hits: {:#?}", hits.len(), &hits[..hits.len().min(5)]);
    }
}

#[test]
fn no_secret_reaches_anything_that_is_kept_or_told() {
    let stored = (0..CANARIES / 2).map(|number| (format!("CANARY_{number}"), canary(number)));
    let mut aviary = Aviary::new(stored);
    for (name, encode) in ENCODERS {
        let all: Vec<String> = (0..CANARIES).map(|number| encode(&canary(number))).collect();
        let text = format!("text={}", all.join(" | "));
        aviary.say(name, &text, &WAYS);
        aviary.run(&["call", &all[0], &text]);
    }
    aviary.look();
    assert!(aviary.said.contains("[secret CANARY_7]") && aviary.said.contains("CANARY_45_TOKEN]"));
    aviary.is_silent_about(&(0..CANARIES).map(canary).collect::<Vec<_>>());
}

/// A secret with several lines, and the parts that must not appear.
struct LongSecret {
    value: String,
    canaries: Vec<String>,
    /// Parts that a parser of its format would show.
    values: Vec<String>,
}

impl LongSecret {
    /// All of its lines are secret.
    fn of_lines(lines: Vec<String>) -> Self {
        Self { value: lines.join("\n") + "\n", canaries: lines, values: Vec::new() }
    }

    /// Ways in which it is shown as a whole and in parts.
    fn shown(&self) -> Vec<String> {
        let lines: Vec<&str> = self.value.lines().map(str::trim).collect();
        let is_short = lines.iter().all(|line| line.len() < 8);
        let mut shown = self.values.clone();
        for joint in JOINED.iter().filter(|joint| !is_short || !joint.contains("  ")) {
            shown.push(lines.join(joint));
            shown.extend(lines.windows(2).map(|pair| pair.join(joint)));
        }
        if !is_short {
            shown.extend(lines.iter().map(|line| (*line).to_owned()));
            shown.push(lines.iter().map(|line| format!("+    {line}\n")).collect());
            shown.push(lines.iter().enumerate().map(|(n, line)| format!("{n:>5}\t{line}\n")).collect());
            shown.push(lines.iter().map(|line| format!("\"{line}\", ")).collect());
        }
        shown
    }
}

/// Letters of both cases and digits, other ones for each number.
fn letters(number: usize, count: usize) -> String {
    let mut state = number as u64 * 0x9e37_79b9 + 0x5eed_cafe;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[(state >> 33) as usize % 62],
        )
    };
    std::iter::repeat_with(&mut letter).take(count).collect()
}

fn long_secrets() -> Vec<LongSecret> {
    let key_lines = |from: usize| -> Vec<String> { (from..from + 5).map(|n| letters(n, 64)).collect() };
    let frame = |lines: &[String], line_break: &str| {
        let lines = lines.join(line_break);
        ["-----BEGIN PRIVATE KEY-----", &lines, "k9Qz==", "-----END PRIVATE KEY-----", ""].join(line_break)
    };
    let (plain, in_json) = (key_lines(0), key_lines(10));
    let (id, password, token) = (letters(20, 40), letters(21, 16), letters(22, 24));
    let account = format!(
        "{{\n  \"type\": \"service_account\",\n  \"private_key_id\": \"{id}\",\n  \"private_key\": \"{}\",\n  \
         \"client_email\": \"x@y.example\"\n}}\n",
        frame(&in_json, "\\n")
    );
    let variables =
        format!("# of the shop\nDB_PASSWORD={password}\nexport API_TOKEN=\"{token}\"\nDEBUG=true\n");
    let codes = (30..40).map(|n| format!("{}-{}", letters(n, 5), letters(n + 50, 5))).collect();
    let pgpass = (0..3).map(|n| format!("db{n}.example:5432:shop:ann:{}", letters(70 + n, 9))).collect();
    vec![
        LongSecret { value: frame(&plain, "\n"), canaries: plain, values: Vec::new() },
        LongSecret {
            value: account,
            canaries: [in_json.clone(), vec![id.clone()]].concat(),
            values: [in_json.clone(), vec![id, frame(&in_json, "\n"), in_json.concat()]].concat(),
        },
        LongSecret {
            value: variables,
            canaries: vec![password.clone(), token.clone()],
            values: vec![password, token],
        },
        LongSecret::of_lines(codes),
        LongSecret::of_lines(pgpass),
        // Too short one by one.
        LongSecret {
            value: "Qx7k2\n9wdRt\nz4LpV\nm8Yc3".to_owned(),
            canaries: ["Qx7k29wdRtz4LpVm8Yc3", "Qx7k2 9wdRt", "9wdRt z4LpV"].map(str::to_owned).into(),
            values: Vec::new(),
        },
    ]
}

/// Ways in which lines are shown that belong together.
const JOINED: [&str; 6] = ["", " ", "\n", "\r\n", "\n      ", "\\n"];

#[test]
fn no_line_of_a_secret_reaches_anything_that_is_kept_or_told() {
    let secrets = long_secrets();
    let stored = secrets.iter().enumerate().map(|(n, secret)| (format!("LONG_{n}"), secret.value.clone()));
    let mut aviary = Aviary::new(stored);
    // A text has to fit into the arguments of a program.
    for group in secrets.chunks(3) {
        let shown: Vec<String> = group.iter().flat_map(LongSecret::shown).collect();
        for (name, encode) in ENCODERS {
            let all: Vec<String> = shown.iter().map(|text| encode(text)).collect();
            aviary.say(name, &format!("text={}", all.join(" | ")), &ONCE);
        }
        let values: Vec<&str> = group.iter().map(|secret| secret.value.as_str()).collect();
        aviary.say("joined", &format!("text={}", values.join(" | ").replace('\n', "")), &WAYS);
    }
    aviary.look();
    assert!((0..secrets.len()).all(|number| aviary.said.contains(&format!("[secret LONG_{number}]"))));
    let canaries: Vec<String> = secrets.into_iter().flat_map(|secret| secret.canaries).collect();
    aviary.is_silent_about(&canaries);
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
