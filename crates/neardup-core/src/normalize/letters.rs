/*! Letters that are replaced wherever they occur: traditional characters by simplified ones, letters
with points by plain ones, radicals by the character that they look like.

Folding a folded letter changes nothing.
*/

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

/// Letters that become others, so that texts which differ only in them are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Folding {
    /// Traditional characters become simplified ones, each by itself.
    Traditional,
    /// Arabic and Hebrew letters lose points, tatweel and the forms of alef, yeh and kaf, and
    /// ta marbuta becomes heh.
    Points,
    /// Letters of another script inside a word become those of its own that they look like.
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

    /// What becomes of `c`; nothing if it is dropped.
    #[inline]
    pub(super) fn fold(self, c: char) -> Option<char> {
        if self.traditional
            && let Some(simplified) = Simplified::get().of(c)
        {
            return Some(simplified);
        }
        if self.points {
            if is_point(c) {
                return None;
            }
            if let Some(plain) = without_points(c) {
                return Some(plain);
            }
        }
        if self.look_alikes
            && let Some(character) = of_radical(c)
        {
            return Some(character);
        }
        Some(c)
    }
}

/// Whether some folding changes or drops `c`.
pub(super) fn may_fold(c: char) -> bool {
    let all = Foldings {
        traditional: true,
        points: true,
        look_alikes: true,
    };
    all.fold(c) != Some(c)
}

/// The simplified forms of traditional characters.
struct Simplified {
    /// For U+4E00 to U+9FFF, nearly all of them; '\0' for a character without one.
    usual: Box<[char]>,
    rare: FxHashMap<char, char>,
}

const FIRST: usize = 0x4E00;
const USUAL: usize = 0x5200;

impl Simplified {
    /// The table, read by the first caller.
    fn get() -> &'static Self {
        static TABLE: OnceLock<Simplified> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut table = Simplified {
                usual: vec!['\0'; USUAL].into_boxed_slice(),
                rare: FxHashMap::default(),
            };
            let lines = include_str!("simplified.txt").lines();
            let mut chars = lines
                .filter(|line| !line.starts_with('#'))
                .flat_map(str::chars);
            while let (Some(from), Some(to)) = (chars.next(), chars.next()) {
                match table.usual.get_mut((from as usize).wrapping_sub(FIRST)) {
                    Some(place) => *place = to,
                    None => {
                        table.rare.insert(from, to);
                    }
                }
            }
            table
        })
    }

    #[inline]
    fn of(&self, c: char) -> Option<char> {
        match self.usual.get((c as usize).wrapping_sub(FIRST)) {
            Some(&simplified) => (simplified != '\0').then_some(simplified),
            None => self.rare.get(&c).copied(),
        }
    }
}

/// Vowel points, accents of recitation, and tatweel, which only makes a word longer.
fn is_point(c: char) -> bool {
    matches!(c as u32,
        // Hebrew, without maqaf, paseq, sof pasuq and nun hafukha, which are punctuation.
        0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7 | 0xFB1E
        // Arabic, without the signs of verses.
        | 0x0610..=0x061A | 0x0640 | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC
        | 0x06DF..=0x06E8 | 0x06EA..=0x06ED | 0x08CA..=0x08E1 | 0x08E3..=0x08FF)
}

/// The letter that is left of a letter with points, or that is written for it.
fn without_points(c: char) -> Option<char> {
    Some(match c {
        // Alef with madda, with hamza, and wasla.
        '\u{622}' | '\u{623}' | '\u{625}' | '\u{671}' => '\u{627}',
        // Waw and yeh with hamza, alef maksura, Farsi yeh.
        '\u{624}' => '\u{648}',
        '\u{626}' | '\u{649}' | '\u{6CC}' => '\u{64A}',
        // Ta marbuta.
        '\u{629}' => '\u{647}',
        // Keheh.
        '\u{6A9}' => '\u{643}',
        // Heh and yeh barree of Urdu with hamza.
        '\u{6C0}' => '\u{6D5}',
        '\u{6C2}' => '\u{6C1}',
        '\u{6D3}' => '\u{6D2}',
        _ => return None,
    })
}

/// The character of a CJK radical, which some fonts of PDF files name in its place. NFKC knows
/// those of the other block, U+2F00 to U+2FD5.
fn of_radical(c: char) -> Option<char> {
    const RADICALS: &str = "⺟⺠⻁⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜⻢⻣⻤⻥⻦⻧⻨⻩⻫⻬⻭⻮⻯⻰⻲⻳";
    const CHARACTERS: &str = "母民虎西见角贝车长长门青韦页风飞马骨鬼鱼鸟卤麦黄斉齐歯齿竜龙亀龟";
    if !('\u{2E80}'..='\u{2EFF}').contains(&c) {
        return None;
    }
    let place = RADICALS.chars().position(|radical| radical == c)?;
    CHARACTERS.chars().nth(place)
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
