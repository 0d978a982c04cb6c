/*! Chinese numerals: 三百二十五, 二〇二六, 1.2亿, 三点五.

A numeral is no number in a word such as 一样, 统一, 三亚 or 十分. The words were counted in news, laws and
bulletins: their characters stand beside the numeral there in far more words than numbers. Where both
are frequent (一个, 两天) it is a number. 百, 千, 万 and 亿 alone, as in 百姓 and 千万, and after 几 and 数, are
none.
*/

use super::{LONGEST, Numbers, Value, decimal};

/// The role of a character in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numeral {
    /// 一 to 九, and 两.
    Digit(u8),
    Zero,
    /// 十, 百, 千: powers of ten.
    Small(u32),
    /// 万, 亿, 兆.
    Large(u32),
}

/// Characters that make a word of a numeral before them.
const FOLLOWING: [(char, &str); 11] = [
    (
        '一',
        "些样般直定起切旦向致同边旁再味贯并律概经共连举早路线流带体道面时度下头心生手行系揽众事目瞬如齐\
         绪緒応斉環见見併樣邊體線",
    ),
    ('二', "维維氧手战戰胡郎黄宫宮"),
    ('三', "亚亞峡峽农農角明星国國通江无無甲维維思坊菱井浦重沙亩"),
    ('四', "川处處周肢季海溢面射方平下散國国"),
    ('五', "台岳谷官粮常金指湖洲"),
    ('六', "安合盘盤堡神朝本"),
    ('七', "夕彩里巧"),
    ('八', "卦达達宝寶路王桂戒"),
    ('九', "江寨州龙龍华華霄曲"),
    ('十', "分足堰字"),
    (
        '两',
        "岸国國会會党黨侧側旁端广廣军軍性栖难難江制翼口地者用院极極码碼全边邊情弹彈手",
    ),
];

/// Characters that make a word of a numeral after them.
const PRECEDING: [(char, &str); 4] = [
    (
        '一',
        "统統唯之万同单單专專划劃合不逐每另这這那某其无無进進归歸始惟",
    ),
    ('二', "无無不"),
    ('三', "再"),
    ('十', "几幾数數"),
];

/// The role of a character in a number.
#[inline]
pub(super) fn of(c: char) -> Option<Numeral> {
    use Numeral::{Digit, Large, Small, Zero};
    Some(match c {
        '〇' | '零' => Zero,
        '一' | '壹' => Digit(1),
        '二' | '两' | '兩' | '贰' | '貳' => Digit(2),
        '三' | '叁' => Digit(3),
        '四' | '肆' => Digit(4),
        '五' | '伍' => Digit(5),
        '六' | '陆' | '陸' => Digit(6),
        '七' | '柒' => Digit(7),
        '八' | '捌' => Digit(8),
        '九' | '玖' => Digit(9),
        '十' | '拾' => Small(1),
        '百' | '佰' => Small(2),
        '千' | '仟' => Small(3),
        '万' | '萬' => Large(4),
        '亿' | '億' => Large(8),
        '兆' => Large(12),
        _ => return None,
    })
}

/// Whether a character is a numeral of amounts, which alone is mostly a name.
fn is_formal(c: char) -> bool {
    "壹贰貳叁肆伍陆陸柒捌玖拾佰仟".contains(c)
}

/// A number while it is read: its parts, in units of 10^-`places`.
struct Reading {
    places: u32,
    /// Of the parts before 万 or 亿, of the one that is read, and what no power has multiplied yet.
    total: u128,
    section: u128,
    pending: Option<u128>,
    large: Option<u32>,
    small: u32,
    /// Whether a power, or a zero after one, came last.
    after_power: bool,
    after_zero: bool,
}

impl Reading {
    fn of(first: Option<Value>) -> Self {
        Reading {
            places: first.map_or(0, |value| value.places),
            total: 0,
            section: 0,
            pending: first.map(|value| value.units),
            large: None,
            small: 4,
            after_power: false,
            after_zero: false,
        }
    }

    fn value(&self) -> Option<Value> {
        let units = self.total.checked_add(self.section)?;
        Some(Value {
            units: units.checked_add(self.pending.unwrap_or(0))?,
            places: self.places,
        })
    }

    /// Takes digits that a power follows, or that end the number.
    fn take(&mut self, units: u128) -> Option<()> {
        if self.pending.is_some() {
            return None;
        }
        self.pending = Some(units.checked_mul(10_u128.checked_pow(self.places)?)?);
        self.after_power = false;
        Some(())
    }

    fn take_zero(&mut self) -> Option<()> {
        let is_after = self.after_power && !self.after_zero;
        (self.after_zero, self.after_power) = (true, false);
        is_after.then_some(())
    }

