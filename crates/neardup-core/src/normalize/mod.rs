/*! Stage 1: text to normalized text, and where each character came from.

Two copies of one article differ in ways that do not matter: full-width or
half-width forms, upper or lower case, traditional or simplified characters, line wraps,
tags, invisible characters. This stage removes such differences, in one fixed order:

1. markup: HTML tags are removed, entities become the characters they name;
   then what does not count: the ends of a post, and what the settings ignore except for numbers and
   dates;
2. a letter of another script inside a word becomes the letter of the word's script that it looks
   like;
3. NFKC (Unicode Standard Annex #15) over the whole remaining text;
4. control characters and default-ignorable characters are removed;
5. letters are folded one by one: traditional to simplified characters, letters with points
   to plain ones, radicals to characters;
6. each character becomes its lower case, regardless of its neighbours;
7. punctuation, symbols and emoji are kept, or become white space;
8. white space is kept, collapsed, or collapsed depending on the script;
9. numbers, dates and times are kept, spelled by their value, or left out if the settings ignore them.

Where punctuation becomes white space, two marks do not: an apostrophe between two letters is
dropped, and a point, comma or colon between two digits stays, since 1.2 is not 12; other ones between
two digits are a hyphen. What is left
of the others is [`WORD_END`] or, where a sentence ends beside a character that white space vanishes at,
[`SENTENCE_END`]. A blank after most characters separates no words, and is dropped.

Each step can be switched off; with all of them off the text is unchanged.

This list defines the result. The first two steps are rare, and they and the last one each make a text
of its own where there is something to do. The others are computed in one pass: a table lists the
characters that no step can change, and runs of those are copied whole. Only the
clusters between two such runs (a base with its combining marks, a full-width
form) go through the general algorithms. NFKC never looks across a character
that neither changes nor combines with the character before it, so the pass gives the
same result as the steps one after another.

One implementation serves both [`Normalizer::normalize_into`] and
[`Normalizer::normalize_mapped`], so their texts are always equal. Time is linear
(a run of n combining marks is sorted, O(n log n)); the only memory is the result. The
result is exact.
*/

mod ends;
mod fold;
mod ignored;
mod letters;
mod look_alikes;
mod mapped;
mod markup;
pub(crate) mod numbers;
mod rewritten;
mod tags;

use std::borrow::Cow;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

pub use crate::characters::is_letter_or_digit;
use crate::characters::{self, ascii};
use crate::error::{Error, Result};
pub use ends::inside;
use fold::Fold;
pub use ignored::{Ignored, fault_of};
pub use letters::Folding;
use letters::Foldings;
pub use look_alikes::{Unmasked, unmask};
pub use mapped::Mapped;
use mapped::{MappedSink, Sink};
use numbers::NumberStep;
use rewritten::Rewritten;

/// The longest text, in bytes, that the stages accept: 256 MiB.
///
/// NFKC turns one byte into at most 6 code points, and lower case at most doubles
/// them, so positions in the normalized text fit into 32 bits, and so do counts
/// of its units. The bounds on integer weights depend on this.
pub const MAX_TEXT_BYTES: usize = 1 << 28;

/// Rejects a text that is longer than [`MAX_TEXT_BYTES`].
///
/// The stages do not check this again: the code that accepts a text from outside must
/// check it once.
///
/// # Errors
///
/// If `text` is too long.
pub fn check_length(text: &str) -> Result<()> {
    match text.len() {
        0..=MAX_TEXT_BYTES => Ok(()),
        longer => Err(Error::input(
            "text",
            format!("at most {MAX_TEXT_BYTES} bytes"),
            longer,
        )),
    }
}

/// The separator of two words of a text without punctuation. [`SENTENCE_END`] ends a sentence there: control
/// characters, which no other step writes unless it keeps invisible characters. They are not features.
pub const WORD_END: char = '\u{1F}';
/// See [`WORD_END`].
pub const SENTENCE_END: char = '\u{1E}';

/// The signs that no shingle contains: [`numbers::UNSURE`], [`numbers::DAY_FIRST`] and both ends.
const FIRST_SIGN: char = numbers::UNSURE;
const LAST_SIGN: char = WORD_END;

/// The marks that end a sentence of a script without spaces.
pub(crate) const SENTENCE_MARKS: [char; 5] = ['。', '！', '？', '!', '?'];

