/*! The steps after NFKC: removing invisible characters, folding letters, lower case, and white
space, which is held back until the next character is known. */

use super::classes::{self, Classes};
use super::letters::Foldings;
use super::mapped::Sink;
use super::{Settings, Whitespace};

/// The last four steps, between NFKC and a sink.
pub(super) struct Fold<'a, S> {
    settings: &'a Settings,
    foldings: Foldings,
    classes: Classes,
    sink: &'a mut S,
    /// The original span of white space that has not been written or dropped yet.
    waiting: Option<(usize, usize)>,
    /// Something has been written, so white space is not at the beginning.
    started: bool,
    /// White space after the last character written is dropped.
    unspaced: bool,
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
            started: false,
            unspaced: false,
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
        if self.settings.whitespace == Whitespace::ByScript
            && let Some(last) = run.chars().next_back()
        {
            self.unspaced = self.is_unspaced(last);
        }
    }

    /// Processes a character of the NFKC text that came from `begin..end` of the original.
    #[inline]
    pub(super) fn push(&mut self, c: char, begin: usize, end: usize) {
        let class = self.classes.of(c);
        if class & classes::INVISIBLE != 0 && self.settings.drop_invisible {
            return;
        }
        let mut c = c;
        if class & classes::FOLDED != 0 {
            match self.foldings.fold(c) {
                // It is of the same other classes.
                Some(folded) => c = folded,
                None => return,
            }
        }
        if class & classes::WHITE != 0 && self.settings.whitespace != Whitespace::Keep {
            let from = self.waiting.map_or(begin, |(from, _)| from);
            self.waiting = Some((from, end));
            return;
        }
        self.settle(c);
        self.unspaced = class & classes::UNSPACED != 0;
        if class & classes::CASED != 0 && self.settings.lowercase {
            for lower in c.to_lowercase() {
                self.sink.put(lower, begin, end);
            }
        } else {
            self.sink.put(c, begin, end);
        }
    }

    /// Writes or drops pending white space, now that `next` is known to follow.
    #[inline]
    fn settle(&mut self, next: char) {
        if let Some((begin, end)) = self.waiting.take() {
            let vanishes = self.settings.whitespace == Whitespace::ByScript
                && (self.unspaced || self.is_unspaced(next));
            if self.started && !vanishes {
                self.sink.put(' ', begin, end);
            }
        }
        self.started = true;
    }

    #[inline]
    fn is_unspaced(&self, c: char) -> bool {
        self.classes.of(c) & classes::UNSPACED != 0
    }
}
