/*! Letters of another script inside a word, in place of letters that look like them; and letters
inside a number.

A word of Latin and Cyrillic or Greek letters becomes a word of one script: the script of its
letters that look like no other; if there are none, the script of the nearest such letters beside
it in the line. A word all of whose letters look Latin becomes Latin only between Latin words. A
foreign name with a native ending, and a sign of a formula, stay as they are. So does a katakana,
unless it is used as a Chinese character in a line without other kana.

A scanned number may have letters in place of digits: 2O24, 1l0. It begins with a digit, has no other
letter beside it, and ends with a digit or with zeros that were read as O; 45o may be degrees.

A replaced letter is never one that tells the script of a text, before or after, so that nothing
changes if the result is folded again. Time is linear, and a text without Greek, Cyrillic, kana and such
numbers costs three searches for their bytes.
*/

use std::sync::OnceLock;

use super::rewritten::Rewritten;
use crate::characters;

// Unicode's confusables that fonts draw alike: letters of the script, and the Latin letters.
const RUSSIAN: [&str; 2] = ["аеорсухікАВЕКМНОРСТУХІ", "aeopcyxikABEKMHOPCTYXI"];
const MORE_CYRILLIC: [&str; 2] = ["јѕһԁԛԝӏѵёїЁЇЈЅԌԚԜҮѴӀ", "jshdqwlvëïËÏJSGQWYVI"];
const GREEK: [&str; 2] = ["οΟΑΒΕΖΗΙΚΜΝΡΤΥΧ", "oOABEZHIKMNPTYX"];
/// Letters of formulas: look-alikes only if one is between two letters of a word.
const FORMULA: [&str; 2] = ["αρνικυγ", "apvikuy"];
const MORE_GREEK: [&str; 2] = ["ϲϳϹ", "cjC"];
/// Katakana, and Chinese characters.
const KATAKANA: [&str; 2] = ["エカタチトニハロ", "工力夕千卜二八口"];

/// Letters that scanned digits are read as, and the digits.
const NUMBER: [&str; 2] = ["OolIS", "00115"];

/// The shortest Russian and Greek words in which Latin letters are replaced, and the shortest Greek
/// one that becomes Latin: formulas have shorter ones.
const SHORTEST_RUSSIAN: usize = 3;
const SHORTEST_GREEK: usize = 4;
/// Code points next to a word that tell the script of its text.
const AROUND: usize = 80;
/// Before a katakana that counts, as in 三カ国.
const NUMERALS: &str = "一二三四五六七八九十百千数數何几幾";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
}

/// A word with look-alikes: its bytes, and what takes the place of letters, by their first bytes.
struct Word {
    begin: usize,
    end: usize,
    replaced: Vec<(usize, char)>,
}

/// A text without look-alikes, and the words that had some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmasked {
    /// The text; every character is at the place of the original one.
    pub text: String,
    /// The begin and end of each word, in code points, and its number of look-alikes.
    pub words: Vec<(usize, usize, usize)>,
}

/// The `text` with letters of each word's own script in place of look-alikes.
///
/// # Examples
///
/// ```
/// let unmasked = neardup_core::normalize::unmask("The f\u{435}rry l\u{435}aves.");
/// assert_eq!(unmasked.text, "The ferry leaves.");
/// assert_eq!(unmasked.words, [(4, 9, 1), (10, 16, 1)]);
/// ```
pub fn unmask(text: &str) -> Unmasked {
    let words = words_of(text);
    let mut places = Vec::with_capacity(words.len());
    let (mut byte, mut place) = (0, 0);
    for word in &words {
        place += text[byte..word.begin].chars().count();
        let length = text[word.begin..word.end].chars().count();
        places.push((place, place + length, word.replaced.len()));
        (byte, place) = (word.end, place + length);
    }
    let text = rewrite(text, &words, false).into_text();
    Unmasked {
        text,
        words: places,
    }
}

/// The `text` without look-alikes, if it has any.
pub(super) fn replace(text: &str, is_mapped: bool) -> Option<Rewritten> {
    let words = words_of(text);
    (!words.is_empty()).then(|| rewrite(text, &words, is_mapped))
}