/// A normalized text without the ends of its sentences: two texts are the same if this is.
pub fn without_sentence_ends(text: &str) -> Cow<'_, str> {
    match memchr::memchr(SENTENCE_END as u8, text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(joined(text, text.split(SENTENCE_END))),
    }
}

/// A normalized text without [`WORD_END`], [`SENTENCE_END`] and what says the order of a date: what
/// shingles are made of.
pub(crate) fn without_ends(text: &str) -> Vec<u8> {
    // A stretch without signs is copied at once; a stretch with signs takes no branch.
    const TOGETHER: usize = 16;
    let is_sign = |byte: u8| (FIRST_SIGN as u8..=LAST_SIGN as u8).contains(&byte);
    let mut kept = vec![0; text.len()];
    let mut length = 0;
    for bytes in text.as_bytes().chunks(TOGETHER) {
        let signs = bytes
            .iter()
            .fold(0, |signs, &byte| signs + u8::from(is_sign(byte)));
        if signs == 0 {
            kept[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
            continue;
        }
        for &byte in bytes {
            kept[length] = byte;
            length += usize::from(!is_sign(byte));
        }
    }
    kept.truncate(length);
    kept
}

fn joined<'a>(text: &str, pieces: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::with_capacity(text.len());
    joined.extend(pieces);
    joined
}

/// Whether a character of a class separates words.
#[inline]
fn is_separator(settings: &Settings, class: u16) -> bool {
    if settings.drop_punctuation {
        class & characters::SEPARATING != 0
    } else {
        class & characters::WHITE != 0 && settings.whitespace != Whitespace::Keep
    }
}

/// The ASCII character of a full-width form. This is the most common change in Chinese
/// text, so it skips the general algorithm.
#[inline]
fn narrow(c: char) -> Option<char> {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0),
        _ => None,
    }
}

/// Whether a text has a blank after most characters, so that blanks separate no words.
fn is_spaced_out(text: &str) -> bool {
    let blanks = memchr::memchr_iter(b' ', text.as_bytes()).count();
    // As many bytes are at least a quarter as many characters.
    16 * blanks > text.len() && 5 * blanks > 2 * text.chars().count()
}

/// The text after the last step that changed it.
fn last_of<'a>(steps: &'a [Option<Rewritten>], text: &'a str) -> &'a str {
    steps
        .iter()
        .rev()
        .flatten()
        .next()
        .map_or(text, Rewritten::text)
}

/// The text without the ends of a post, if it has any.
fn without_post_ends(text: &str, is_mapped: bool) -> Option<Rewritten> {
    let inside = inside(text);
    (inside.len() < text.len()).then(|| {
        let mut rewritten = Rewritten::with_capacity(inside.len(), is_mapped);
        rewritten.keep(text, inside.start, inside.end);
        rewritten
    })
}

/// How white space (the Unicode property `White_Space`) is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whitespace {
    /// It stays as it is.
    #[default]
    Keep,
    /// Each run becomes one space; none is left at the ends.
    Collapse,
    /// Like `Collapse`, but a run next to a Han, Hiragana, Katakana or Bopomofo
    /// character, or next to CJK or full-width punctuation, is removed: such
    /// texts have no spaces between words, only line wraps.
    ByScript,
}

/// Which differences between texts are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Replace characters by their compatibility forms (NFKC).
    pub nfkc: bool,
    /// Replace each character by its lower case.
    pub lowercase: bool,
    /// How white space is handled.
    pub whitespace: Whitespace,
    /// Remove HTML tags and decode entities.
    pub strip_markup: bool,
    /// Remove control characters that are not white space, and the characters
    /// with the Unicode property `Default_Ignorable_Code_Point`.
    pub drop_invisible: bool,
    /// Letters that become others.
    pub fold: Vec<Folding>,
    /// Treat what is neither a letter nor a digit as white space, which is then never kept as it is.
    pub drop_punctuation: bool,
    /// Leave out links, names, tags and a few phrases at the begin and the end.
    pub drop_ends: bool,
    /// Stretches that do not count.
    pub ignore: Ignored,
    /// Spell numbers, dates and times by their value.
    pub spell_numbers: bool,
}

/// Treatments of a character, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// No step changes it.
    Copied,
    /// Only its case is changed.
    Lowered,
    /// It is a separator.
    Separates,
    /// Its class tells.
    Other,
}

/// Some characters that are copied.
struct Run {
    /// The begin of its last character; the begin of the run if it is empty.
    last: usize,
    end: usize,
    /// Whether letters become lower case.
    has_capital: bool,
}

