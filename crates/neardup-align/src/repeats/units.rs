//! The sentences or paragraphs of a text, and the hash of the letters of each.

use std::borrow::Cow;

use neardup_core::error::Result;
use neardup_core::normalize::check_length;
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_128;

use crate::letters::Aligner;

/// A capitalized word of at most this many letters before a full stop may be an abbreviation.
const ABBREVIATION: usize = 4;

/// Lines of a script without spaces are as wide as the longest but for this many characters if a
/// program broke them, and at least [`WIDE`].
const RAGGED: usize = 2;

/// See [`RAGGED`].
const WIDE: usize = 20;

/// So many lines of one text are as wide as the longest only if a program broke them.
const SURE: usize = 3;

/// Marks with which a sentence may begin.
const OPENING: &str = "“‘（《「『【〈〔〖﹁﹃([{«‹¿¡";

/// The kinds of units of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sentences as Unicode Standard Annex #29 finds them, joined after what may be an
    /// abbreviation. The end of a paragraph ends a sentence too.
    Sentence,
    /// Lines. One that ends in the middle of a sentence goes on with the next; where most do, a
    /// paragraph is what blank or indented lines part.
    Paragraph,
}

/// A sentence or a paragraph, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Two units are the same if their letters and digits are.
    pub hash: u128,
    /// Where it begins, in code points.
    pub begin: u32,
    /// Where it ends, in code points.
    pub end: u32,
}

/// Finds the units of texts.
///
/// # Examples
///
/// ```
/// use neardup_align::Aligner;
/// use neardup_align::repeats::{Kind, Units};
///
/// let units = Units::new(Aligner::new(), Kind::Sentence, 4);
/// let found = units.of("转载请注明出处。 THE end! The END.")?;
/// assert_eq!((found[0].begin, found[0].end), (0, 8));
/// assert_eq!(found[1].hash, found[2].hash);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Units {
    aligner: Aligner,
    kind: Kind,
    least: u32,
    /// Whether a program broke the Chinese lines of the collection, for texts that do not show it.
    pub(super) is_wrapped: bool,
}

impl Units {
    /// Units of at least `least` letters; a Chinese character is as long as two.
    pub fn new(aligner: Aligner, kind: Kind, least: u32) -> Self {
        Units {
            aligner,
            kind,
            least,
            is_wrapped: true,
        }
    }

    /// The units of a text that are long enough, in their order: O(n) for n characters.
    ///
    /// # Errors
    ///
    /// If the text is longer than the stages accept.
    pub fn of(&self, text: &str) -> Result<Vec<Unit>> {
        check_length(text)?;
        let mut found = Vec::new();
        let mut letters = String::new();
        let mut begin = 0;
        for paragraph in paragraphs(text, self.is_wrapped) {
            let mut take = |part: &str| -> Result<()> {
                let all = part.chars().count() as u32;
                let inside = part.trim_start();
                let first = begin + all - inside.chars().count() as u32;
                let inside = inside.trim_end();
                begin += all;
                letters.clear();
                let mut weight = 0;
                self.aligner.for_each_letter(inside, |c, letter_weight| {
                    letters.push(c);
                    weight += letter_weight;
                })?;
                if weight >= self.least && weight > 0 {
                    found.push(Unit {
                        hash: xxh3_128(letters.as_bytes()),
                        begin: first,
                        end: first + inside.chars().count() as u32,
                    });
                }
                Ok(())
            };
            match self.kind {
                Kind::Paragraph => take(&paragraph)?,
                Kind::Sentence => sentences(&paragraph).try_for_each(take)?,
            }
        }
        Ok(found)
    }
}

/// The sentences of a paragraph, with the white space after each.
fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    let mut begin = 0;
    let mut bounds = paragraph.split_sentence_bound_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, part) = bounds.next()?;
            let end = at + part.len();
            let is_last = bounds.peek().is_none();
            if is_last || !may_go_on(&paragraph[begin..end]) {
                let sentence = &paragraph[begin..end];
                // The annex takes a mark that opens the next sentence for one that closes this.
                let closed = sentence.trim_end_matches(|c| OPENING.contains(c));
                let sentence = if is_last { sentence } else { closed };
                begin += sentence.len();
                return Some(sentence);
            }
        }
    })
}

