//! Dates and times of day.

use std::fmt::Write;
use std::ops::Range;

use super::{DAY_FIRST, Date, Kind, Number, Numbers, UNSURE, Value, WORD_END, separates};

/// Words before an hour of the first and of the second half of a day.
const EARLY: [&str; 6] = ["上午", "午前", "早上", "凌晨", "早晨", "清晨"];
const LATE: [&str; 6] = ["下午", "午后", "午後", "晚上", "傍晚", "晚"];

/// Whether a character makes a part of a date or a time of the number before it.
pub(super) fn is_unit(c: char) -> bool {
    "年月时時点點".contains(c)
}

/// The year of four digits at a place, and its end.
pub(super) fn year_at(text: &str, at: usize) -> Option<(u32, usize)> {
    let bytes = &text.as_bytes()[at..];
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let goes_on = |sign: Option<&u8>| matches!(sign, Some(b'.' | b',' | b':'));
    let is_part = goes_on(bytes.get(4)) && bytes.get(5).is_some_and(u8::is_ascii_digit);
    let is_year = digits == 4 && matches!(bytes[0], b'1' | b'2') && !is_part;
    is_year.then(|| Some((text[at..at + 4].parse().ok()?, at + 4)))?
}

/// The date at a place that is written in digits with one sign between them, and its end.
pub(super) fn numeric(text: &str, at: usize) -> Option<(Date, usize)> {
    let mut rest = Parts {
        bytes: text.as_bytes(),
        at,
    };
    let first = rest.digits()?;
    let mark = rest.mark(first.1);
    let sign = rest.sign()?;
    let second = rest.digits()?;
    if rest.sign()? != sign || second.1 > 2 {
        return None;
    }
    let third = rest.digits()?;
    if rest.goes_on() {
        return None;
    }
    let is_year = |(year, digits): (u32, usize)| digits == 4 && (1000..3000).contains(&year);
    let (year, [a, b]) = match (first, third) {
        (year, (day, 1 | 2)) if is_year(year) => (year.0, [second.0, day]),
        ((a, 1 | 2), year) if is_year(year) => (year.0, [a, second.0]),
        _ => return None,
    };
    let year_first = first.1 == 4;
    let is_month = |month: u32| (1..=12).contains(&month);
    let is_sure = match mark {
        Some(mark) => mark == DAY_FIRST,
        None => year_first || !(is_month(a) && is_month(b)) || a == b,
    };
    let is_turned = mark == Some(DAY_FIRST) || !year_first && !is_month(a);
    let [month, day] = if is_turned { [b, a] } else { [a, b] };
    let [month, day] = if is_sure {
        [month, day]
    } else {
        [month.min(day), month.max(day)]
    };
    if !is_month(month) || !(1..=31).contains(&day) {
        return None;
    }
    let date = Date {
        year: Some(year),
        month,
        day,
        is_sure,
    };
    Some((date, rest.before_time()))
}

/// Goes through the parts of a date in digits.
struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parts<'_> {
    /// At most four digits: their value and how many.
    fn digits(&mut self) -> Option<(u32, usize)> {
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
        let (value, count) = digits.take(5).fold((0, 0), |(value, count), digit| {
            (10 * value + u32::from(digit - b'0'), count + 1)
        });
        self.at += count;
        (1..=4).contains(&count).then_some((value, count))
    }

    fn sign(&mut self) -> Option<u8> {
        let sign = *self.bytes.get(self.at)?;
        self.at += 1;
        matches!(sign, b'-' | b'/' | b'.').then_some(sign)
    }

    /// The mark behind a year.
    fn mark(&mut self, digits: usize) -> Option<char> {
        let mark = self.bytes.get(self.at).map(|&byte| char::from(byte));
        let mark = mark.filter(|&c| digits == 4 && (c == DAY_FIRST || c == UNSURE))?;
        self.at += 1;
        Some(mark)
    }

    /// Whether digits follow that belong to the last ones.
    fn goes_on(&self) -> bool {
        let is_digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_sign = matches!(self.bytes.get(self.at), Some(b'.' | b',' | b':'));
        is_digit(self.at) || is_sign && is_digit(self.at + 1)
    }

    /// Behind the letter between a date and a time.
    fn before_time(&self) -> usize {
        let is_time = matches!(self.bytes.get(self.at), Some(b't' | b'T'))
            && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        self.at + usize::from(is_time)
    }
}

