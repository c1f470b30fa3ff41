//! Secrets are hidden, in every encoding and every piece, and nothing else is.

mod canaries;
mod encoders;
mod ordinary;
mod stream;
mod value;

use toolroom::redact::{Patterns, Redactor, Secret};

use crate::mutation::Dice;

/// What secrets are made of.
const ALPHABETS: [&str; 8] = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "0123456789abcdef",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
    "\"'\\/<>&%+=\n\t aZ9",
    "äöüßéèñçøåλжш日本語🦀ab1",
    "0123456789",
];

/// Sixty secrets, the same in every run.
fn canaries() -> Vec<String> {
    let mut dice = Dice(0x5eed_cafe_f00d_1234);
    let mut canaries: Vec<String> = (0..58)
        .map(|n| {
            let alphabet: Vec<char> = ALPHABETS[n % ALPHABETS.len()].chars().collect();
            let length = [8, 9, 10, 12, 20, 32, 40, 64][n / ALPHABETS.len()];
            // White space around a secret is not part of it.
            let edge = |dice: &mut Dice| char::from(b"QRSTUVWX"[dice.below(8)]);
            let middle: String = (2..length).map(|_| alphabet[dice.below(alphabet.len())]).collect();
            format!("{}{middle}{}", edge(&mut dice), edge(&mut dice))
        })
        .collect();
    for line in [64, 70] {
        let alphabet: Vec<char> = ALPHABETS[2].chars().collect();
        let lines: Vec<String> =
            (0..6).map(|_| (0..line).map(|_| alphabet[dice.below(alphabet.len())]).collect()).collect();
        canaries
            .push(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")));
    }
    assert_eq!(canaries.len(), 60);
    canaries
}

/// A redactor that knows all canaries.
fn redactor() -> Redactor {
    let secret = |(n, value): (usize, String)| Secret::new(format!("CANARY_{n}"), value);
    Redactor::new(canaries().into_iter().enumerate().map(secret), Patterns::All)
}
