//! Keys from bytes, and a real pseudo-terminal.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use proptest::collection;
use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::key::{Byte, Paste, next_key};
use super::quiet_mode::QuietMode;
use super::{Key, Size, Terminal, restore_all};
use crate::scale::cases;

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(30);

/// All keys in bytes that come at once.
fn keys(bytes: &[u8]) -> Vec<Key> {
    keys_with(Paste::Swallowed, bytes)
}

fn keys_with(paste: Paste, bytes: &[u8]) -> Vec<Key> {
    let mut bytes: VecDeque<u8> = bytes.iter().copied().collect();
    let mut keys = Vec::new();
    loop {
        let key = next_key(paste, |_| Ok(bytes.pop_front().map_or(Byte::Nothing, Byte::Got))).unwrap();
        match key {
            Some(key) => keys.push(key),
            None => return keys,
        }
    }
}

#[test]
fn bytes_become_keys() {
    let check = |bytes: &[u8], expected: &[Key]| assert_eq!(keys(bytes), expected, "{bytes:?}");
    check("y é€🦀 ".as_bytes(), &['y', ' ', 'é', '€', '🦀', ' '].map(Key::Char));
    check(b"\r\n", &[Key::Enter, Key::Enter]);
    check(b"\x7f\x08", &[Key::Backspace, Key::Backspace]);
    check(b"\x03\x1c\x04", &[Key::Interrupt, Key::Interrupt, Key::EndOfInput]);
    check(b"\x15\t\x00", &[Key::Control('u'), Key::Char('\t'), Key::Control('`')]);
    check(b"\x1b", &[Key::Escape]);
    check(b"\x1b\x1b", &[Key::Escape]);
}

#[test]
fn what_keys_send_as_sequences_is_never_read_as_letters() {
    for sequence in [
        "\x1b[A",
        "\x1b[D",
        "\x1bOA",
        "\x1bOP",
        "\x1b[1;5C",
        "\x1b[15~",
        "\x1b[200~y\x1b[201~",
        "\x1b[200~y\ry\x1b[Ay\x03\x1b\x1b[201~",
        "\x1b[[A",
        "\x1b[My!!",
        "\x1b[Myyy",
        "\x1b[M !\u{ff}",
        "\x1b[M\u{ff}y\u{ff}",
        "\x1b[tyy",
        "\x1b[Tyyyyyy",
        "\x1b[<0;10;20M",
        "\x1b[1\x1b[1y",
        "\x1b]0;y\x1b[y",
        "\x1b[1\x18",
        "\x1b(y",
        "\x1b O",
        "\x1bO5y",
        "\x1bé",
        "\u{9b}y",
        "\u{9b}1;5y",
        "\u{8f}y",
        "\u{9d}y\x07",
        "\u{90}y\x1b\\",
        "\x1b\x1b[A",
        "\x1by",
        "\x1b[?62;22c",
        "\x1b]11;rgb:ffff/ffff/ffff\x07",
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\u{85}",
    ] {
        assert_eq!(keys(format!("{sequence}n").as_bytes()), [Key::Char('n')], "{sequence:?}");
    }
    let long = format!("\x1b]52;c;{}\x07n", "y".repeat(100_000));
    assert_eq!(keys(long.as_bytes()), [Key::Char('n')]);
    for (sequence, seen) in [
        (&b"\x9byn"[..], &[Key::Char('n')][..]),
        (b"\x9b200~y\x1b[201~n", &[Key::Char('n')]),
        // Coordinates beyond what is ASCII, as bytes.
        (b"\x1b[M \xc5\xc5n", &[Key::Char('n')]),
        (b"\x1b[M \xc5\xc5\x1b[yn", &[Key::Char('n')]),
        (b"\xc3\x1b[yn", &[Key::Char('n')]),
        (b"\xe2\x82\x03", &[Key::Interrupt]),
        // Cut off: what comes after a silence is typed.
        (b"\x1b[200~y", &[]),
        (b"\x1b[My!", &[]),
        (b"\x9d y", &[]),
    ] {
        assert_eq!(keys(sequence), seen, "{sequence:?}");
    }
    for broken in [&b"\xff"[..], b"\x80", b"\xc3", b"\xf0\x9f", b"\xe2\x28\xa1", b"\xc0\xaf", b"\x1b[1;"] {
        assert_eq!(keys(broken), [], "{broken:?}");
    }
}