fn rewrite(text: &str, words: &[Word], is_mapped: bool) -> Rewritten {
    let mut rewritten = Rewritten::with_capacity(text.len(), is_mapped);
    let mut done = 0;
    for &(at, letter) in words.iter().flat_map(|word| &word.replaced) {
        rewritten.keep(text, done, at);
        done = at + text[at..].chars().next().map_or(0, char::len_utf8);
        rewritten.replace(letter.encode_utf8(&mut [0; 4]), at, done);
    }
    rewritten.keep(text, done, text.len());
    rewritten
}

/// The words with look-alikes, in the order of the text.
fn words_of(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let bytes = text.as_bytes();
    let [alphabet, kana, digit] = kinds_of(bytes);
    if alphabet {
        alphabet_words(text, &mut words);
    }
    if kana {
        katakana(text, &mut words);
    }
    if digit {
        numbers(text, &mut words);
    }
    words.sort_by_key(|word| word.begin);
    words
}

fn looks_like_digit(byte: u8) -> bool {
    matches!(byte, b'O' | b'o' | b'l' | b'I' | b'S')
}

/// Finds the numbers that have letters in place of digits.
fn numbers(text: &str, words: &mut Vec<Word>) {
    let bytes = text.as_bytes();
    let is_part = |&byte: &u8| byte.is_ascii_digit() || looks_like_digit(byte);
    let mut at = 0;
    while let Some(begin) = bytes[at..].iter().position(is_part) {
        let begin = at + begin;
        let length = bytes[begin..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let end = begin + length;
        at = end;
        let sides = [
            text[..begin].chars().next_back(),
            text[end..].chars().next(),
        ];
        let is_of_word = |&c: &char| is_unseen(c) || script(c).is_some();
        let run = &text[begin..end];
        let last = run.trim_end_matches('O').as_bytes().last();
        let is_number = run.as_bytes()[0].is_ascii_digit() && last.is_some_and(u8::is_ascii_digit);
        if sides.iter().flatten().any(is_of_word) || !is_number {
            continue;
        }
        let letters = text[begin..end].char_indices();
        let replaced: Vec<_> = letters
            .filter_map(|(place, c)| Some((begin + place, twin(NUMBER, c)?)))
            .collect();
        if !replaced.is_empty() {
            words.push(Word {
                begin,
                end,
                replaced,
            });
        }
    }
}

/// Whether there are letters of Greek or Cyrillic, katakana, and digits with a letter behind them that
/// looks like one.
fn kinds_of(bytes: &[u8]) -> [bool; 3] {
    let after = bytes.get(1..).unwrap_or_default();
    let mut found = [false; 3];
    // Without a way out of the inner loop, it is compiled to vector instructions.
    for (bytes, after) in bytes.chunks(256).zip(after.chunks(256)) {
        let [mut alphabet, mut kana, mut digit] = found;
        for (&byte, &next) in bytes.iter().zip(after) {
            alphabet |= byte.wrapping_sub(0xCD) < 8;
            kana |= (byte == 0xE3) & (next & 0xFE == 0x82);
            digit |= byte.is_ascii_digit() & looks_like_digit(next);
        }
        found = [alphabet, kana, digit];
    }
    found
}

fn alphabet_words(text: &str, words: &mut Vec<Word>) {
    let alike = Alike::get();
    let mut rest = text.char_indices().peekable();
    while let Some((begin, first)) = rest.next() {
        if !(is_unseen(first) || script(first).is_some()) {
            continue;
        }
        let (mut end, mut c) = (begin, first);
        let (mut has_latin, mut has_other, mut all_look_latin) = (false, false, true);
        loop {
            end += c.len_utf8();
            match script(c) {
                Some(Script::Latin) => has_latin = true,
                Some(_) => {
                    has_other = true;
                    all_look_latin = all_look_latin && alike.whole_words(c);
                }
                None => {}
            }
            match rest.next_if(|&(_, c)| is_unseen(c) || script(c).is_some()) {
                Some((_, next)) => c = next,
                None => break,
            }
        }
        if !has_other || !(has_latin || all_look_latin) {
            continue;
        }
        let letters = text[begin..end].char_indices();
        let word: Vec<_> = letters
            .filter_map(|(at, c)| Some((begin + at, c, script(c)?)))
            .collect();
        let replaced = standard(&word, context(text, begin, end));
        if !replaced.is_empty() {
            words.push(Word {
                begin,
                end,
                replaced,
            });
        }
    }
}

/// The replacement of a word's look-alikes; nothing if the word stays.
fn standard(word: &[(usize, char, Script)], context: [Option<Script>; 2]) -> Vec<(usize, char)> {
    let alike = Alike::get();
    let stays = Vec::new();
    let others = || word.iter().filter(|letter| letter.2 != Script::Latin);
    let Some(&(_, _, other)) = others().next() else {
        return stays;
    };
    if others().any(|letter| letter.2 != other) {
        return stays;
    }
    // The script of the letters that look like none of the other script.
    let mut sure = None;
    for &(_, c, script) in word {
        let twin = match script {
            Script::Latin => alike.of_script(c, other),
            _ => alike.to_latin(c),
        };
        if twin.is_none() && sure.replace(script).is_some_and(|before| before != script) {
            return stays;
        }
    }
    let around = |script| context.contains(&Some(script));
    let is_alone = context == [None, None];
    let to_latin = || {
        others()
            .filter_map(|&(at, c, _)| Some((at, alike.to_latin(c)?)))
            .collect()
    };
    let latin = word.len() - others().count();
    if latin == 0 {
        // Only in a text of the other script, and no sign of a formula.
        let is_sign = word.len() == 1 && word[0].1.is_uppercase();
        let is_short = other == Script::Greek && word.len() < SHORTEST_GREEK;
        let is_foreign = around(Script::Latin) && !around(other);
        return match sure.is_none() && is_foreign && !is_sign && !is_short {
            true => to_latin(),
            false => stays,
        };
    }
    let is_latin =
        sure == Some(Script::Latin) || (sure.is_none() && (around(Script::Latin) || is_alone));
    if is_latin {
        // A foreign name with an ending of its own in a Russian or Greek text is innocent.
        let is_name = (!is_alone && !around(Script::Latin))
            || (other == Script::Greek && around(Script::Greek));
        let of_formula = |letters: &[(usize, char, Script)]| {
            letters.iter().any(|&(_, c, _)| FORMULA[0].contains(c))
        };
        let is_formula = of_formula(word)
            && (word.len() < SHORTEST_GREEK || !of_formula(&word[1..word.len() - 1]));
        return match is_name || is_formula {
            true => stays,
            false => to_latin(),
        };
    }
    let shortest = match other {
        Script::Greek => SHORTEST_GREEK,
        _ => SHORTEST_RUSSIAN,
    };
    if word.len() < shortest || 3 * latin > word.len() || !(is_alone || around(other)) {
        return stays;
    }
    word.iter()
        .filter(|letter| letter.2 == Script::Latin)
        .filter_map(|&(at, c, _)| Some((at, alike.of_script(c, other)?)))
        .collect()
}

/// The scripts of the nearest letters of the line that look like no other, on both sides.
fn context(text: &str, begin: usize, end: usize) -> [Option<Script>; 2] {
    let alike = Alike::get();
    let of = |letter: char| script(letter).filter(|_| !alike.is_ambiguous(letter));
    [
        line(text[..begin].chars().rev()).find_map(of),
        line(text[end..].chars()).find_map(of),
    ]
}

/// The next characters, up to the end of the line and up to a limit.
fn line(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.take(AROUND).take_while(|&c| c != '\n')
}

/// Single katakana next to Chinese characters in a line without other kana.
fn katakana(text: &str, words: &mut Vec<Word>) {
    let is_other_kana = |c| {
        matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}') && !KATAKANA[0].contains(c)
    };
    for (begin, c) in text.char_indices() {
        if !('\u{30A1}'..='\u{30FA}').contains(&c) {
            continue;
        }
        let Some(character) = twin(KATAKANA, c) else {
            continue;
        };
        let end = begin + c.len_utf8();
        let (before, after) = (&text[..begin], &text[end..]);
        let sides = [before.chars().next_back(), after.chars().next()];
        let beside = |asked: fn(char) -> bool| sides.iter().flatten().any(|&c| asked(c));
        let counts = sides[0].is_some_and(|c| NUMERALS.contains(c));
        if beside(is_han)
            && !beside(is_kana)
            && !counts
            && !line(before.chars().rev()).any(is_other_kana)
            && !line(after.chars()).any(is_other_kana)
        {
            words.push(Word {
                begin,
                end,
                replaced: vec![(begin, character)],
            });
        }
    }
}

