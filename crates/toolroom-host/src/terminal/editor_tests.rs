//! Texts written at a real pseudo-terminal.

use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};

use super::tests::{Pair, type_quietly};
use super::{Editor, EditorOutcome};

/// What is written when this is typed, and what is seen of it.
fn write(editor: &mut Editor, typed: &str) -> (EditorOutcome, String) {
    let mut pair = Pair::new();
    let before = pair.mode();
    let person = pair.person.as_fd().try_clone_to_owned().unwrap();
    let written = std::thread::scope(|scope| {
        let (terminal, editor) = (&mut pair.terminal, &mut *editor);
        let writer = scope.spawn(move || editor.read(terminal, "> ", || false));
        type_quietly(&person, &pair.witness, typed);
        writer.join().unwrap().unwrap()
    });
    assert_eq!(pair.mode(), before);
    drop((pair.terminal, pair.witness));
    (written, all(&pair.person))
}

/// Everything shown on a terminal whose other end is closed.
fn all(person: &OwnedFd) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = rustix::io::read(person, &mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8(seen).unwrap()
}

#[test]
fn keys_do_what_they_do_in_a_shell() {
    let check = |typed: &str, text: &str| {
        let mut editor = Editor::new(vec!["first one".to_owned(), "second two".to_owned()]);
        assert_eq!(write(&mut editor, typed).0, EditorOutcome::Text(text.to_owned()), "{typed:?}");
    };
    check("hello\r", "hello");
    check("hellp\x7fo wörld 日本\r", "hello wörld 日本");
    check("world\x01hello \r", "hello world");
    check("one two\x17three\r", "one three");
    check("one two\x1b[D\x1b[D\x0b\r", "one t");
    check("one\x15two\x19!\r", "twoone!");
    check("ab\x1b[D\x04c\r", "ac");
    check("ab\x1b[H\x1b[3~\r", "b");
    check("one two\x1b[1;5D\x1b[1;5DX\x1b[FY\r", "Xone twoY");
    check("one\\\rtwo\r", "one\ntwo");
    check("one\x1b\rtwo\r", "one\ntwo");
    check("\x1b[200~pasted\r\nlines\n\x1b[201~!\r", "pasted\nlines!");
    check("\x1b[200~\x1b[31mred\x07\x1b[201~\r", "[31mred");
    check("\x1b[A\r", "second two");
    check("\x1b[A\x1b[A\x1b[A\r", "first one");
    check("mine\x1b[A\x1b[B!\r", "mine!");
    check("one\x12\r", "first one");
    check("o\x12\x12\r", "first one");
    check("nothing like it\x12\r", "nothing like it");
    check("ab\x1b[1\x18\x1b]0;title\x07\u{9b}5uc\r", "abc");
}

#[test]
fn a_text_can_be_left() {
    let mut editor = Editor::default();
    assert_eq!(write(&mut editor, "half\x03").0, EditorOutcome::Interrupted(true));
    assert_eq!(write(&mut editor, "\x03").0, EditorOutcome::Interrupted(false));
    assert_eq!(write(&mut editor, "\x04").0, EditorOutcome::End);
    let looked = Cell::new(0);
    let mut pair = Pair::new();
    let stopped = editor.read(&mut pair.terminal, "> ", || looked.replace(looked.get() + 1) > 0);
    assert_eq!(stopped.unwrap(), EditorOutcome::Stopped);
    let Pair { person, mut terminal, witness } = Pair::new();
    drop((person, witness));
    let gone = editor.read(&mut terminal, "> ", || true);
    assert!(gone.is_err() || matches!(gone, Ok(EditorOutcome::End | EditorOutcome::Stopped)), "{gone:?}");
}

#[test]
fn what_is_written_is_drawn_in_rows_and_pastes_are_asked_for_in_brackets() {
    let (_, seen) = write(&mut Editor::default(), "hi\r");
    assert!(seen.starts_with("\x1b[?2004h\r\x1b[J> \r\x1b[2C"), "{seen:?}");
    assert!(seen.contains("\r\x1b[J> hi\r\x1b[4C"), "{seen:?}");
    assert!(seen.ends_with("\r\n\x1b[?2004l"), "{seen:?}");
}
