//! What is kept of an output, for every output there could be.

use proptest::prelude::*;
use toolroom_host::process::CapturedOutput;

use crate::scale::cases;

fn kept(max_bytes: usize, parts: &[Vec<u8>]) -> CapturedOutput {
    let mut kept = CapturedOutput::new(max_bytes);
    parts.iter().for_each(|part| kept.push(part));
    kept
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn counts_are_exact_however_it_arrives(
        max_bytes in 0..40_usize,
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 0..12),
    ) {
        let whole = parts.concat();
        let kept = kept(max_bytes, &parts);
        let (head, tail) = kept.ends();
        prop_assert_eq!(kept.total_bytes(), whole.len() as u64);
        prop_assert_eq!(head.len() + tail.len(), whole.len().min(max_bytes));
        prop_assert_eq!(kept.dropped_bytes(), (whole.len() - head.len() - tail.len()) as u64);
        prop_assert!(whole.starts_with(&head) && whole.ends_with(&tail));
    }

    #[test]
    fn text_tells_every_byte_that_is_not_in_it(
        max_bytes in 0..40_usize,
        max_chars in 0..20_usize,
        text in "[a€\u{1f980}]{0,40}",
    ) {
        let kept = kept(max_bytes, &[text.clone().into_bytes()]);
        let shown = kept.text(max_chars);
        if shown == text {
            return Ok(());
        }
        let (head, rest) = shown.split_once("\n[… ").unwrap();
        let (missing, tail) = rest.split_once(" bytes left out …]\n").unwrap();
        prop_assert!(text.starts_with(head) && text.ends_with(tail), "{}", shown);
        prop_assert_eq!(missing.parse::<usize>().unwrap(), text.len() - head.len() - tail.len());
        prop_assert!(head.chars().count() + tail.chars().count() <= max_chars);
    }

    #[test]
    fn any_bytes_become_bounded_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), max_chars in 0..50_usize) {
        let text = kept(64, &[bytes]).text(max_chars);
        prop_assert!(text.chars().count() <= max_chars + 40, "{}", text);
    }
}