/// Whether a sentence ends with a full stop after what may be an abbreviation, such as "Mr." or
/// "U.S.": two sentences in one are better than half of one.
fn may_go_on(sentence: &str) -> bool {
    let Some(rest) = sentence.trim_end().strip_suffix('.') else {
        return false;
    };
    let is_inside = |c: char| c.is_alphanumeric() || c == '.';
    let word = &rest[rest.rfind(|c| !is_inside(c)).map_or(0, |at| {
        at + rest[at..].chars().next().map_or(0, char::len_utf8)
    })..];
    let is_capitalized = word.chars().next().is_some_and(char::is_uppercase);
    let letters = word.chars().count();
    word.contains('.') || letters == 1 || (is_capitalized && letters <= ABBREVIATION)
}

/// The paragraphs of a text, in order and without gaps: lines, or the lines of a paragraph joined by
/// spaces in place of their ends.
fn paragraphs(text: &str, is_wrapped_else: bool) -> Vec<Cow<'_, str>> {
    let lines: Vec<&str> = text.split_inclusive(is_line_end).collect();
    let is_open = open_ends(&lines, is_wrapped_else);
    if !is_open.contains(&true) {
        return lines.into_iter().map(Cow::Borrowed).collect();
    }
    let is_wrapped = is_wrapped(&lines, &is_open);
    let mut found: Vec<String> = Vec::new();
    let mut is_after_blank = true;
    let mut is_after_open = false;
    for (line, is_open) in lines.into_iter().zip(is_open) {
        let is_blank = line.trim().is_empty();
        let is_indented = line.starts_with(char::is_whitespace);
        let goes_on = is_wrapped && (is_blank || !(is_after_blank || is_indented));
        let joined = line.replace(is_line_end, " ");
        match found.last_mut() {
            Some(before) if goes_on || is_after_open => before.push_str(&joined),
            _ => found.push(joined),
        }
        is_after_blank = is_blank;
        is_after_open = is_open;
    }
    found.into_iter().map(Cow::Owned).collect()
}

/// Whether each line ends in the middle of a sentence: with a comma, or without a mark that ends a
/// sentence if the next line begins with a small letter, or if both have Chinese characters there
/// and the line is as long as the longest: [`SURE`] lines of the text must be, or the collection be
/// wrapped.
fn open_ends(lines: &[&str], is_wrapped: bool) -> Vec<bool> {
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let mut widths = None;
    let mut is_open = vec![false; lines.len()];
    for (pair, is_open) in trimmed.windows(2).zip(&mut is_open) {
        *is_open = pair[0].ends_with([',', '，', '、']) && !pair[1].is_empty()
            || is_bare(pair, char::is_lowercase)
            || is_bare(pair, is_dense) && {
                let widths = widths.get_or_insert_with(|| Widths::of(&trimmed));
                widths.has(pair[0]) && (is_wrapped || widths.count >= SURE)
            };
    }
    is_open
}

/// Whether a program broke the Chinese lines of a collection, by the texts of its beginning: of
/// those with a line that may go on, at least half must have another line as wide.
pub(super) fn are_wrapped<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let (mut of_one_width, mut all) = (0, 0);
    for text in texts {
        let trimmed: Vec<&str> = text.split(is_line_end).map(str::trim).collect();
        let widths = Widths::of(&trimmed);
        let mut pairs = trimmed.windows(2);
        if pairs.any(|pair| is_bare(pair, is_dense) && widths.has(pair[0])) {
            of_one_width += usize::from(widths.count > 1);
            all += 1;
        }
    }
    2 * of_one_width >= all
}

/// Whether the first of two lines has no mark at its end, and the other begins with such a character.
fn is_bare(pair: &[&str], begins: fn(char) -> bool) -> bool {
    let is_bare_end = |c: char| c.is_alphanumeric() || c == '-';
    pair[0].ends_with(is_bare_end) && pair[1].starts_with(begins)
}

