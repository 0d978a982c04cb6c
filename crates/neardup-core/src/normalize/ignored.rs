/*! Stretches that do not count, by the kinds and regular expressions that a recipe names.

Expressions are searched in the text as it is written, in linear time: they have neither look-around nor
backreferences. A stretch leaves nothing, or a blank between two characters that it parted. Numbers and dates
are left out by [the last step](super::numbers), which knows their notations.
*/

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::numbers::digits;
use super::rewritten::{Rewritten, Span};
use super::tags;
use crate::characters::{self, SEPARATING, UNSPACED, WHITE};
use crate::error::{Error, Result};

/// The most bytes of a compiled expression.
const LARGEST: usize = 1 << 22;

/// The stretches of texts that do not count: `numbers`, `dates`, `links`, `names`, `punctuation`, and what
/// regular expressions match.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Ignored {
    listed: Vec<String>,
    numbers: bool,
    dates: bool,
    /// Each is searched by itself, so that none hides what another one finds.
    expressions: Vec<Regex>,
    links: bool,
    names: bool,
    punctuation: bool,
}

impl TryFrom<Vec<String>> for Ignored {
    type Error = Error;

    fn try_from(listed: Vec<String>) -> Result<Self> {
        let mut ignored = Ignored::default();
        for item in &listed {
            match item.as_str() {
                "numbers" => ignored.numbers = true,
                "dates" => ignored.dates = true,
                "links" => ignored.links = true,
                "names" => ignored.names = true,
                "punctuation" => ignored.punctuation = true,
                expression => ignored.expressions.push(compiled(expression)?),
            }
        }
        ignored.listed = listed;
        Ok(ignored)
    }
}

impl PartialEq for Ignored {
    fn eq(&self, other: &Self) -> bool {
        self.listed == other.listed
    }
}

impl Eq for Ignored {}

impl Ignored {
    /// Whether everything counts.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether numbers are ignored, including the numbers of dates and times.
    pub(super) fn numbers(&self) -> bool {
        self.numbers
    }

    /// Whether dates and times are ignored.
    pub(super) fn dates(&self) -> bool {
        self.dates
    }

    /// The text without what is ignored except for numbers and dates; `None` if there is nothing to leave
    /// out. O(n log n) for n bytes.
    pub(super) fn leave_out(&self, text: &str, is_mapped: bool) -> Option<Rewritten> {
        let stretches = self.stretches(text);
        if stretches.is_empty() {
            return None;
        }
        let is_of_word = |c: char| !characters::is(c, UNSPACED | SEPARATING);
        let mut rewritten = Rewritten::with_capacity(text.len(), is_mapped);
        let mut kept = 0;
        for (begin, end) in stretches {
            let (begin, end) = (begin as usize, end as usize);
            rewritten.keep(text, kept, begin);
            if text[..begin].ends_with(is_of_word) && text[end..].starts_with(is_of_word) {
                rewritten.replace(" ", begin, end);
            }
            kept = end;
        }
        rewritten.keep(text, kept, text.len());
        Some(rewritten)
    }

    /// The ignored stretches, in order and disjoint.
    fn stretches(&self, text: &str) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        let span = |place: Range<usize>| (place.start as u32, place.end as u32);
        for expression in &self.expressions {
            found.extend(expression.find_iter(text).map(|place| span(place.range())));
        }
        self.find_items(text, &mut found);
        found.retain(|place| place.0 < place.1);
        found.sort_unstable();
        found.dedup_by(|next, last| {
            let is_one = next.0 <= last.1;
            last.1 = if is_one { last.1.max(next.1) } else { last.1 };
            is_one
        });
        found
    }

    /// Adds the links, names and signs.
    fn find_items(&self, text: &str, found: &mut Vec<Span>) {
        if !(self.links || self.names || self.punctuation) {
            return;
        }
        let (mut before, mut end) = (' ', 0);
        for (at, c) in text.char_indices() {
            let rest = &text[at..];
            let is_inside = at < end || before.is_ascii_alphanumeric();
            let link = || tags::link(rest).filter(|_| self.links);
            let name = || {
                tags::name(rest)
                    .or_else(|| tags::tag(rest))
                    .filter(|_| self.names)
            };
            if let Some(length) = (!is_inside).then(|| link().or_else(name)).flatten() {
                end = at + length;
                found.push((at as u32, end as u32));
            }
            let class = characters::classes(c);
            let is_sign = class & (SEPARATING | WHITE) == SEPARATING;
            if self.punctuation && is_sign && !self.is_of_number(before, &rest[c.len_utf8()..]) {
                found.push((at as u32, (at + c.len_utf8()) as u32));
            }
            before = c;
        }
    }
}

impl Ignored {
    /// Whether a sign may be one of a number that is left out later.
    fn is_of_number(&self, before: char, behind: &str) -> bool {
        let is_digit = |c: char| digits::to_ascii(c).is_some();
        (self.numbers || self.dates) && is_digit(before) && behind.starts_with(is_digit)
    }
}

fn compiled(expression: &str) -> Result<Regex> {
    let built = RegexBuilder::new(expression).size_limit(LARGEST).build();
    built.map_err(|_| Error::parameter("normalize.ignore", "a regular expression", expression))
}

/// Why a regular expression cannot be used, and at which of its characters, from 1 on; `None` if it can.
pub fn fault_of(expression: &str) -> Option<(String, usize)> {
    let (reason, span) = match regex_syntax::parse(expression) {
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), *error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), *error.span()),
        _ => {
            return compiled(expression)
                .err()
                .map(|_| (String::from("too large"), 1));
        }
    };
    let before = expression.get(..span.start.offset).unwrap_or("");
    Some((reason, before.chars().count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(listed: &[&str], text: &str) -> String {
        let ignored = Ignored::try_from(listed.iter().map(ToString::to_string).collect::<Vec<_>>());
        let rewritten = ignored.unwrap().leave_out(text, true);
        rewritten.map_or(text.to_owned(), |rewritten| rewritten.text().to_owned())
    }

    #[test]
    fn kinds_by_example() {
        for (kind, text, expected) in [
            (
                "links",
                "see https://a.b/c?d=1, or (www.e.f).",
                "see , or ().",
            ),
            ("links", "aboutt.co/x 看t.cn/Ab好", "aboutt.co/x 看好"),
            (
                "names",
                "ask @joe_b or a@b.c #now #1 #话 题#",
                "ask  or a@b.c  #1 ",
            ),
            ("punctuation", "a, b。c1.5 d-e", "a b c1 5 d e"),
        ] {
            assert_eq!(left(&[kind], text), expected, "{kind} {text}");
        }
    }

    #[test]
    fn kinds_and_expressions_are_searched_apart() {
        assert_eq!(left(&["names", r"\d+ms"], "took 12ms of @x"), "took  of ");
        assert_eq!(left(&["a*", "", "^$"], "bab"), "b b");
        assert_eq!(left(&[r"[\s\S]*"], "all of it"), "");
        assert_eq!(left(&["x{1,2}"], "axxxb字x字"), "a b字字");
    }

    #[test]
    fn faults_have_a_place() {
        for (expression, place) in [
            ("字(", 2),
            ("(?=a)b", 1),
            (r"(a)\1", 4),
            (r"\w{100000}", 1),
            ("[", 1),
        ] {
            assert_eq!(
                fault_of(expression).map(|(_, place)| place),
                Some(place),
                "{expression}"
            );
            assert!(compiled(expression).is_err());
        }
        assert_eq!(fault_of(r"(?i)\p{Han}+\b[^\s]*?"), None);
    }
}