impl Numbers<'_> {
    /// A date with a year, spelled.
    pub(super) fn dated(&mut self, date: Date, place: Range<usize>) -> Number {
        let Date {
            month,
            day,
            is_sure,
            ..
        } = date;
        let _ = write!(self.spelled, "{}", date.year.unwrap_or(0));
        let could_be_turned = month <= 12 && day <= 12 && month != day;
        let mut parts = [month, day];
        if could_be_turned && !is_sure {
            self.spelled.push(UNSURE);
        } else if could_be_turned && month > day {
            self.spelled.push(DAY_FIRST);
            parts.reverse();
        }
        let _ = write!(self.spelled, "-{}-{}", parts[0], parts[1]);
        Number {
            kind: Kind::Date(date),
            place,
        }
    }

    /// A number by the units behind it: a date, a time, or a number.
    pub(super) fn with_units(&mut self, at: usize, value: Value, end: usize) -> Number {
        let Some((unit, after)) = self.peek(end) else {
            return self.plain(at, value, end);
        };
        let found = match unit {
            '年' => self.day_of_year(at, value, after),
            '月' => self.month(at, value, after),
            '时' | '時' | '点' | '點' => self.hour(at, value, unit, after),
            _ => None,
        };
        found.unwrap_or_else(|| self.plain(at, value, end))
    }

    fn day_of_year(&mut self, at: usize, value: Value, after: usize) -> Option<Number> {
        let year = value.within(1000..=2999)?;
        let (month, end) = self.whole(after)?;
        let ('月', after) = self.peek(end)? else {
            return None;
        };
        let (month, day, end) = self.day_of_month(month, after)?;
        let date = Date {
            year: Some(year),
            month,
            day,
            is_sure: true,
        };
        Some(self.dated(date, at..end))
    }

    /// A day without a year.
    fn month(&mut self, at: usize, value: Value, after: usize) -> Option<Number> {
        let (month, day, end) = self.day_of_month(value, after)?;
        let _ = write!(self.spelled, "{month}月{day}日");
        let date = Date {
            year: None,
            month,
            day,
            is_sure: true,
        };
        Some(Number {
            kind: Kind::Date(date),
            place: at..end,
        })
    }

    /// The month, the day behind it, and the end of both.
    fn day_of_month(&self, month: Value, after: usize) -> Option<(u32, u32, usize)> {
        let month = month.within(1..=12)?;
        let (day, end) = self.whole(after)?;
        let day = day.within(1..=31)?;
        match self.peek(end)? {
            ('日' | '号' | '號', end) => Some((month, day, end)),
            _ => None,
        }
    }

    /// A time with 时 or 点: 9时, 九点半, 午前9时05分.
    fn hour(&mut self, at: usize, value: Value, unit: char, after: usize) -> Option<Number> {
        let hour = value.within(0..=24)?;
        let is_point = matches!(unit, '点' | '點');
        let next = self.peek(after);
        if !is_point && next.is_some_and(|(c, _)| matches!(c, '间' | '間')) {
            return None;
        }
        let (mut minute, mut end, mut second) = (None, after, None);
        match next {
            Some(('半', after)) => (minute, end) = (Some(30), after),
            Some(('整' | '钟' | '鐘', after)) => end = after,
            Some(_) => {
                if let Some((found, after, is_marked)) = self.minute(after, is_point) {
                    (minute, end) = (Some(found), after);
                    let seconds = self.whole(after).filter(|_| is_marked);
                    if let Some((value, after)) = seconds
                        && let Some(('秒', after)) = self.peek(after)
                        && let Some(value) = value.within(0..=59)
                    {
                        (second, end) = (Some(value), after);
                    }
                }
            }
            None => {}
        }
        let (begin, hour) = self.half_before(at, hour);
        Some(self.timed(begin..end, hour, minute, second))
    }

    /// The minutes behind an hour, their end, and whether 分 marks them.
    fn minute(&self, at: usize, is_point: bool) -> Option<(u32, usize, bool)> {
        let (value, end) = self.whole(at)?;
        let minute = value.within(0..=59)?;
        if let Some(('分', after)) = self.peek(end) {
            let is_share = self.peek(after).is_some_and(|(c, _)| c == '之');
            return (!is_share).then_some((minute, after, true));
        }
        let is_digits = self.text[at..].starts_with(|c: char| c.is_ascii_digit());
        let is_minute = if is_digits {
            end - at == 2
        } else {
            minute >= 10
        };
        (is_point && is_minute).then_some((minute, end, false))
    }

    /// A time of digits.
    pub(super) fn clock(&mut self, at: usize, end: usize) -> Option<Number> {
        let mut parts = self.text[at..end].split(':');
        let hour = parts.next().filter(|hour| hour.len() <= 2)?;
        let mut part = || match parts.next() {
            None => Some(None),
            Some(two) if two.len() == 2 => two.parse().ok().map(Some),
            Some(_) => None,
        };
        let (minute, second) = (part()?, part()?);
        let hour = hour.parse().ok()?;
        if parts.next().is_some() {
            return None;
        }
        if minute.is_some()
            && let Some((hour, end)) = self.half_behind(hour, end)
        {
            return Some(self.timed(at..end, hour, minute, second));
        }
        let (begin, hour) = self.half_before(at, hour);
        Some(self.timed(begin..end, hour, minute, second))
    }

    /// The hour of the day by the am or pm behind an hour, and where that ends.
    fn half_behind(&self, hour: u32, end: usize) -> Option<(u32, usize)> {
        let behind = |at: usize, expected: [char; 2]| {
            let c = self.text[at..].chars().next()?;
            expected
                .contains(&c.to_ascii_lowercase())
                .then_some((c, at + 1))
        };
        let separator = self.text[end..].chars().next();
        let begin = end
            + separator
                .filter(|&c| separates(c))
                .map_or(0, char::len_utf8);
        let (half, at) = behind(begin, ['a', 'p'])?;
        let point = self.text[at..].chars().next();
        let at = at + usize::from(matches!(point, Some(WORD_END | '.')));
        let (_, end) = behind(at, ['m', 'm'])?;
        let goes_on = self.text[end..].starts_with(|c: char| c.is_ascii_digit());
        if !(1..=12).contains(&hour) || !self.is_word_end(end) || goes_on {
            return None;
        }
        let is_late = half.eq_ignore_ascii_case(&'p');
        Some((hour % 12 + if is_late { 12 } else { 0 }, end))
    }

    pub(super) fn timed(
        &mut self,
        place: Range<usize>,
        hour: u32,
        minute: Option<u32>,
        second: Option<u32>,
    ) -> Number {
        match minute {
            Some(minute) => write!(self.spelled, "{hour}:{minute:02}"),
            None => write!(self.spelled, "{hour}时"),
        }
        .unwrap_or_default();
        if let Some(second) = second.filter(|&second| second > 0) {
            let _ = write!(self.spelled, ":{second:02}");
        }
        Number {
            kind: Kind::Time,
            place,
        }
    }

    /// The half of the day before an hour: where the time begins, and the hour of the day.
    fn half_before(&self, at: usize, hour: u32) -> (usize, u32) {
        let begin_of = |word: &&str| {
            let mut begin = at;
            word.chars()
                .rev()
                .all(|expected| match self.peek_back(begin) {
                    Some((c, place)) if c == expected && place >= self.last => {
                        begin = place;
                        true
                    }
                    _ => false,
                })
                .then_some(begin)
        };
        let early = EARLY.iter().find_map(&begin_of);
        let late = LATE.iter().find_map(&begin_of);
        match (early, late) {
            (Some(begin), _) if hour <= 12 => (begin, hour),
            (_, Some(begin)) if hour > 12 => (begin, hour),
            (_, Some(begin)) if (5..12).contains(&hour) => (begin, hour + 12),
            (_, Some(begin)) if (1..12).contains(&hour) && self.is_noon(begin) => {
                (begin, hour + 12)
            }
            _ => (at, hour),
        }
    }

    /// Whether the word at a place begins the afternoon, not the night.
    fn is_noon(&self, at: usize) -> bool {
        let word = self.text[at..]
            .chars()
            .filter(|&c| c != super::SENTENCE_END);
        word.take(2).any(|c| c == '午')
    }
}