    /// Takes 十, 百 or 千; `goes_on` if a digit follows, as in 百二十.
    fn take_small(&mut self, power: u32, goes_on: bool) -> Option<()> {
        let is_alone = self.pending.is_none();
        let implies_one = power == 1 || self.section == 0 && goes_on;
        if power >= self.small || is_alone && (!implies_one || self.after_zero) {
            return None;
        }
        let one = 10_u128.checked_pow(self.places)?;
        let part = self.pending.take().unwrap_or(one);
        let part = part.checked_mul(10_u128.pow(power))?;
        self.section = self.section.checked_add(part)?;
        self.small = power;
        (self.after_power, self.after_zero) = (true, false);
        Some(())
    }

    fn take_large(&mut self, power: u32) -> Option<()> {
        let part = self.section.checked_add(self.pending.unwrap_or(0))?;
        let by = 10_u128.pow(power);
        self.total = match self.large {
            Some(large) if large < power => self.total.checked_add(part)?.checked_mul(by)?,
            Some(large) if large == power => return None,
            _ if part == 0 => return None,
            _ => self.total.checked_add(part.checked_mul(by)?)?,
        };
        (self.section, self.pending, self.small) = (0, None, 4);
        self.large = Some(power);
        (self.after_power, self.after_zero) = (true, false);
        Some(())
    }
}