/// The normalize stage, ready to run.
///
/// # Examples
///
/// ```
/// use neardup_core::normalize::{Normalizer, Settings, Whitespace};
///
/// let normalizer = Normalizer::new(Settings {
///     nfkc: true,
///     lowercase: true,
///     whitespace: Whitespace::ByScript,
///     ..Settings::default()
/// });
/// let mut text = String::new();
/// normalizer.normalize_into("２０２５年\n  春季 Ｎｅｗ\tYear", &mut text);
/// assert_eq!(text, "2025年春季new year");
/// ```
#[derive(Clone, Debug)]
pub struct Normalizer {
    settings: Settings,
    foldings: Foldings,
    /// Classes of characters that a step may change, so that they cannot be copied as they are.
    touched: u16,
    /// The treatment of the character that begins with a byte, if the byte alone decides it.
    bytes: [Fate; 256],
    numbers: NumberStep,
}

impl Normalizer {
    /// Creates the stage with these settings.
    pub fn new(settings: Settings) -> Self {
        let mut touched = 0;
        if settings.nfkc {
            touched |= characters::COMBINES | characters::UNSTABLE;
        }
        if settings.lowercase {
            touched |= characters::CASED;
        }
        if settings.whitespace != Whitespace::Keep {
            touched |= characters::WHITE;
        }
        if settings.drop_invisible {
            touched |= characters::INVISIBLE;
        }
        if settings.drop_punctuation {
            touched |= characters::SEPARATING;
        }
        let foldings = Foldings::new(&settings.fold);
        if foldings.any() {
            touched |= characters::FOLDED;
        }
        let bytes = std::array::from_fn(|byte| {
            let class = characters::classes(char::from(byte as u8));
            let is_dropped = settings.drop_invisible && class & characters::INVISIBLE != 0;
            match byte {
                0x80.. => Fate::Other,
                _ if is_separator(&settings, class) && !is_dropped => Fate::Separates,
                _ if class & touched == 0 => Fate::Copied,
                _ if class & touched == characters::CASED => Fate::Lowered,
                _ => Fate::Other,
            }
        });
        Normalizer {
            numbers: NumberStep::new(&settings),
            settings,
            foldings,
            touched,
            bytes,
        }
    }

    /// Writes the normalized `text` into `out`, replacing its content.
    pub fn normalize_into(&self, text: &str, out: &mut String) {
        out.clear();
        out.reserve(text.len());
        let steps = self.rewritten(text, false);
        self.run(last_of(&steps, text), out);
        drop(steps);
        if let Some(digits) = self.numbers.digits(out, false) {
            *out = digits.into_text();
        }
        if let Some(spelled) = self.numbers.run(out, false) {
            *out = spelled.into_text();
        }
    }

    /// The normalized `text`, with the original span of each character.
    ///
    /// If several characters combine into one, or one expands into several, each result has
    /// the span of the whole cluster. A space that replaces a run of white space has the span
    /// of the run. Spans never decrease.
    pub fn normalize_mapped(&self, text: &str) -> Mapped {
        let mut sink = MappedSink::with_capacity(text.len());
        let steps = self.rewritten(text, true);
        self.run(last_of(&steps, text), &mut sink);
        if let Some(digits) = self.numbers.digits(sink.text(), true) {
            sink.rewrite(digits);
        }
        if let Some(spelled) = self.numbers.run(sink.text(), true) {
            sink.rewrite(spelled);
        }
        sink.finish(text, |spans| {
            for rewritten in steps.iter().rev().flatten() {
                rewritten.to_original(spans);
            }
        })
    }

    /// Steps 1 and 2: the text without markup, without its ends, without what is ignored and without
    /// look-alikes, each if it is another one than before.
    fn rewritten(&self, text: &str, is_mapped: bool) -> [Option<Rewritten>; 4] {
        let mut steps = [const { None }; 4];
        if self.settings.strip_markup && markup::may_have_markup(text) {
            steps[0] = Some(markup::strip(text, is_mapped));
        }
        if self.settings.drop_ends {
            steps[1] = without_post_ends(last_of(&steps, text), is_mapped);
        }
        if !self.settings.ignore.is_empty() {
            steps[2] = self
                .settings
                .ignore
                .leave_out(last_of(&steps, text), is_mapped);
        }
        if self.foldings.look_alikes {
            steps[3] = look_alikes::replace(last_of(&steps, text), is_mapped);
        }
        steps
    }

