//! Decimal digits of all scripts: a recipe that does not fold leaves them in the text.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

use super::super::rewritten::Rewritten;

/// The zeros of all scripts, ascending. The nine other digits of a script follow its zero.
static ZEROS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let digits = regex_syntax::parse(r"\d").map(regex_syntax::hir::Hir::into_kind);
    let Ok(HirKind::Class(Class::Unicode(digits))) = digits else {
        return Vec::new();
    };
    let rows = digits
        .iter()
        .flat_map(|range| (u32::from(range.start())..=u32::from(range.end())).step_by(10));
    rows.collect()
});

/// The ASCII digit of a digit of any script.
#[inline]
pub(in super::super) fn to_ascii(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let row = ZEROS.partition_point(|&zero| zero <= c as u32);
    let zero = ZEROS.get(row.checked_sub(1)?)?;
    char::from_digit(c as u32 - zero, 10)
}

/// The text with its digits in ASCII, and the full-width signs between them; `None` if they are. O(n).
pub(super) fn in_ascii(text: &str, is_mapped: bool) -> Option<Rewritten> {
    let mut rewritten: Option<Rewritten> = None;
    let (mut kept, mut after_digit) = (0, false);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let sign = match c {
            '：' => Some(':'),
            '．' => Some('.'),
            _ => None,
        };
        let before_digit = || text[end..].starts_with(|c| to_ascii(c).is_some());
        let sign = sign.filter(|_| after_digit && before_digit());
        let digit = to_ascii(c);
        if let Some(ascii) = digit.or(sign).filter(|&ascii| ascii != c) {
            let out =
                rewritten.get_or_insert_with(|| Rewritten::with_capacity(text.len(), is_mapped));
            out.keep(text, kept, at);
            out.replace(ascii.encode_utf8(&mut [0; 4]), at, end);
            kept = end;
        }
        after_digit = digit.is_some();
    }
    if let Some(out) = &mut rewritten {
        out.keep(text, kept, text.len());
    }
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_all_scripts_have_their_value() {
        for (written, expected) in [
            ("１２３", "123"),
            ("٠٣٩", "039"),
            ("१२३", "123"),
            ("𝟗𝟘", "90"),
            ("９：０５ ．１", "9:05 ．1"),
            ("一二 Ⅲ ½ ³", "一二 Ⅲ ½ ³"),
        ] {
            let found = in_ascii(written, true).map_or(written.to_owned(), Rewritten::into_text);
            assert_eq!(found, expected);
        }
        assert!(in_ascii("12 一", true).is_none());
        assert!(ZEROS.len() > 60 && ZEROS.is_sorted());
    }
}
