/*! The steps after NFKC: removing invisible characters, folding letters, lower case, and
separators, which are held back until the next character is known. */

use super::classes::{self, Classes};
use super::letters::Foldings;
use super::mapped::Sink;
use super::{SENTENCE_END, SENTENCE_MARKS, Settings, WORD_END, Whitespace};

/// The last five steps, between NFKC and a sink.
pub(super) struct Fold<'a, S> {
    settings: &'a Settings,
    foldings: Foldings,
    classes: Classes,
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
    pub(super) fn new(
        settings: &'a Settings,
        foldings: Foldings,
        classes: Classes,
        sink: &'a mut S,
    ) -> Self {
        Fold {
            settings,
            foldings,
            classes,
            sink,
            waiting: None,
            last: None,
        }
    }

    /// Copies `text[begin..end]`, which no step changes.
    #[inline]
    pub(super) fn copy(&mut self, text: &str, begin: usize, end: usize) {
        let run = &text[begin..end];
        let Some(first) = run.chars().next() else {
            return;
        };
        self.settle(first);
        self.sink.copy(run, begin, end);
        self.last = run.chars().next_back();
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
        let mut class = self.classes.of(c);
        if class & classes::INVISIBLE != 0 && self.settings.drop_invisible {
            return;
        }
        let mut c = c;
        if class & classes::FOLDED != 0 {
            match self.foldings.fold(c) {
                Some(folded) => (c, class) = (folded, self.classes.of(folded)),
                None => return,
            }
        }
        if self.is_separator(class) {
            let only = (class & classes::WHITE == 0).then_some(c);
            let ends_sentence = SENTENCE_MARKS.contains(&c);
            self.waiting = Some(match self.waiting.take() {
                None => Separators {
                    begin,
                    end,
                    only,
                    ends_sentence,
                },
                Some(before) => Separators {
                    begin: before.begin,
                    end,
                    only: None,
                    ends_sentence: ends_sentence || before.ends_sentence,
                },
            });
            return;
        }
        self.settle(c);
        self.last = Some(c);
        if class & classes::CASED != 0 && self.settings.lowercase {
            for lower in c.to_lowercase() {
                self.sink.put(lower, begin, end);
            }
        } else {
            self.sink.put(c, begin, end);
        }
    }

    #[inline]
    fn is_separator(&self, class: u8) -> bool {
        if self.settings.drop_punctuation {
            class & classes::SEPARATING != 0
        } else {
            class & classes::WHITE != 0 && self.settings.whitespace != Whitespace::Keep
        }
    }

    /// Writes or drops pending separators, now that `next` is known to follow.
    #[inline]
    fn settle(&mut self, next: char) {
        if let (Some(waiting), Some(last)) = (self.waiting.take(), self.last)
            && let Some(sign) = self.between(last, &waiting, next)
        {
            self.sink.put(sign, waiting.begin, waiting.end);
        }
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
            && self.classes.of(c) & classes::UNSPACED != 0
    }
}
