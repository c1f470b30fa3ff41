//! Matches abbreviated names: `clc` for `calculator`, `glt` for `get_local_time`.

use super::folded::{Folded, per_mille};

/// Points of a letter by its position.
const AT_WORD_START: usize = 4;
const BEHIND_THE_LAST: usize = 3;
const LOOSE: usize = 1;

/// How well the letters of `wanted` match `name` in order, per mille. `None` if one is missing.
///
/// Two or more adjacent letters always match. Scattered letters match if fewer than half are loose, that is neither at a
/// word start nor behind the previous letter: in a long name nearly any letters can be found loosely.
///
/// Runs in time linear in the name. So it tries three placements, not all: in one piece, as early as possible, and as
/// late as possible before the end of the early one.
pub(super) fn fuzzy(wanted: &str, name: &Folded) -> Option<usize> {
    let text = name.text();
    if let Some(at) = text.find(wanted) {
        let piece = Letters::new(name, wanted.char_indices().map(|(offset, letter)| (at + offset, letter)));
        return (piece.letters > 1).then(|| piece.worth());
    }
    let early = lay(wanted.chars(), text.char_indices())?;
    let end = early.last().map(|(at, letter)| at + letter.len_utf8())?;
    let mut late = lay(wanted.chars().rev(), text.get(..end)?.char_indices().rev())?;
    late.reverse();
    let ways = [early, late].map(|laid| Letters::new(name, laid.into_iter()));
    ways.iter().filter(|laid| laid.loose * 2 < laid.letters).map(Letters::worth).max()
}

/// Places each letter behind the previous one.
fn lay(
    wanted: impl Iterator<Item = char>,
    mut text: impl Iterator<Item = (usize, char)>,
) -> Option<Vec<(usize, char)>> {
    wanted.map(|letter| text.find(|(_, candidate)| *candidate == letter)).collect()
}

/// Letters placed in a name.
#[derive(Default)]
struct Letters {
    letters: usize,
    loose: usize,
    points: usize,
}

impl Letters {
    fn new(name: &Folded, letters: impl Iterator<Item = (usize, char)>) -> Self {
        let (mut laid, mut behind_the_last) = (Self::default(), None);
        for (at, letter) in letters {
            laid.points += if name.is_word_start(at) {
                AT_WORD_START
            } else if behind_the_last == Some(at) {
                BEHIND_THE_LAST
            } else {
                laid.loose += 1;
                LOOSE
            };
            laid.letters += 1;
            behind_the_last = Some(at + letter.len_utf8());
        }
        laid
    }

    fn worth(&self) -> usize {
        per_mille(self.points, self.letters * AT_WORD_START)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn abbreviations_match_and_random_letters_do_not() {
        let check = |wanted: &str, name: &str, expected: Option<usize>| {
            assert_eq!(fuzzy(wanted, &Folded::new(name)), expected, "{wanted} in {name}");
        };
        check("glt", "get_local_time", Some(1_000));
        check("mail", "send_email", Some(625));
        check("clc", "calculator", Some(666));
        check("gettime", "get_local_time", Some(821));
        check("größ", "die_größe", None);
        check("mail", "make email list", Some(625));
        check("查询", "天气查询", Some(500));
        check("time", "transmission_mode", None);
        check("xyz", "calculator", None);
        check("aoe", "calculator store", None);
        check("e", "get", None);
        check("calculators", "calculator", None);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn only_letters_in_their_order_are_found(wanted in "\\PC{1,6}", name in "\\PC{0,30}") {
            let (wanted, name) = (Folded::new(&wanted), Folded::new(&name));
            if let Some(worth) = fuzzy(wanted.text(), &name) {
                prop_assert!(worth <= 1_000);
                let mut rest = name.text().chars();
                prop_assert!(wanted.text().chars().all(|letter| rest.any(|other| other == letter)));
            }
        }

        #[test]
        fn a_piece_of_two_letters_or_more_is_found(
            before in "[a-zA-Z_äß漢🦀]{0,9}", piece in "[a-zäß漢🦀]{2,9}", after in "[a-zA-Z_äß漢🦀]{0,9}",
        ) {
            let name = Folded::new(&format!("{before}{piece}{after}"));
            prop_assert!(fuzzy(Folded::new(&piece).text(), &name).is_some());
        }
    }
}