fn is_han(c: char) -> bool {
    characters::is(c, characters::HAN)
}

fn is_kana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x30FF | 0xFF66..=0xFF9F)
}

fn script(c: char) -> Option<Script> {
    match c as u32 {
        0x41..=0x5A | 0x61..=0x7A => Some(Script::Latin),
        0..=0xA9 => None,
        0xAA | 0xB5 | 0xBA | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x24F | 0x1E00..=0x1EFF => {
            Some(Script::Latin)
        }
        0x370..=0x373 | 0x376..=0x37D | 0x37F..=0x3FF | 0x1F00..=0x1FFF => Some(Script::Greek),
        0x400..=0x481 | 0x48A..=0x52F | 0x1C80..=0x1C88 | 0xA640..=0xA66E | 0xA680..=0xA69D => {
            Some(Script::Cyrillic)
        }
        _ => None,
    }
}

/// Characters without a glyph that no word of these scripts needs.
fn is_unseen(c: char) -> bool {
    c >= '\u{34F}'
        && matches!(c as u32,
            0x034F | 0x115F..=0x1160 | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060
            | 0x2066..=0x206F | 0x3164 | 0xFEFF | 0xFFA0 | 0xE0000..=0xE007F)
}

/// The character of the second list at the position that `c` has in the first.
fn twin([letters, twins]: [&str; 2], c: char) -> Option<char> {
    let place = letters.chars().position(|letter| letter == c)?;
    twins.chars().nth(place)
}

