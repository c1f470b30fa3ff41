//! Ordinary text stays as it is: this repository's own, and what programs log.

use std::path::{Path, PathBuf};

use toolroom::redact::Redactor;

use super::encoders::{STANDARD, base64};
use super::redactor;
use crate::mutation::Dice;

/// Changed lines per thousand that are too many.
const MOST_PER_MILLE: usize = 10;

/// Every text file of the repository but those that test redaction.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || matches!(name.as_str(), "target" | "redact") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Lines as servers, builds and shells write them.
fn log_lines() -> Vec<String> {
    let mut dice = Dice(0x10_6f11e);
    let mut hex =
        |length: usize| -> String { (0..length).map(|_| format!("{:x}", dice.below(16))).collect() };
    let mut lines = Vec::new();
    for n in 0..100_u64 {
        let uuid = [8, 4, 4, 4, 12].map(&mut hex).join("-");
        let (sha256, sha1, md5, short) = (hex(64), hex(40), hex(32), hex(7));
        let image = base64(hex(120).as_bytes(), STANDARD);
        let (day, hour, minute, micros) = (1 + n % 28, n % 24, n * 7 % 60, n * 9973);
        let stamp = format!("2026-03-{day:02}T{hour:02}:{minute:02}:{minute:02}.{micros:06}Z");
        let (ms, snowflake) = (1_753_871_000_000 + n, 1_200_000_000_000_000_000 + n);
        lines.extend([
            format!("{stamp} INFO request id={uuid} method=GET path=/v1/items/{n} status=200 took={n}.{n}ms"),
            format!(
                "10.0.{n}.1 - - [{day}/Mar/2026:13:55:36 +0000] \"GET /a/{short}.js HTTP/1.1\" 200 {n}43"
            ),
            format!("{sha256}  target/release/toolroom-{n}.tar.gz"),
            format!("sha256:{sha256} sha1:{sha1} md5:{md5}"),
            format!("commit {sha1} (HEAD -> main, origin/main) {short} {}", n * 1_000_003),
            format!("https://cdn.example.com/{short}/image-{n}.png?v={short}&width=640&next_token={md5}"),
            format!("[fe80::1ff:fe23:4567:{n:x}]:8080 -> 192.168.1.{n}:443 bytes={}", n * 65_537),
            format!("data:image/png;base64,iVBORw0KGgo{image}"),
            format!("tokens: prompt={n}12 completion={n}3 total_tokens={}", n * 1024),
            format!(
                "   Compiling serde v1.0.{n} (/home/user/.cargo/registry/src/index-{short}{short}/serde)"
            ),
            format!("E0{n:03} at src/main.rs:{n}:17: expected `Token`, found `Secret`; password is required"),
            format!("ts={ms} order={} snowflake={snowflake}", 90_000_000 + n),
        ]);
    }
    lines
}

/// Counts changed lines, and shows them.
#[expect(clippy::print_stdout, reason = "what is changed is what one wants to see")]
fn changed<'l>(redactor: &Redactor, lines: impl Iterator<Item = &'l str>) -> (usize, usize) {
    let (mut changed, mut all) = (0, 0);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let redacted = redactor.redact_text(line);
        if redacted != line {
            println!("{line}\n  -> {redacted}");
            changed += 1;
        }
        all += 1;
    }
    (changed, all)
}

#[test]
fn fewer_than_one_line_in_a_hundred_is_changed() {
    let texts: Vec<String> = files().iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let logs = log_lines();
    // Stored values make no difference to text in which they are not.
    for redactor in [Redactor::default(), redactor()] {
        let (in_files, lines) = changed(&redactor, texts.iter().flat_map(|text| text.lines()));
        let (in_logs, log_lines) = changed(&redactor, logs.iter().map(String::as_str));
        println!("{in_files} of {lines} lines of the repository, {in_logs} of {log_lines} of logs");
        assert!(lines > 10_000 && log_lines > 1_000);
        assert!(in_files * 1_000 < lines * MOST_PER_MILLE && in_logs * 1_000 < log_lines * MOST_PER_MILLE);
    }
}