/// The width of the longest line of a text, but for [`RAGGED`], and how many lines are as wide.
struct Widths {
    least: usize,
    count: usize,
}

impl Widths {
    fn of(trimmed: &[&str]) -> Self {
        let all: Vec<usize> = trimmed.iter().map(|line| line.chars().count()).collect();
        let widest = all.iter().max().copied().unwrap_or(0);
        let least = WIDE.max(widest.saturating_sub(RAGGED));
        let count = all.iter().filter(|&&width| width >= least).count();
        Widths { least, count }
    }

    fn has(&self, line: &str) -> bool {
        line.chars().nth(self.least - 1).is_some()
    }
}

/// Whether a program broke the lines: at least half of their ends, without those beside blank lines,
/// are in the middle of a sentence.
fn is_wrapped(lines: &[&str], is_open: &[bool]) -> bool {
    let is_blank = |line: &str| line.trim().is_empty();
    let pairs = lines.windows(2);
    let ends = pairs.filter(|pair| !is_blank(pair[0]) && !is_blank(pair[1]));
    let open = is_open.iter().filter(|&&is_open| is_open);
    2 * open.count() >= ends.count()
}

/// Whether a character is of a script without spaces between words, as far as lines are concerned.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a line ends with a character. A carriage return before a line feed is a line of its own,
/// without letters.
pub(super) fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, text: &str) -> Vec<String> {
        let units = Units::new(Aligner::new(), kind, 2);
        let chars: Vec<char> = text.chars().collect();
        let found = units.of(text).unwrap();
        let span = |unit: &Unit| {
            chars[unit.begin as usize..unit.end as usize]
                .iter()
                .collect()
        };
        found.iter().map(span).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_stops() {
        let text = "渡船开了！“票在窗口卖。”他说：雨停了吗？没有……船长，请等\nHe paid 3.50 to Mr. Smith of the \
                    U.S. Navy (on deck). क्या यह सच है। हाँ। \u{3000}Was it?  \"Yes.\" she said.";
        let expected = [
            "渡船开了！",
            "“票在窗口卖。”",
            "他说：雨停了吗？",
            "没有……船长，请等",
            "He paid 3.50 to Mr. Smith of the U.S. Navy (on deck).",
            "क्या यह सच है।",
            "हाँ।",
            "Was it?",
            "\"Yes.\" she said.",
        ];
        assert_eq!(of(Kind::Sentence, text), expected);
    }

    #[test]
    fn lines_broken_by_a_program_are_joined() {
        let wrapped = "The ferry leaves at\nnine from the old\nHarbour. It is\nnever late.\n\n  Rain is\nexpected.";
        let expected = [
            "The ferry leaves at\nnine from the old\nHarbour.",
            "It is\nnever late.",
            "Rain is\nexpected.",
        ];
        assert_eq!(of(Kind::Sentence, wrapped), expected);
        assert_eq!(
            of(Kind::Paragraph, wrapped),
            [
                "The ferry leaves at\nnine from the old\nHarbour. It is\nnever late.",
                "Rain is\nexpected."
            ]
        );
        let line = "渡船早上八点从东码头开出下午五点回来票在码头";
        let chinese = format!("{line}\n{line}\n的窗口卖。\n编辑：张三");
        assert_eq!(
            of(Kind::Sentence, &chinese)[0],
            format!("{line}\n{line}\n的窗口卖。")
        );
        let list = "Apples\nPears\nPlums and cherries\nAll rights reserved";
        assert_eq!(of(Kind::Sentence, list).len(), 4);
        let open = "In a filing,\nHarbour said.\nRain.\nSnow.\n\nWind.\nThe Agriculture\nministry.";
        let expected = [
            "In a filing,\nHarbour said.",
            "Rain.",
            "Snow.",
            "Wind.",
            "The Agriculture\nministry.",
        ];
        assert_eq!(of(Kind::Paragraph, open), expected);
        assert_eq!(
            of(Kind::Paragraph, "一行字\r\n又一行字\r\n"),
            ["一行字", "又一行字"]
        );
    }
}