impl Numbers<'_> {
    /// The result of [`numeral`](Self::numeral) for a numeral without others next to it: most
    /// are, and need no more than a look at the next character.
    pub(super) fn lone(&self, at: usize) -> Option<Option<(Value, usize)>> {
        let (c, after) = self.peek(at)?;
        let goes_on = |c: char| of(c).is_some() || matches!(c, '点' | '點') || c.is_ascii_digit();
        if self.peek(after).is_some_and(|(next, _)| goes_on(next)) {
            return None;
        }
        let units = match of(c)? {
            Numeral::Digit(digit) => u128::from(digit),
            Numeral::Small(1) => 10,
            Numeral::Zero => return None,
            Numeral::Small(_) | Numeral::Large(_) => return Some(None),
        };
        let is_word = self.is_of_other_word(at, c, after) || self.is_single_of_word(at, c, after);
        Some((!is_word).then_some((Value::whole(units), after)))
    }

    /// The longest number with numerals from a place on, and its end; none if it is of a word.
    pub(super) fn numeral(&self, at: usize) -> Option<(Value, usize)> {
        let (value, end) = self.whole(at)?;
        self.with_point(at, value, end).or(Some((value, end)))
    }

    /// The same without 点 and decimals after it.
    pub(super) fn whole(&self, at: usize) -> Option<(Value, usize)> {
        let (first, after) = self.peek(at)?;
        let is_digit = first.is_ascii_digit();
        if !is_digit && self.is_of_other_word(at, first, after) {
            return None;
        }
        let mut best = if is_digit {
            let end = self.end_of_run(after - 1);
            let run = Some(&self.text[after - 1..end]);
            let value = decimal(run.filter(|run| run.len() <= LONGEST)?)?;
            Some((value, end))
        } else {
            self.positional(at)
        };
        let mut reading = Reading::of(best.map(|(value, _)| value));
        let mut place = best.map_or(at, |(_, end)| end);
        while let Some((c, next)) = self.peek(place) {
            let (taken, end, is_value) = self.step(&mut reading, c, place, next, at);
            if taken.is_none() {
                break;
            }
            if is_value {
                best = Some((reading.value()?, end));
            }
            place = end;
        }
        let (value, end) = best?;
        let is_single = end == after && !is_digit;
        if is_single && self.is_single_of_word(at, first, after) {
            return None;
        }
        Some((value, end))
    }

    /// Reads one more part of a number: whether it fits, where it ends, and whether the number may
    /// end there.
    fn step(
        &self,
        reading: &mut Reading,
        c: char,
        place: usize,
        next: usize,
        at: usize,
    ) -> (Option<()>, usize, bool) {
        let is_first = place == at;
        match of(c) {
            None if c.is_ascii_digit() => {
                let begin = next - 1;
                let end = self.end_of_run(begin);
                let run = decimal(&self.text[begin..end]).filter(|run| run.places == 0);
                let is_part = reading.after_power && end - begin <= LONGEST;
                let taken = run
                    .filter(|_| is_part)
                    .and_then(|run| reading.take(run.units));
                (taken, end, false)
            }
            None => (None, next, false),
            Some(Numeral::Digit(digit)) => {
                let ends = is_first || reading.small == 1 || reading.after_zero;
                (reading.take(u128::from(digit)), next, ends)
            }
            Some(Numeral::Zero) if is_first => (reading.take(0), next, true),
            Some(Numeral::Zero) => (reading.take_zero(), next, false),
            Some(Numeral::Small(power)) => {
                let is_alone = reading.pending.is_none() && power > 1;
                let goes_on = matches!(
                    self.peek(next).and_then(|(c, _)| of(c)),
                    Some(Numeral::Digit(_))
                );
                (reading.take_small(power, goes_on), next, !is_alone)
            }
            Some(Numeral::Large(power)) => (reading.take_large(power), next, true),
        }
    }

    /// Numerals one by one, as in years: four or more, or some with a zero.
    fn positional(&self, at: usize) -> Option<(Value, usize)> {
        let (digits, end) = self.digits(at);
        let has_zero = digits.contains('0');
        let is_one = digits.len() >= 4 || has_zero && digits.len() > 1;
        let is_one = is_one && digits.len() <= LONGEST;
        is_one
            .then(|| decimal(&digits))
            .flatten()
            .map(|value| (value, end))
    }

    /// The digits of numerals without powers.
    fn digits(&self, at: usize) -> (String, usize) {
        let (mut digits, mut end) = (String::new(), at);
        while let Some((c, next)) = self.peek(end) {
            match of(c) {
                Some(Numeral::Zero) => digits.push('0'),
                Some(Numeral::Digit(digit)) if c != '两' && c != '兩' => {
                    digits.push(char::from(b'0' + digit));
                }
                _ => break,
            }
            end = next;
            if digits.len() > LONGEST {
                break;
            }
        }
        (digits, end)
    }

    /// 三点五, 三点五亿: decimals after the word for a point, unless they are minutes.
    fn with_point(&self, at: usize, value: Value, end: usize) -> Option<(Value, usize)> {
        let (first, _) = self.peek(at)?;
        let ('点' | '點', after) = self.peek(end)? else {
            return None;
        };
        if first.is_ascii_digit() || value.places > 0 {
            return None;
        }
        let (digits, end) = self.digits(after);
        let next = self.peek(end).map(|(c, _)| c);
        let is_time = next.is_some_and(|c| {
            "分刻钟鐘秒".contains(c)
                || c.is_ascii_digit()
                || matches!(of(c), Some(Numeral::Small(_)))
        });
        let is_part = (1..10).contains(&digits.len());
        let (c, after) = self.peek(after).filter(|_| is_part)?;
        // 八点一起 is eight o'clock.
        let is_word = digits.len() == 1 && self.is_single_of_word(after - c.len_utf8(), c, after);
        if is_time || is_word {
            return None;
        }
        let value = decimal(&format!("{}.{digits}", value.units))?;
        let mut reading = Reading::of(Some(value));
        let mut best = (value, end);
        while let Some((c, next)) = self.peek(best.1)
            && let Some(Numeral::Large(power)) = of(c)
            && reading.take_large(power).is_some()
        {
            best = (reading.value()?, next);
        }
        Some(best)
    }

    /// Whether a number cannot begin with this numeral: 几十 and 数十 are none.
    fn is_of_other_word(&self, at: usize, c: char, after: usize) -> bool {
        let before = self.peek_back(at).map(|(c, _)| c);
        let next = self.peek(after).map(|(c, _)| c);
        match c {
            '十' => before.is_some_and(|c| is_listed(&PRECEDING, '十', c)),
            // It is one in 零时, 零点五 and 零五.
            '零' => !next.is_some_and(|c| {
                let is_digit = c != '两' && matches!(of(c), Some(Numeral::Digit(_)));
                is_digit || "时時点點度".contains(c)
            }),
            _ => false,
        }
    }

    /// Whether a numeral that is a number by itself belongs to a word.
    fn is_single_of_word(&self, at: usize, c: char, after: usize) -> bool {
        let before = self.peek_back(at);
        let next = self.peek(after);
        let after_next = next.and_then(|(_, end)| self.peek(end)).map(|(c, _)| c);
        let preceding = before.map(|(c, _)| c);
        let c = if c == '兩' { '两' } else { c };
        if is_formal(c) {
            return true;
        }
        // A third, and ten minutes.
        let is_share = preceding == Some('之')
            && before
                .and_then(|(_, at)| self.peek_back(at))
                .map(|(c, _)| c)
                == Some('分');
        let is_preceded = preceding.is_some_and(|before| is_listed(&PRECEDING, c, before));
        let is_followed = next.is_some_and(|(next, _)| is_listed(&FOLLOWING, c, next));
        match (c, next.map(|(c, _)| c)) {
            ('十', Some('分')) => !after_next.is_some_and(|c| "钟鐘之".contains(c)),
            // 一点 is a little, unless it is one o'clock or 1.5.
            ('一', Some('点' | '點')) => {
                let is_hour = preceding.is_some_and(|c| "午晨".contains(c));
                let is_decimal = after_next.is_some_and(|c| {
                    c != '一' && matches!(of(c), Some(Numeral::Digit(_) | Numeral::Zero))
                });
                !is_hour && !is_decimal
            }
            _ => is_followed || is_preceded && !is_share,
        }
    }
}

fn is_listed(lists: &[(char, &str)], numeral: char, beside: char) -> bool {
    let mut lists = lists.iter();
    lists.any(|&(c, list)| c == numeral && list.contains(beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, NUMERAL};

    #[test]
    fn table_of_numerals_is_complete() {
        for c in '\0'..=char::MAX {
            assert_eq!(characters::is(c, NUMERAL), of(c).is_some(), "{c}");
        }
    }
}
