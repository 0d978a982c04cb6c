/*! Stretches that do not count, by the kinds and regular expressions that a recipe names.

Expressions are searched in the text as it is written, in linear time: they have neither look-around nor
backreferences. A stretch leaves nothing, or a blank between two characters that it parted. Numbers and dates
are known by their shape only.
*/

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::rewritten::Rewritten;
use super::rewritten::Span;
use super::tags;
use crate::characters::{self, SEPARATING, UNSPACED, WHITE};
use crate::error::{Error, Result};

/// The most bytes of a compiled expression.
const LARGEST: usize = 1 << 22;

const NUMERALS: &str = "〇零一二两兩三四五六七八九十百千万萬亿億";

/// Measure words and units: a single Chinese numeral before one is a number.
const MEASURES: &str = "个個名位人元块塊次年月日天时時点點分秒号號岁歲章節节条條张張只隻台辆輛家间間米里吨噸斤度倍届屆期";

/// The stretches of texts that do not count: `numbers`, `dates`, `links`, `names`, `punctuation`, and what
/// regular expressions match.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Ignored {
    listed: Vec<String>,
    numbers: Option<Regex>,
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
                "numbers" => ignored.numbers = Some(compiled(&numbers())?),
                "dates" => ignored.expressions.push(compiled(&dates())?),
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

    /// The text without what is ignored; `None` if there is nothing to leave out. O(n log n) for n bytes.
    pub(super) fn leave_out(&self, text: &str) -> Option<Rewritten> {
        let stretches = self.stretches(text);
        if stretches.is_empty() {
            return None;
        }
        let is_of_word = |c: char| !characters::is(c, UNSPACED | SEPARATING);
        let mut rewritten = Rewritten::with_capacity(text.len());
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
        if let Some(numbers) = &self.numbers {
            let all = numbers.find_iter(text).map(|number| number.range());
            found.extend(all.filter(|place| is_number(text, place)).map(span));
        }
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
            if self.punctuation && class & (SEPARATING | WHITE) == SEPARATING {
                found.push((at as u32, (at + c.len_utf8()) as u32));
            }
            before = c;
        }
    }
}

/// Whether digits or numerals are a number: a single numeral is one only after 第 or before a measure word.
fn is_number(text: &str, place: &Range<usize>) -> bool {
    let number = &text[place.clone()];
    let is_several = number.chars().nth(1).is_some()
        && !number.starts_with(['百', '千', '万', '萬', '亿', '億']);
    number.starts_with(char::is_numeric) && !number.starts_with('〇')
        || is_several
        || text[..place.start].ends_with('第')
        || text[place.end..].starts_with(|c| MEASURES.contains(c))
}

/// Digits with signs between them, or Chinese numerals.
fn numbers() -> String {
    format!(r"\d+(?:[.,:．：]\d+)*[十百千万萬亿億]*|[{NUMERALS}]+")
}

/// Dates and times in Chinese, ISO 8601 and English. Boundaries are those of ASCII, since nothing parts a
/// Chinese word from a date.
fn dates() -> String {
    let number = r"(?:\d{1,4}|[〇零一二三四五六七八九十]{1,4})\s?";
    let minutes = format!(r"(?:\s?{number}分(?:\s?{number}秒)?)");
    let day = format!(r"{number}[日号號]");
    let month = format!(r"{number}月(?:份|\s?{day})?");
    let part = "(?:[上下]午|凌晨|早上|早晨|中午|傍晚|晚上|晚间|深夜)";
    let time = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\b)?(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?";
    let hour = format!("{number}[时時点點]");
    let date = format!(r"(?:{number}年(?:\s?{month})?|{month}|{number}日)");
    let chinese = format!(
        r"{date}(?:\s?{part})?(?:\s?(?:{time}|{hour}{minutes}?))?|{part}\s?{hour}{minutes}?|{hour}(?:{minutes}|整|半|钟)"
    );
    let digits = format!(
        r"\b(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}})(?:(?:T|\s+){time})?"
    );
    let name = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?\
                |sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    let weekday = r"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\s+)?";
    let day = r"\d{1,2}(?:st|nd|rd|th)?\b";
    let english = format!(
        r"{weekday}(?:{name}\.?\s+{day}|{day}\s+(?:of\s+)?{name}\b)(?:,?\s+\d{{4}}\b)?(?:,?\s+{time}(?:\s+\d{{4}}\b)?)?"
    );
    let all = format!("(?i){chinese}|{digits}|{english}|{weekday}{time}");
    all.replace(r"\b", r"(?-u:\b)")
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
        let rewritten = ignored.unwrap().leave_out(text);
        rewritten.map_or(text.to_owned(), |rewritten| rewritten.text().to_owned())
    }

    #[test]
    fn kinds_by_example() {
        for (kind, text, expected) in [
            (
                "numbers",
                "第三章 共1,200人，十三 of 3.5万",
                "第章 共人， of ",
            ),
            (
                "numbers",
                "一样 万一 一个 node17 10.0.0.1:80",
                "一样 万一 个 node ",
            ),
            ("numbers", "a1b, 1a", "a b, a"),
            ("dates", "2026-03-05T09:05:01.5Z up", " up"),
            ("dates", "于2026年3月5日 9:05开", "于开"),
            ("dates", "三月五日上午九时三十分开会", "开会"),
            ("dates", "Thu Mar  5 12:30:01 2026 x", " x"),
            (
                "dates",
                "On March 5th, 2026 and 5 March 2026, 9:05 pm.",
                "On  and .",
            ),
            (
                "dates",
                "may 17 17/03/2026 95分 5号线 marching 5",
                "  95分 5号线 marching 5",
            ),
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
        assert_eq!(left(&["numbers", r"\d+ms"], "took 12ms of 7"), "took  of ");
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
