/*! Stop words, and the lower case by which they are compared. */

use std::iter::once;

use rustc_hash::FxHashSet;

use crate::normalize::Normalizer;

/// The stop words that a recipe uses by default: the Chinese and
/// the English list of the Stopwords ISO collection (crate `stop-words`).
///
/// # Examples
///
/// ```
/// let words = neardup_core::weigh::bundled_stop_words();
/// assert!(words.contains(&"的") && words.contains(&"the"));
/// ```
pub fn bundled_stop_words() -> Vec<&'static str> {
    ["zh", "en"]
        .into_iter()
        .filter_map(stop_words::lookup)
        .flatten()
        .copied()
        .collect()
}

/// The words of a list, normalized like the text that they are compared with.
pub(crate) fn normalize_list<'a>(
    words: impl IntoIterator<Item = &'a str>,
    normalizer: &Normalizer,
    lowercase: bool,
) -> FxHashSet<Box<str>> {
    words
        .into_iter()
        .map(|word| normalize(word, normalizer, lowercase))
        .filter(|word| !word.is_empty())
        .map(String::into_boxed_str)
        .collect()
}

/// A word of a list, normalized like the text that it is searched in.
pub(crate) fn normalize(word: &str, normalizer: &Normalizer, lowercase: bool) -> String {
    let mut text = String::new();
    normalizer.normalize_into(word, &mut text);
    match lowercase {
        true => {
            let mut lower = String::new();
            lowercase_into(&text, &mut lower);
            lower
        }
        false => text,
    }
}

/// Whether a character is not its own lower case.
#[inline]
pub(crate) fn has_lowercase(c: char) -> bool {
    match c {
        '\0'..='\x7F' => c.is_ascii_uppercase(),
        // No character between the CJK radicals and Yi has case.
        '\u{2E80}'..='\u{A63F}' => false,
        _ => !c.to_lowercase().eq(once(c)),
    }
}

/// Appends each character's lower case, regardless of its neighbours.
pub(crate) fn lowercase_into(text: &str, lower: &mut String) {
    lower.extend(text.chars().flat_map(char::to_lowercase));
}
