/*! Letters that are replaced wherever they occur: traditional characters by simplified ones, letters
with points by plain ones, radicals by the character that they look like.

Folding a folded letter changes nothing.
*/

use serde::Deserialize;

use crate::characters::{of_radical, simplified, without_points};

/// Letters that become others, so that texts which differ only in them are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Folding {
    /// Traditional characters become simplified ones, each by itself.
    Traditional,
    /// Arabic and Hebrew letters lose points, tatweel and the forms of alef, yeh and kaf, and
    /// ta marbuta becomes heh.
    Points,
    /// A letter of another script inside a word becomes the letter that it looks like in the script of the word.
    LookAlikes,
}

/// Which foldings are on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Foldings {
    pub(super) traditional: bool,
    pub(super) points: bool,
    pub(super) look_alikes: bool,
}

impl Foldings {
    pub(super) fn new(list: &[Folding]) -> Self {
        Foldings {
            traditional: list.contains(&Folding::Traditional),
            points: list.contains(&Folding::Points),
            look_alikes: list.contains(&Folding::LookAlikes),
        }
    }

    pub(super) fn any(self) -> bool {
        self.traditional || self.points || self.look_alikes
    }

    /// The replacement of `c`; nothing if it is dropped.
    #[inline]
    pub(super) fn fold(self, c: char) -> Option<char> {
        if self.traditional
            && let Some(simplified) = simplified(c)
        {
            return Some(simplified);
        }
        if self.points
            && let Some(plain) = without_points(c)
        {
            return plain;
        }
        if self.look_alikes
            && let Some(character) = of_radical(c)
        {
            return Some(character);
        }
        Some(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::char::decompose_canonical;

    const ALL: Foldings = Foldings {
        traditional: true,
        points: true,
        look_alikes: true,
    };

    #[test]
    fn every_answer_is_final() {
        let mut changed = 0;
        for c in '\0'..=char::MAX {
            let folded = ALL.fold(c);
            changed += usize::from(folded != Some(c));
            if let Some(folded) = folded {
                assert_eq!(ALL.fold(folded), Some(folded), "{c}");
            }
        }
        assert!(changed > 4000, "{changed}");
    }

    #[test]
    fn a_letter_with_points_is_the_letter_and_its_points() {
        for c in '\u{590}'..='\u{8FF}' {
            let mut parts = String::new();
            decompose_canonical(c, |part| parts.extend(ALL.fold(part)));
            assert_eq!(parts, ALL.fold(c).into_iter().collect::<String>(), "{c}");
        }
    }
}
