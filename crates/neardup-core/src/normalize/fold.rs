/*! The steps after NFKC: removing invisible characters, folding letters, lower case, and
separators, which are held back until the next character is known. */

use std::ops::Range;

use super::letters::Foldings;
use super::mapped::Sink;
use super::{SENTENCE_END, SENTENCE_MARKS, Settings, WORD_END, Whitespace, is_separator};
use crate::characters;

/// The last five steps, between NFKC and a sink.
pub(super) struct Fold<'a, S> {
    settings: &'a Settings,
    foldings: Foldings,
    sink: &'a mut S,
    /// The separators that have not been written or dropped yet.
    waiting: Option<Separators>,
    /// The last character written, before it became lower case.
    last: Option<char>,
}

/// A run of separators.
struct Separators {
    /// Its span in the original text.
    begin: usize,
    end: usize,
    /// The only character of the run, unless it is white space.
    only: Option<char>,
    /// Whether one of them ends a sentence.
    ends_sentence: bool,
}

impl<'a, S: Sink> Fold<'a, S> {
    pub(super) fn new(settings: &'a Settings, foldings: Foldings, sink: &'a mut S) -> Self {
        Fold {
            settings,
            foldings,
            sink,
            waiting: None,
            last: None,
        }
    }

    /// Copies a range of a text that no step changes, but for the case of ASCII if it `lowers`.
    #[inline]
    pub(super) fn copy(&mut self, text: &str, range: Range<usize>, lowers: bool) {
        let run = &text[range.clone()];
        let Some(first) = run.chars().next() else {
            return;
        };
        self.settle(first);
        self.sink.copy(run, range.start, lowers);
        self.last = run.chars().next_back();
    }

    /// Copies words of ASCII letters with one blank behind each, from the byte `begin` of the text; a letter
    /// follows.
    #[inline]
    pub(super) fn copy_words(&mut self, words: &str, begin: usize) {
        // Any letter stands for the letters next to a blank.
        const LETTER: char = 'a';
        self.settle(LETTER);
        let blank = Separators {
            begin,
            end: begin,
            only: None,
            ends_sentence: false,
        };
        let sign = self.between(LETTER, &blank, LETTER).unwrap_or(' ');
        self.sink
            .copy_words(words, begin, sign, self.settings.lowercase);
        self.last = Some(LETTER);
    }

    /// Ends the text.
    pub(super) fn finish(mut self) {
        if let (Some(waiting), Some(last)) = (self.waiting.take(), self.last)
            && waiting.ends_sentence
            && self.is_unspaced(last)
        {
            self.sink.put(SENTENCE_END, waiting.begin, waiting.end);
        }
    }

    /// Processes a character of the NFKC text that came from `begin..end` of the original.
    #[inline]
    pub(super) fn push(&mut self, c: char, begin: usize, end: usize) {
        let mut class = characters::classes(c);
        if class & characters::INVISIBLE != 0 && self.settings.drop_invisible {
            return;
        }
        let mut c = c;
        if class & characters::FOLDED != 0 {
            match self.foldings.fold(c) {
                Some(folded) => (c, class) = (folded, characters::classes(folded)),
                None => return,
            }
        }
        if is_separator(self.settings, class) {
            self.separate(c, class, begin, end);
            return;
        }
        self.settle(c);
        self.last = Some(c);
        if class & characters::CASED != 0 && self.settings.lowercase {
            for lower in c.to_lowercase() {
                self.sink.put(lower, begin, end);
            }
        } else {
            self.sink.put(c, begin, end);
        }
    }

    /// Holds back the separator `c` of a class.
    #[inline]
    pub(super) fn separate(&mut self, c: char, class: u16, begin: usize, end: usize) {
        let ends_sentence = SENTENCE_MARKS.contains(&c);
        self.waiting = Some(match self.waiting.take() {
            None => Separators {
                begin,
                end,
                only: (class & characters::WHITE == 0).then_some(c),
                ends_sentence,
            },
            Some(before) => Separators {
                begin: before.begin,
                end,
                only: None,
                ends_sentence: ends_sentence || before.ends_sentence,
            },
        });
    }

    /// Writes or drops pending separators, now that `next` is known to follow.
    #[inline]
    fn settle(&mut self, next: char) {
        let Some(waiting) = &self.waiting else {
            return;
        };
        if let Some(last) = self.last
            && let Some(sign) = self.between(last, waiting, next)
        {
            self.sink.put(sign, waiting.begin, waiting.end);
        }
        self.waiting = None;
    }

    /// The sign that replaces separators between two characters.
    fn between(&self, last: char, waiting: &Separators, next: char) -> Option<char> {
        let is_number = last.is_ascii_digit() && next.is_ascii_digit();
        match waiting.only {
            Some('.' | ',' | ':') if is_number => waiting.only,
            Some('\'' | '’') if last.is_alphabetic() && next.is_alphabetic() => None,
            _ if self.is_unspaced(last) || self.is_unspaced(next) => {
                waiting.ends_sentence.then_some(SENTENCE_END)
            }
            // 3-5 is not 35.
            _ if is_number && self.settings.drop_punctuation => Some('-'),
            _ if self.settings.drop_punctuation => Some(WORD_END),
            _ => Some(' '),
        }
    }

    /// Whether separators next to a character vanish.
    #[inline]
    fn is_unspaced(&self, c: char) -> bool {
        self.settings.whitespace == Whitespace::ByScript
            && !c.is_ascii()
            && characters::is(c, characters::UNSPACED)
    }
}
