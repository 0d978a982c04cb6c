//! The last step of normalize: each number is spelled by its value, or left out.

use std::ops::Range;

use super::super::rewritten::Rewritten;
use super::super::{SENTENCE_END, Settings, WORD_END, Whitespace};
use super::{Date, Kind, Number, Numbers, digits, separates};
use crate::characters::{self, SEPARATING, UNSPACED};

/// The settings of the step.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct NumberStep {
    spells: bool,
    omits_numbers: bool,
    omits_dates: bool,
    /// Whether signs were dropped before, and white space next to letters of scripts without spaces.
    drops_signs: bool,
    drops_spaces: bool,
}

impl NumberStep {
    pub(in super::super) fn new(settings: &Settings) -> Self {
        NumberStep {
            spells: settings.spell_numbers,
            omits_numbers: settings.ignore.numbers(),
            omits_dates: settings.ignore.dates(),
            drops_signs: settings.drop_punctuation,
            drops_spaces: settings.whitespace == Whitespace::ByScript,
        }
    }

    /// The text with its digits in ASCII, if numbers or dates are left out of it: a recipe that folds
    /// nothing has others.
    pub(in super::super) fn digits(self, text: &str, is_mapped: bool) -> Option<Rewritten> {
        let omits = self.omits_numbers || self.omits_dates;
        omits.then(|| digits::in_ascii(text, is_mapped)).flatten()
    }

    /// The text after the step, if it differs. `is_mapped` tells whether the places of its parts are
    /// wanted. O(n) for n bytes.
    pub(in super::super) fn run(self, text: &str, is_mapped: bool) -> Option<Rewritten> {
        if !(self.spells || self.omits_numbers || self.omits_dates) {
            return None;
        }
        let mut numbers = Numbers::new(text);
        let mut writer = Writer {
            text,
            step: self,
            is_mapped,
            out: None,
            copied: 0,
            omitted: None,
            last: None,
        };
        let mut last_day = None;
        while let Some(number) = numbers.next() {
            match self.omitted(&numbers, &number, last_day) {
                Some(place) => {
                    last_day = match number.kind {
                        Kind::Date(date) => Some((date, place.end)),
                        _ => None,
                    };
                    numbers.go_on(place.end);
                    writer.omit(place);
                }
                None if self.spells => writer.spell(number.place, numbers.spelled()),
                None => {}
            }
        }
        writer.finish()
    }

    /// The stretch to leave out for a number, if any.
    fn omitted(
        self,
        numbers: &Numbers<'_>,
        number: &Number,
        last_day: Option<(Date, usize)>,
    ) -> Option<Range<usize>> {
        let moment = || numbers.moment(number, last_day);
        let date = self.omits_dates.then(moment).flatten();
        let is_value = self.omits_numbers && numbers.is_amount(number);
        date.or_else(|| is_value.then(|| number.place.clone()))
    }

    /// Whether a character separates what is left out from the rest.
    fn is_sign(self, c: char) -> bool {
        separates(c) || c == SENTENCE_END || self.drops_signs && matches!(c, '.' | ',' | ':')
    }
}

/// Writes a text without some of its numbers, and with others spelled.
struct Writer<'a> {
    text: &'a str,
    step: NumberStep,
    is_mapped: bool,
    out: Option<Rewritten>,
    /// Where text not yet written begins.
    copied: usize,
    /// The stretch that was left out just before that.
    omitted: Option<Omitted>,
    /// Where the last number that was spelled ends, and whether with a digit.
    last: Option<(usize, bool)>,
}

/// A stretch that is left out, with the signs around it.
struct Omitted {
    begin: usize,
    /// Whether a sign parts it from the text on either side.
    signs: [bool; 2],
    ends_sentence: bool,
}

