//! The words that are left out with a date or a time: a weekday, the half of the day, the time
//! zone, a year behind the time.

use std::ops::Range;

use super::dates::year_at;
use super::{Date, Kind, Number, Numbers, SENTENCE_END, numerals, separates};

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
/// Further abbreviations of weekdays. The first three letters of a name are one too.
const SHORT: [&str; 4] = ["tues", "wednes", "thur", "thurs"];

/// Words for a part of the day.
const PARTS: [&str; 16] = [
    "上午", "午前", "早上", "凌晨", "早晨", "清晨", "中午", "下午", "午后", "午後", "傍晚", "晚上",
    "晚间", "晚間", "深夜", "晚",
];
/// Parts of the day that stand only before an hour.
const ONLY_BEFORE_HOURS: [&str; 1] = ["晚"];

/// Measure words and units: a single Chinese numeral before one is a number.
const MEASURES: &str = "个個名位人元块塊次年月日天时時点點分秒号號岁歲章節节条條张張只隻台辆輛家间間米里吨噸斤度倍届屆期";

const ZONES: [&str; 3] = ["z", "utc", "gmt"];

impl Numbers<'_> {
    /// Whether a number is one in any sentence. A single numeral of Chinese is one after 第 or before a
    /// measure word: 下一步 and 周三 stay. *One* is a pronoun more often.
    pub(super) fn is_amount(&self, number: &Number) -> bool {
        if matches!(number.kind, Kind::Month(_)) {
            return false;
        }
        let Range { start, end } = number.place;
        let written = &self.text[start..end];
        let mut letters = written.chars().filter(|&c| c != SENTENCE_END);
        let is_single = letters.next().and_then(numerals::of).is_some() && letters.next().is_none();
        let is_counted = || {
            let before = self.peek_back(start).is_some_and(|(c, _)| c == '第');
            before || self.peek(end).is_some_and(|(c, _)| MEASURES.contains(c))
        };
        !written.eq_ignore_ascii_case("one") && (!is_single || is_counted())
    }

    /// The stretch of a date or a time, with what belongs to it, by the last day and where it ends. An hour
    /// alone is not a time, unless a day or a word for a part of the day stands before it: 两点一线.
    pub(super) fn moment(
        &self,
        number: &Number,
        last_day: Option<(Date, usize)>,
    ) -> Option<Range<usize>> {
        let Range { start, end } = number.place;
        let is_time = match number.kind {
            Kind::Time => true,
            Kind::Date(_) => false,
            Kind::Month(_) => {
                let (_, end) = year_at(self.text, self.after_signs(end)?)?;
                return Some(start..end);
            }
            Kind::Number if has_fraction(&self.text[start..end]) => true,
            Kind::Number => return Some(start..self.behind_unit(end)?),
            Kind::Word => return None,
        };
        if !is_time {
            return Some(self.before(start)..self.behind_part(end));
        }
        let day = last_day.filter(|&(_, day_end)| {
            let between = self.text.get(day_end..start);
            between.is_some_and(|between| between.chars().all(|c| separates(c) || c == ','))
        });
        let begin = self.before(start);
        if day.is_none() && begin == start && is_hour(&self.text[start..end]) {
            return None;
        }
        let end = self.behind_zone(end);
        // The year of a day may stand behind the time.
        let has_no_year = day.is_some_and(|(day, _)| day.year.is_none());
        let year = || year_at(self.text, self.after_signs(end)?);
        let year = has_no_year.then(year).flatten();
        Some(begin..year.map_or(end, |(_, end)| end))
    }

    /// Behind the unit of a number that is a year, a month or a day.
    fn behind_unit(&self, end: usize) -> Option<usize> {
        match self.peek(end)? {
            ('年' | '日', after) => Some(after),
            ('月', after) => match self.peek(after) {
                Some(('份', after)) => Some(after),
                _ => Some(after),
            },
            _ => None,
        }
    }

    /// Where the words before a date or a time begin.
    fn before(&self, at: usize) -> usize {
        let part = PARTS.iter().find_map(|part| {
            let ends = self.text[..at].ends_with(part);
            ends.then(|| at - part.len())
        });
        let at = part.unwrap_or(at);
        let is_sign = |c: char| separates(c) || matches!(c, ',' | '.');
        let before = self.text[..at].trim_end_matches(is_sign);
        let letters = before.bytes().rev();
        let letters = letters.take_while(u8::is_ascii_alphabetic).count();
        let begin = before.len() - letters;
        let is_weekday = before.len() < at && is_weekday(&before[begin..]);
        if is_weekday && self.is_word(begin, before.len()) {
            begin
        } else {
            at
        }
    }

    /// Behind a word for a part of the day that follows a day.
    fn behind_part(&self, at: usize) -> usize {
        let mut parts = PARTS
            .iter()
            .filter(|part| !ONLY_BEFORE_HOURS.contains(part));
        let part = parts.find(|part| self.text[at..].starts_with(**part));
        at + part.map_or(0, |part| part.len())
    }

    /// Behind the time zone of a time: Z, UTC, +08:00.
    fn behind_zone(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let separator = self.text[at..]
            .chars()
            .next()
            .filter(|&c| separates(c) && c != '-');
        let begin = at + separator.map_or(0, char::len_utf8);
        let end = self.end_of_word(begin);
        let word = &self.text[begin..end];
        if ZONES.iter().any(|zone| zone.eq_ignore_ascii_case(word)) && self.is_word_end(end) {
            return end;
        }
        let two = |at: usize| {
            let digits = bytes.get(at..at + 2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        };
        let has_sign = matches!(bytes.get(begin), Some(b'+' | b'-'));
        let minutes = begin + 3 + usize::from(bytes.get(begin + 3) == Some(&b':'));
        let is_offset = has_sign && two(begin + 1) && two(minutes);
        let goes_on = bytes.get(minutes + 2).is_some_and(u8::is_ascii_digit);
        if is_offset && !goes_on {
            minutes + 2
        } else {
            at
        }
    }
}

/// Whether a time is a number and 时 or 点.
fn is_hour(written: &str) -> bool {
    let is_numeral = |c: char| c.is_ascii_digit() || numerals::of(c).is_some();
    written.starts_with(is_numeral) && written.ends_with(['时', '時', '点', '點'])
}

/// Whether digits are a time with a fraction of its seconds: 9:05:01.25.
fn has_fraction(run: &str) -> bool {
    let Some((time, fraction)) = run.split_once(['.', ',']) else {
        return false;
    };
    let parts: Vec<&str> = time.split(':').collect();
    let is_two = |part: &&str| part.len() == 2;
    let is_time = parts.len() == 3 && parts[0].len() <= 2 && parts[1..].iter().all(is_two);
    is_time && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_weekday(word: &str) -> bool {
    let is_day = |day: &&str| day.eq_ignore_ascii_case(word) || day[..3].eq_ignore_ascii_case(word);
    WEEKDAYS.iter().any(is_day) || SHORT.iter().any(|day| day.eq_ignore_ascii_case(word))
}