#[test]
fn what_is_pasted_is_text_and_no_answer() {
    let pasted = b"\x1b[200~y\rn\x1b[201~x";
    assert_eq!(keys(pasted), [Key::Char('x')]);
    let all = [Key::Char('y'), Key::Enter, Key::Char('n'), Key::Char('x')];
    assert_eq!(keys_with(Paste::Taken, pasted), all);
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn no_arrow_answers(
        noise in collection::vec(
            prop_oneof![
                "[\x1b]\\[[0-9;?<]{1,9}[A-Za-z~]",
                "\u{9b}[0-9;?]{1,9}[A-Za-z]",
                "\x1b\\[[A-LN-SU-Za-su-z]",
                "\x1b\\[M[ -~\u{a1}-\u{7ff}]{3}",
                "\x1b\\[200~[ -~]{0,99}\x1b\\[201~",
                "\x1b[\\]P^_X][ -~]{0,99}\x1b\\\\",
                "\x1b\\][ -~]{0,99}\x07",
                "\x1bO[A-Za-z]",
                "\x1b[a-z]",
            ],
            0..9,
        )
    ) {
        prop_assert_eq!(keys(noise.concat().as_bytes()), []);
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in collection::vec(any::<u8>(), 0..60)) {
        let controls = |key: &Key| matches!(key, Key::Char(character) if character.is_control() && *character != '\t');
        prop_assert!(!keys(&bytes).iter().any(controls));
    }
}

/// A terminal, and the end of it where the person sits.
pub(super) struct Pair {
    pub(super) person: OwnedFd,
    pub(super) terminal: Terminal,
    /// To look at the mode while the terminal is used.
    pub(super) witness: OwnedFd,
}

impl Pair {
    pub(super) fn new() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let person = openpt(flags).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let [input, screen, witness] = [(); 3].map(|()| ioctl_tiocgptpeer(&person, flags).unwrap());
        Self { person, terminal: Terminal::over(input, screen), witness }
    }

    fn types(&self, text: &str) {
        assert_eq!(rustix::io::write(&self.person, text.as_bytes()).unwrap(), text.len());
    }

    /// The screen output, after at least one character.
    fn sees(&self) -> String {
        let mut seen = [0; 1_000];
        let length = rustix::io::read(&self.person, &mut seen).unwrap();
        String::from_utf8(seen[..length].to_vec()).unwrap()
    }

    pub(super) fn mode(&self) -> String {
        format!("{:?}", tcgetattr(&self.witness).unwrap())
    }
}

/// Types once the mode is changed: what comes before, the terminal itself shows and takes for signals.
pub(super) fn type_quietly(person: &OwnedFd, witness: &OwnedFd, text: &str) {
    while tcgetattr(witness).unwrap().local_modes.contains(LocalModes::ECHO) {
        std::thread::yield_now();
    }
    let mut left = text.as_bytes();
    while !left.is_empty() {
        left = &left[rustix::io::write(person, left).unwrap()..];
    }
}

/// Until there is something to read.
fn wait(terminal: &OwnedFd) {
    let long = Timespec::try_from(LONG).unwrap();
    assert_eq!(poll(&mut [PollFd::new(terminal, PollFlags::IN)], Some(&long)).unwrap(), 1);
}

#[test]
fn a_key_is_read_without_enter_and_the_mode_comes_back() {
    let mut pair = Pair::new();
    let before = pair.mode();
    pair.types("y");
    assert_eq!(pair.terminal.read_key(LONG).unwrap(), Some(Key::Char('y')), "typed just before");
    for (text, key) in [
        ("\x1b[An", Key::Char('n')),
        ("\x1b[200~y\x1b[201~n", Key::Char('n')),
        ("\x1b[My!!n", Key::Char('n')),
        ("\u{9b}yn", Key::Char('n')),
        ("\x03", Key::Interrupt),
        ("\r", Key::Enter),
    ] {
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| pair.terminal.read_key(LONG));
            type_quietly(&pair.person, &pair.witness, text);
            reader.join().unwrap()
        });
        assert_eq!(read.unwrap(), Some(key), "{text:?}");
        assert_eq!(pair.mode(), before);
    }
    assert_eq!(pair.terminal.read_key(Duration::ZERO).unwrap(), None);
    assert_eq!(pair.terminal.read_key(Duration::from_millis(1)).unwrap(), None);
    assert_eq!(pair.mode(), before);
    pair.types("\x1b");
    assert_eq!(pair.terminal.read_key(Duration::MAX).unwrap(), Some(Key::Escape));
}

#[test]
fn what_was_typed_ahead_answers_nothing() {
    let mut pair = Pair::new();
    pair.types("y\n");
    wait(&pair.witness);
    pair.terminal.discard_typed_ahead().unwrap();
    assert_eq!(pair.terminal.read_key(Duration::ZERO).unwrap(), None);
    pair.types("n");
    assert_eq!(pair.terminal.read_key(LONG).unwrap(), Some(Key::Char('n')));
}

#[test]
fn a_line_is_read_as_the_terminal_edits_it() {
    let mut pair = Pair::new();
    pair.types("hellp\x7fo wörld\nnext\n");
    assert_eq!(pair.terminal.read_line().unwrap().unwrap(), "hello wörld");
    assert_eq!(pair.terminal.read_line().unwrap().unwrap(), "next");
    assert!(pair.sees().starts_with('h'), "it is shown");
    pair.types("\x04");
    assert_eq!(pair.terminal.read_line().unwrap(), None);
    pair.types("\n");
    assert_eq!(pair.terminal.read_line().unwrap().unwrap(), "");
}