impl Writer<'_> {
    fn out(&mut self) -> &mut Rewritten {
        let (bytes, is_mapped) = (self.text.len(), self.is_mapped);
        self.out
            .get_or_insert_with(|| Rewritten::with_capacity(bytes, is_mapped))
    }

    /// Writes the text up to a place; `next` follows it, unless the text ends.
    fn keep(&mut self, to: usize, next: Option<char>) {
        let (text, from) = (self.text, self.copied);
        if let Some(omitted) = self.omitted.take() {
            let next = text[from..to].chars().next().or(next);
            let before = self.out().text().chars().next_back();
            if let Some(sign) = self.between(before, &omitted, next) {
                let sign = sign.encode_utf8(&mut [0; 4]).to_owned();
                self.out().replace(&sign, omitted.begin, from);
            }
        }
        self.out().keep(text, from, to);
        self.copied = to;
    }

    /// The replacement of a stretch that is left out between two characters.
    fn between(&self, before: Option<char>, omitted: &Omitted, next: Option<char>) -> Option<char> {
        if omitted.ends_sentence {
            return before.and(Some(SENTENCE_END));
        }
        let (before, next) = (before?, next?);
        let drops_signs = self.step.drops_signs;
        if drops_signs && before.is_ascii_digit() && next.is_ascii_digit() {
            return Some('-');
        }
        let is_of_word = |c| !characters::is(c, UNSPACED | SEPARATING);
        let is_unspaced = |c| characters::is(c, UNSPACED);
        let parts = is_of_word(before) && is_of_word(next)
            || omitted.signs.contains(&true)
                && !(self.step.drops_spaces && (is_unspaced(before) || is_unspaced(next)));
        parts.then_some(if drops_signs { WORD_END } else { ' ' })
    }

    fn omit(&mut self, place: Range<usize>) {
        let (text, step) = (self.text, self.step);
        let before = &text[self.copied.min(place.start)..place.start];
        let kept = before.trim_end_matches(|c| step.is_sign(c));
        let behind = &text[place.end..];
        let rest = behind.trim_start_matches(|c| step.is_sign(c));
        let end = text.len() - rest.len();
        let begin = self.copied.min(place.start) + kept.len();
        // A comma between two stretches goes with them.
        let has_text = kept.contains(|c| c != ',' && !step.is_sign(c));
        let signs = [&before[kept.len()..], &behind[..behind.len() - rest.len()]];
        let mut omitted = match self.omitted.take() {
            Some(omitted) if !has_text => omitted,
            earlier => {
                self.omitted = earlier;
                self.keep(begin, None);
                Omitted {
                    begin,
                    signs: [!signs[0].is_empty(), false],
                    ends_sentence: false,
                }
            }
        };
        omitted.signs[1] = !signs[1].is_empty();
        omitted.ends_sentence |= signs.iter().any(|signs| signs.contains(SENTENCE_END));
        self.omitted = Some(omitted);
        self.copied = end;
        self.last = None;
    }

    fn spell(&mut self, place: Range<usize>, spelled: &str) {
        // Two numbers side by side must not become one.
        let first = spelled.chars().next();
        let is_digit = first.is_some_and(|c| c.is_ascii_digit());
        let joins = self.last.is_some_and(|(end, has_digit)| {
            let between = &self.text[end.min(place.start)..place.start];
            has_digit && between.trim_matches(SENTENCE_END).is_empty()
        });
        let splits = joins && is_digit;
        if splits || *spelled != self.text[place.clone()] {
            self.keep(place.start, first);
            if splits {
                let spelled = format!("-{spelled}");
                self.out().replace(&spelled, place.start, place.end);
            } else {
                self.out().replace(spelled, place.start, place.end);
            }
            self.copied = place.end;
        }
        let ends_with_digit = spelled.ends_with(|c: char| c.is_ascii_digit());
        self.last = Some((place.end, ends_with_digit));
    }

    fn finish(mut self) -> Option<Rewritten> {
        if self.out.is_some() {
            self.keep(self.text.len(), None);
        }
        self.out
    }
}
