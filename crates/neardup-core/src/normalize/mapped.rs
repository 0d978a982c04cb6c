/*! Output of the normalize stage: the text alone, or the text with the origin of each
character. */

use super::rewritten::{Rewritten, Span};

/// A normalized text and the origin of each of its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The normalized text.
    pub text: String,
    /// For each character of `text`, its span in the original text: begin (inclusive) and
    /// end (exclusive), in code points.
    pub spans: Vec<(u32, u32)>,
}

/// The output of the pass over a text.
pub(super) trait Sink {
    /// Appends `run` from the byte `begin` of the source, with its ASCII in lower case if `lowers`.
    fn copy(&mut self, run: &str, begin: usize, lowers: bool);

    /// The same with another sign of ASCII in place of each blank; everything is ASCII.
    fn copy_words(&mut self, words: &str, begin: usize, sign: char, lowers: bool);

    /// Appends one character that came from the bytes `begin..end` of the source.
    fn put(&mut self, c: char, begin: usize, end: usize);
}

impl Sink for String {
    #[inline]
    fn copy(&mut self, run: &str, _begin: usize, lowers: bool) {
        let before = self.len();
        self.push_str(run);
        if lowers {
            self[before..].make_ascii_lowercase();
        }
    }

    fn copy_words(&mut self, words: &str, _begin: usize, sign: char, lowers: bool) {
        // A word is too short for a call of its own.
        let mut together = [0; 64];
        for bytes in words.as_bytes().chunks(together.len()) {
            let copy = &mut together[..bytes.len()];
            for (to, &byte) in copy.iter_mut().zip(bytes) {
                *to = if byte == b' ' { sign as u8 } else { byte };
            }
            if lowers {
                copy.make_ascii_lowercase();
            }
            self.push_str(std::str::from_utf8(copy).unwrap_or_default());
        }
    }

    #[inline]
    fn put(&mut self, c: char, _begin: usize, _end: usize) {
        self.push(c);
    }
}

/// Records origins as byte positions until the text is finished, so that code points are
/// counted only once.
pub(super) struct MappedSink {
    text: String,
    spans: Vec<Span>,
}

impl MappedSink {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        MappedSink {
            text: String::with_capacity(bytes),
            spans: Vec::with_capacity(bytes / 2),
        }
    }

    fn copy_spans(&mut self, run: &str, begin: usize) {
        self.spans.extend(run.char_indices().map(|(at, c)| {
            let begin = begin + at;
            (begin as u32, (begin + c.len_utf8()) as u32)
        }));
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Puts another text in place of the one so far, which it was made of.
    pub(super) fn rewrite(&mut self, by: Rewritten) {
        self.spans = by.spans(&self.text, &self.spans);
        self.text = by.into_text();
    }

    /// Turns byte positions into code points of `original`, after `relocate`
    /// has moved them from the source of the pass to the original.
    pub(super) fn finish(mut self, original: &str, relocate: impl FnOnce(&mut [Span])) -> Mapped {
        relocate(&mut self.spans);
        let mut begins = Counter::new(original);
        let mut ends = Counter::new(original);
        for (begin, end) in &mut self.spans {
            *begin = begins.code_points_before(*begin);
            *end = ends.code_points_before(*end);
        }
        Mapped {
            text: self.text,
            spans: self.spans,
        }
    }
}

impl Sink for MappedSink {
    fn copy(&mut self, run: &str, begin: usize, lowers: bool) {
        self.text.copy(run, begin, lowers);
        self.copy_spans(run, begin);
    }

    fn copy_words(&mut self, words: &str, begin: usize, sign: char, lowers: bool) {
        self.text.copy_words(words, begin, sign, lowers);
        self.copy_spans(words, begin);
    }

    fn put(&mut self, c: char, begin: usize, end: usize) {
        self.text.push(c);
        self.spans.push((begin as u32, end as u32));
    }
}

/// Counts code points before byte positions, which must not decrease.
struct Counter<'a> {
    bytes: &'a [u8],
    at: usize,
    code_points: u32,
}

impl<'a> Counter<'a> {
    fn new(text: &'a str) -> Self {
        Counter {
            bytes: text.as_bytes(),
            at: 0,
            code_points: 0,
        }
    }

    fn code_points_before(&mut self, byte: u32) -> u32 {
        let to = (byte as usize).clamp(self.at, self.bytes.len());
        // Every code point has exactly one byte that is not a continuation.
        let passed = self.bytes[self.at..to]
            .iter()
            .filter(|&&b| b & 0xC0 != 0x80)
            .count();
        self.at = to;
        self.code_points += passed as u32;
        self.code_points
    }
}