#[test]
fn a_line_is_there_once_it_is_whole() {
    let mut pair = Pair::new();
    pair.types("half");
    assert!(!pair.terminal.has_line(Duration::ZERO).unwrap());
    pair.types(" a line\n");
    assert!(pair.terminal.has_line(LONG).unwrap());
    assert_eq!(pair.terminal.read_line().unwrap().unwrap(), "half a line");
    assert!(!pair.terminal.has_line(Duration::ZERO).unwrap());
    pair.types("\x04");
    assert!(pair.terminal.has_line(LONG).unwrap(), "the end of input is no reason to wait");
    assert_eq!(pair.terminal.read_line().unwrap(), None);
}

/// What a hidden line gives and what is seen of it, when this is typed.
fn hidden(text: &str) -> (std::io::Result<Option<String>>, String) {
    let Pair { person, mut terminal, witness } = Pair::new();
    let reader = std::thread::spawn(move || terminal.read_hidden_line());
    type_quietly(&person, &witness, text);
    let line = reader.join().unwrap().map(|line| line.map(|line| line.to_string()));
    let mut seen = [0; 1_000];
    let length = rustix::io::read(&person, &mut seen).unwrap();
    assert!(tcgetattr(&witness).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON));
    (line, String::from_utf8(seen[..length].to_vec()).unwrap())
}

#[test]
fn a_hidden_line_is_not_shown() {
    for (text, line) in [
        ("hunter2\n", Some("hunter2")),
        ("wrong\x15pä\x7fass\x1b[Dword\r", Some("password")),
        ("tab\there\n", Some("tab\there")),
        ("\x1b[200~pasted\x1b[201~\n", Some("pasted")),
        ("\x1b[200~pasted\n\x1b[201~", Some("pasted")),
        ("twice ended\r\n", Some("twice ended")),
        ("\n", Some("")),
        ("\x04", None),
        ("cut\x04", Some("cut")),
    ] {
        let (read, seen) = hidden(text);
        assert_eq!((read.unwrap().as_deref(), seen.as_str()), (line, "\r\n"), "{text:?}");
    }
    // Longer than what a terminal takes when it edits lines itself.
    let long = "x".repeat(10_000);
    assert_eq!(hidden(&format!("{long}\n")).0.unwrap(), Some(long));
    assert_eq!(hidden("secret\x03").0.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
}

#[test]
fn no_line_of_a_hidden_paste_is_left_for_the_shell() {
    let too_long = format!("{}\nrest\n", "x".repeat(70_000));
    for (text, why) in [("-----BEGIN\nKEY\n-----END\n", "more than one line"), (&too_long, "too long")] {
        let mut pair = Pair::new();
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| pair.terminal.read_hidden_line());
            type_quietly(&pair.person, &pair.witness, text);
            reader.join().unwrap()
        });
        let error = read.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(pair.terminal.read_key(Duration::ZERO).unwrap(), None, "{why}");
    }
}

#[test]
fn the_mode_comes_back_after_a_panic_and_before_an_exit() {
    let pair = Pair::new();
    let before = pair.mode();
    let quiet = QuietMode::begin(pair.witness.as_fd()).unwrap();
    assert_ne!(pair.mode(), before);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _quiet = quiet;
        panic!("in the middle");
    }));
    assert!(result.is_err());
    assert_eq!(pair.mode(), before);

    let quiet = QuietMode::begin(pair.witness.as_fd()).unwrap();
    restore_all();
    assert_eq!(pair.mode(), before);
    drop(quiet);

    // Nested, as when a key is read while the caller keeps the terminal quiet.
    let outer = QuietMode::begin(pair.witness.as_fd()).unwrap();
    let inner = QuietMode::begin(pair.witness.as_fd()).unwrap();
    restore_all();
    assert_eq!(pair.mode(), before);
    drop(inner);
    assert_ne!(pair.mode(), before);
    drop(outer);
    assert_eq!(pair.mode(), before);
}

#[test]
fn a_terminal_that_is_kept_quiet_shows_nothing_between_two_keys() {
    let mut pair = Pair::new();
    let before = pair.mode();
    let quiet = pair.terminal.quiet().unwrap();
    for key in ['a', 'b'] {
        assert_ne!(pair.mode(), before);
        pair.types(&key.to_string());
        assert_eq!(pair.terminal.read_key(LONG).unwrap(), Some(Key::Char(key)));
    }
    drop(quiet);
    assert_eq!(pair.mode(), before);
    pair.types("seen");
    assert_eq!(pair.sees(), "seen", "and nothing before it");
}

#[test]
fn a_terminal_that_goes_away_is_the_end_of_input() {
    let Pair { person, mut terminal, witness } = Pair::new();
    drop((person, witness));
    assert_eq!(terminal.read_line().unwrap(), None);
    assert!(!matches!(terminal.read_key(LONG), Ok(Some(Key::Char(_)) | None)));
}

#[test]
fn a_terminal_knows_its_size() {
    let pair = Pair::new();
    assert_eq!(pair.terminal.size(), None);
    tcsetwinsize(&pair.person, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    assert_eq!(pair.terminal.size(), Some(Size { columns: 80, rows: 24 }));
}
