//! The Porter stemmer for English words. It changes words of other languages little and consistently.

/// The stem of a lower-case word, cut in place. Words with other characters than `a` to `z` stay unchanged.
pub(super) fn stem(word: &mut String) {
    if word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_lowercase()) {
        plural(word);
        past(word);
        if word.ends_with('y') && has_vowel(cut(word, 1)) {
            swap(word, 1, "i");
        }
        replace(word, DOUBLE);
        replace(word, SINGLE);
        drop_ending(word);
        last_e(word);
    }
}

/// Endings made of several, and what is left of them.
const DOUBLE: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const SINGLE: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Endings that long words lose altogether; longer ones before those they end with.
const DROPPED: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic", "ou",
];

fn plural(word: &mut String) {
    if word.ends_with("sses") || (word.ends_with("ies") && word.len() > 4) {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        word.pop();
    }
}

fn past(word: &mut String) {
    if word.ends_with("eed") {
        if measure(cut(word, 3)) > 0 {
            word.pop();
        }
        return;
    }
    for ending in ["ed", "ing"] {
        if !word.ends_with(ending) || !has_vowel(cut(word, ending.len())) {
            continue;
        }
        word.truncate(word.len() - ending.len());
        let mut back = word.bytes().rev();
        let (last, before) = (back.next(), back.next());
        if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
            word.push('e');
        } else if last == before && !matches!(last, Some(b'l' | b's' | b'z')) {
            word.pop();
        } else if measure(word) == 1 && ends_short(word) {
            word.push('e');
        }
        return;
    }
}

fn replace(word: &mut String, endings: &[(&str, &str)]) {
    if let Some((ending, instead)) = endings.iter().find(|(ending, _)| word.ends_with(ending))
        && measure(cut(word, ending.len())) > 0
    {
        swap(word, ending.len(), instead);
    }
}

fn drop_ending(word: &mut String) {
    let Some(ending) = DROPPED.iter().find(|ending| word.ends_with(*ending)) else { return };
    let rest = cut(word, ending.len());
    if measure(rest) > 1 && (*ending != "ion" || rest.ends_with(['s', 't'])) {
        word.truncate(rest.len());
    }
}

fn last_e(word: &mut String) {
    if word.ends_with('e') {
        let rest = cut(word, 1);
        let parts = measure(rest);
        if parts > 1 || (parts == 1 && !ends_short(rest)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

/// The word without its last letters.
fn cut(word: &str, letters: usize) -> &str {
    word.get(..word.len().saturating_sub(letters)).unwrap_or_default()
}

fn swap(word: &mut String, letters: usize, instead: &str) {
    word.truncate(word.len().saturating_sub(letters));
    word.push_str(instead);
}

/// For each letter, whether it sounds as a vowel; a `y` does behind a consonant.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(true, |after_vowel, letter| {
        let vowel = matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (letter == b'y' && !*after_vowel);
        *after_vowel = vowel;
        Some(vowel)
    })
}

fn has_vowel(word: &str) -> bool {
    vowels(word).any(|vowel| vowel)
}

/// How often vowels are followed by consonants: about the number of syllables.
fn measure(word: &str) -> usize {
    let mut before = false;
    vowels(word).filter(|vowel| std::mem::replace(&mut before, *vowel) && !vowel).count()
}

/// Whether it ends as `hop` does: those had an `e` before their ending.
fn ends_short(word: &str) -> bool {
    let mut back = word.bytes().rev();
    let (Some(last), Some(middle), Some(first)) = (back.next(), back.next(), back.next()) else {
        return false;
    };
    let vowel = |letter| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u');
    !vowel(first) && (vowel(middle) || middle == b'y') && !vowel(last) && !matches!(last, b'w' | b'x' | b'y')
}