/// The lists of letters, as tables.
struct Alike {
    /// For U+0370 to U+052F: the Latin letter, and whether whole words of such letters count.
    latin: Box<[Option<(char, bool)>]>,
    /// Latin letters that look like another one.
    ambiguous: [bool; 0x100],
}

impl Alike {
    /// The tables, made by the first caller.
    fn get() -> &'static Self {
        static TABLES: OnceLock<Alike> = OnceLock::new();
        TABLES.get_or_init(|| {
            let mut tables = Alike {
                latin: vec![None; 0x1C0].into_boxed_slice(),
                ambiguous: [false; 0x100],
            };
            let lists = [
                (RUSSIAN, true),
                (MORE_CYRILLIC, true),
                (GREEK, true),
                (FORMULA, false),
                (MORE_GREEK, false),
            ];
            for ([letters, latin], whole) in lists {
                for (letter, latin) in letters.chars().zip(latin.chars()) {
                    if let Some(place) = tables.latin.get_mut(Self::place(letter)) {
                        *place = Some((latin, whole));
                    }
                    tables.ambiguous[latin as usize] = true;
                }
            }
            tables
        })
    }

    fn place(letter: char) -> usize {
        (letter as usize).wrapping_sub(0x370)
    }

    #[inline]
    fn to_latin(&self, letter: char) -> Option<char> {
        let (latin, _) = (*self.latin.get(Self::place(letter))?)?;
        Some(latin)
    }

    fn of_script(&self, latin: char, script: Script) -> Option<char> {
        let [letters, twins] = match script {
            Script::Greek => GREEK,
            _ => RUSSIAN,
        };
        twin([twins, letters], latin)
    }

    /// Whether words with no other letters than such may be Latin.
    #[inline]
    fn whole_words(&self, letter: char) -> bool {
        let found = self.latin.get(Self::place(letter));
        matches!(found, Some(Some((_, true))))
    }

    fn is_ambiguous(&self, letter: char) -> bool {
        let latin = self.ambiguous.get(letter as usize);
        self.to_latin(letter).is_some() || latin.is_some_and(|&is| is)
    }
}
