use super::*;

fn page_in(chunks: &[&[u8]], first: u64, count: u64, max_bytes: usize) -> (String, Option<u64>, bool) {
    let mut pager = Pager::new(Lines { first, count, max_bytes });
    for chunk in chunks {
        if pager.take(chunk) == Wants::Nothing {
            break;
        }
    }
    let (content, next, is_cut) = pager.finish();
    (String::from_utf8(content).unwrap(), next, is_cut)
}

#[test]
fn lines_are_picked_wherever_chunks_end() {
    let text = b"one\ntwo\r\nthree\n\nfive";
    for size in 1..=text.len() {
        let chunks: Vec<&[u8]> = text.chunks(size).collect();
        let page = |first, count, max| page_in(&chunks, first, count, max);
        assert_eq!(page(1, 1, 100), ("one\n".into(), Some(2), false), "{size}");
        assert_eq!(page(0, 2, 100), ("one\ntwo\r\n".into(), Some(3), false));
        assert_eq!(page(2, 3, 100), ("two\r\nthree\n\n".into(), Some(5), false));
        assert_eq!(page(5, 1, 100), ("five".into(), None, false));
        assert_eq!(page(1, 99, 100), (String::from_utf8_lossy(text).into_owned(), None, false));
        assert_eq!(page(6, 1, 100), (String::new(), None, false));
        assert_eq!(page(1, 0, 100), (String::new(), Some(1), false));
        // A page ends before a line that does not fit,
        assert_eq!(page(1, 99, 10), ("one\ntwo\r\n".into(), Some(3), false));
        assert_eq!(page(3, 99, 6), ("three\n".into(), Some(4), false));
        // unless it is the only one.
        assert_eq!(page(3, 99, 3), ("thr".into(), Some(4), true));
        assert_eq!(page(u64::MAX, u64::MAX, 3), (String::new(), None, false));
    }
}

#[test]
fn a_line_is_not_cut_inside_a_character() {
    for max in 0..=12 {
        let (text, next, is_cut) = page_in(&["añ🙂漢字\n".as_bytes()], 1, 1, max);
        assert!("añ🙂漢字".starts_with(&text) && text.len() <= max && is_cut, "{max}: {text}");
        assert_eq!(next, Some(2));
    }
}

#[test]
fn pages_join_to_the_whole_text() {
    let text: String = (0..500).map(|number| format!("{}\n", "x".repeat(number % 37))).collect();
    for (count, max) in [(1, 100), (7, 100), (1_000, 64), (1_000, 10_000_000)] {
        let (mut joined, mut next) = (String::new(), Some(1));
        while let Some(first) = next {
            let (text, following, is_cut) = page_in(&[text.as_bytes()], first, count, max);
            assert!(!is_cut);
            joined.push_str(&text);
            next = following;
        }
        assert_eq!(joined, text);
    }
}