    /// Steps 3 to 8, in one pass.
    fn run<S: Sink>(&self, text: &str, sink: &mut S) {
        if self.touched == 0 {
            sink.copy(text, 0, false);
            return;
        }
        let is_spaced_out = self.settings.drop_punctuation && is_spaced_out(text);
        let has_words = self.settings.whitespace != Whitespace::Keep && !is_spaced_out;
        let mut fold = Fold::new(&self.settings, self.foldings, sink);
        let mut at = 0;
        let bytes = text.as_bytes();
        while at < bytes.len() {
            if has_words && bytes[at].is_ascii_alphabetic() {
                // Their blanks are treated alike, whatever is around them.
                let end = at + ascii::words(&bytes[at..]);
                if end > at {
                    fold.copy_words(&text[at..end], at);
                    at = end;
                }
            }
            let run = self.untouched(text, at);
            let (last, end) = (run.last, run.end);
            // Nothing in ASCII combines with what is before it.
            let is_before_ascii = bytes.get(end + 1).is_none_or(u8::is_ascii);
            let byte = bytes.get(end).copied().filter(|_| is_before_ascii);
            if let Some(byte) = byte
                && self.bytes[usize::from(byte)] == Fate::Separates
            {
                fold.copy(text, at..end, run.has_capital);
                if byte != b' ' || !is_spaced_out {
                    let c = char::from(byte);
                    fold.separate(c, characters::classes(c), end, end + 1);
                }
                at = end + 1;
                continue;
            }
            let Some(c) = text[end..].chars().next() else {
                fold.copy(text, at..end, run.has_capital);
                break;
            };
            if c == ' ' && is_spaced_out {
                fold.copy(text, at..end, run.has_capital);
                at = end + 1;
                continue;
            }
            let combines = self.settings.nfkc && characters::classes(c) & characters::COMBINES != 0;
            // A mark may combine with the character before it, so that one
            // leaves the run and joins the cluster.
            let begin = if combines { last } else { end };
            fold.copy(text, at..begin, run.has_capital);
            let after = end + c.len_utf8();
            at = self.end_of_cluster(text, after);
            let lone = begin == end && at == after;
            if !self.settings.nfkc || (lone && characters::classes(c) & characters::UNSTABLE == 0) {
                fold.push(c, begin, at);
            } else if let (true, Some(narrow)) = (lone, narrow(c)) {
                fold.push(narrow, begin, at);
            } else {
                for d in text[begin..at].nfkc() {
                    fold.push(d, begin, at);
                }
            }
        }
        fold.finish();
    }

    /// The run of characters from `at` that no step changes but for the case of ASCII.
    #[inline]
    fn untouched(&self, text: &str, at: usize) -> Run {
        let bytes = text.as_bytes();
        let mut run = Run {
            last: at,
            end: at,
            has_capital: false,
        };
        if bytes[at].is_ascii_alphabetic() {
            let (letters, has_capital) = ascii::letters(&bytes[at..]);
            (run.last, run.end) = (at + letters - 1, at + letters);
            run.has_capital = has_capital && self.settings.lowercase;
        }
        while let Some(&byte) = bytes.get(run.end) {
            let length = match byte {
                0..=0x7F => match self.bytes[usize::from(byte)] {
                    Fate::Copied => 1,
                    Fate::Lowered => {
                        run.has_capital = true;
                        1
                    }
                    Fate::Separates | Fate::Other => break,
                },
                // Most characters of a Chinese text, and nothing waits for how long they are.
                0xE0..=0xEF => {
                    let three = [byte, bytes[run.end + 1], bytes[run.end + 2]];
                    if characters::classes_of_three(three) & self.touched != 0 {
                        break;
                    }
                    3
                }
                _ => match text[run.end..].chars().next() {
                    Some(c) if !characters::is(c, self.touched) => c.len_utf8(),
                    _ => break,
                },
            };
            run.last = run.end;
            run.end += length;
        }
        run
    }

    /// The end of the characters from `at` that may combine with those before them.
    #[inline]
    fn end_of_cluster(&self, text: &str, at: usize) -> usize {
        if !self.settings.nfkc {
            return at;
        }
        text[at..]
            .char_indices()
            .find(|&(_, c)| characters::classes(c) & characters::COMBINES == 0)
            .map_or(text.len(), |(begin, _)| at + begin)
    }
}
