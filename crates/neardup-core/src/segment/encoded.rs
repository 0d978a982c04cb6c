/*! Units from an external segmenter, encoded in a text.

Three forms are read:

- **tagged**: `word/tag word/tag ...`, the output of ICTCLAS and related segmenters.
  Tokens are separated by white space, including line ends. The word is the part
  before the first `/`, the tag the part after the last. Tokens without `/`
  are skipped, and so are tokens that contain a dropped tag anywhere.
- **ictclas**: the same, as the BKDR program reads it: lines are joined with nothing between
  them, and tokens are separated by U+0020 alone.
- **external**: the units of a segmenter outside this crate, each followed or
  separated by [`UNIT_END`], word and tag separated by [`TAG_BEGIN`]. The two are
  control characters that ordinary text does not contain. Units without text are skipped.

In all forms, the tag [`NO_TAG`] means that a word has no tag.
*/

use super::Unit;

/// Separates units: U+001E, INFORMATION SEPARATOR TWO ("record separator").
pub const UNIT_END: char = '\u{1E}';

/// Separates a unit's text from its tag: U+001F, INFORMATION SEPARATOR ONE
/// ("unit separator"). The tag and its separator may be left out.
pub const TAG_BEGIN: char = '\u{1F}';

/// The tag that ANSJ writes for a word without a tag; it must not be taken for a noun tag.
pub const NO_TAG: &str = "null";

pub(super) fn tagged(
    text: &str,
    joins_lines: bool,
    drop_tags: &[String],
    take: impl FnMut(Unit<'_>),
) {
    if joins_lines {
        words_of(text.replace(['\r', '\n'], "").split(' '), drop_tags, take);
    } else {
        words_of(text.split_whitespace(), drop_tags, take);
    }
}

fn words_of<'a>(
    tokens: impl Iterator<Item = &'a str>,
    drop_tags: &[String],
    mut take: impl FnMut(Unit<'_>),
) {
    for token in tokens {
        if let Some((text, rest)) = token.split_once('/')
            && !drop_tags.iter().any(|dropped| token.contains(dropped))
        {
            let tag = rest.rsplit_once('/').map_or(rest, |(_, tag)| tag);
            take(tagged_unit(text, tag));
        }
    }
}

pub(super) fn external(text: &str, mut take: impl FnMut(Unit<'_>)) {
    for unit in text.split(UNIT_END) {
        let (text, tag) = unit.split_once(TAG_BEGIN).unwrap_or((unit, ""));
        if !text.is_empty() {
            take(tagged_unit(text, tag));
        }
    }
}

fn tagged_unit<'a>(text: &'a str, tag: &'a str) -> Unit<'a> {
    let tag = if tag == NO_TAG { "" } else { tag };
    Unit { text, tag }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(run: impl FnOnce(&mut Vec<(String, String)>)) -> Vec<(String, String)> {
        let mut units = Vec::new();
        run(&mut units);
        units
    }

    fn to_owned(unit: Unit<'_>) -> (String, String) {
        (unit.text.to_owned(), unit.tag.to_owned())
    }

    #[test]
    fn tagged_text_splits_at_white_space_and_the_first_slash() {
        let text = "春天/t  ///w\n来/v plain 了/ule ，/wd 1/2/m 澜江/null";
        let units = collect(|units| {
            tagged(text, false, &["wd".into()], |unit| {
                units.push(to_owned(unit))
            })
        });
        let expected = [
            ("春天", "t"),
            ("", "w"),
            ("来", "v"),
            ("了", "ule"),
            ("1", "m"),
            ("澜江", ""),
        ];
        assert_eq!(units, expected.map(|(a, b)| (a.into(), b.into())));
    }

    #[test]
    fn ictclas_text_splits_at_spaces_alone() {
        let text = "　　/x 春天/t\t来/v\r\n了/ule 澜/n\n江/n";
        let units = collect(|units| tagged(text, true, &[], |unit| units.push(to_owned(unit))));
        let expected = [("　　", "x"), ("春天", "ule"), ("澜", "n")];
        assert_eq!(units, expected.map(|(a, b)| (a.into(), b.into())));
    }

    #[test]
    fn external_units_may_have_tags() {
        let text = "春天\u{1F}t\u{1E}\u{1E}来\u{1E} \u{1F}x\u{1E}澜江\u{1F}null\u{1E}";
        let units = collect(|units| external(text, |unit| units.push(to_owned(unit))));
        assert_eq!(
            units,
            [("春天", "t"), ("来", ""), (" ", "x"), ("澜江", "")]
                .map(|(a, b)| (a.into(), b.into()))
        );
    }
}
