//! Writes the tables of the module `characters`.

use std::collections::HashMap;
use std::fmt::Debug;
use std::iter::once;
use std::{env, fs};

use unicode_normalization::char::{
    canonical_combining_class, decompose_compatible, is_combining_mark,
};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

#[path = "src/characters/classes.rs"]
mod classes;
#[path = "src/characters/forms.rs"]
mod forms;

/// Scripts written without spaces between words. Hangul has spaces, but they
/// are used so freely that shingles compare it better.
const DENSE: [Script; 23] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Bopomofo,
    Script::Yi,
    Script::Nushu,
    Script::Tangut,
    Script::Khitan_Small_Script,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
    Script::Tibetan,
    Script::Javanese,
    Script::Balinese,
    Script::Tai_Le,
    Script::New_Tai_Lue,
    Script::Tai_Tham,
    Script::Tai_Viet,
    Script::Lisu,
    Script::Cham,
    Script::Ahom,
];

const NUMERALS: &str = "〇零一二三四五六七八九两兩壹贰貳叁肆伍陆陸柒捌玖十拾百佰千仟万萬亿億兆";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/characters");
    let text = include_str!("src/characters/simplified.txt").lines();
    let mut pairs = text
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::chars);
    let mut simplified = HashMap::new();
    while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
        simplified.insert(from, to);
    }
    let is_folded = |c| {
        let is_other = forms::without_points(c).is_some() || forms::of_radical(c).is_some();
        is_other || simplified.contains_key(&c)
    };
    let classes = table("CLASSES", "u16", 0, |c| classes_of(c, is_folded(c)));
    let forms = table("SIMPLIFIED", "char", '\0', |c| {
        simplified.get(&c).copied().unwrap_or('\0')
    });
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(folder + "/characters.rs", classes + &forms).expect("a folder of cargo");
}

/// A table as source; `none` is for code points that are no characters.
fn table<T: Copy + Debug + PartialEq>(
    name: &str,
    kind: &str,
    none: T,
    of: impl Fn(char) -> T,
) -> String {
    let all = 0..=u32::from(char::MAX);
    let all: Vec<T> = all
        .map(|code| char::from_u32(code).map_or(none, &of))
        .collect();
    let (basic, rare) = all.split_at(0x1_0000);
    let mut pages: Vec<&[T]> = Vec::new();
    let mut places = Vec::new();
    for page in rare.chunks(256) {
        let known = pages.iter().position(|known| *known == page);
        places.push(known.unwrap_or(pages.len()));
        if known.is_none() {
            pages.push(page);
        }
    }
    format!(
        "static {name}: Table<{kind}> = Table {{ basic: &{basic:?}, page: &{places:?}, pages: &{pages:?} }};\n"
    )
}

fn classes_of(c: char, is_folded: bool) -> u16 {
    let mut first = None;
    decompose_compatible(c, |d| {
        first.get_or_insert(d);
    });
    let first = first.unwrap_or(c);
    let (is_letter, is_mark) = (c.is_alphanumeric(), is_combining_mark(c));
    // A mark that encloses a character does not belong to it, as in emoji.
    let encloses = matches!(c as u32,
        0x0488..=0x0489 | 0x1ABE | 0x20DD..=0x20E0 | 0x20E2..=0x20E4 | 0xA670..=0xA672);
    let is_han = matches!(c as u32,
        0x2E80..=0x2FD5 | 0x3005 | 0x3007 | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF);
    let combines =
        canonical_combining_class(first) != 0 || is_nfkc_quick(once(first)) == IsNormalized::Maybe;
    let is_invisible = !c.is_whitespace() && (c.is_control() || is_default_ignorable(c));
    [
        (classes::COMBINES, combines),
        (
            classes::UNSTABLE,
            is_nfkc_quick(once(c)) != IsNormalized::Yes,
        ),
        (classes::CASED, !c.to_lowercase().eq(once(c))),
        (classes::WHITE, c.is_whitespace()),
        (classes::INVISIBLE, is_invisible),
        (classes::UNSPACED, is_unspaced(c)),
        (classes::FOLDED, is_folded),
        (classes::SEPARATING, !is_letter && (!is_mark || encloses)),
        (classes::LETTER, is_letter),
        (classes::MARK, is_mark),
        (classes::DENSE, is_dense(c, is_letter, is_mark)),
        (classes::OF_WORD, c < '\u{E00}' && c.is_alphabetic()),
        (classes::HAN, is_han),
        (classes::NUMERAL, NUMERALS.contains(c)),
    ]
    .into_iter()
    .fold(0, |all, (class, is)| if is { all | class } else { all })
}

/// The property `Default_Ignorable_Code_Point` of Unicode 16 (unchanged since
/// version 13), from DerivedCoreProperties.txt.
fn is_default_ignorable(c: char) -> bool {
    matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        | 0xE0000..=0xE0FFF)
}

/// Characters of the scripts that `Whitespace::ByScript` names, and the punctuation that only such
/// texts use.
fn is_unspaced(c: char) -> bool {
    matches!(
        c.script(),
        Script::Han | Script::Hiragana | Script::Katakana | Script::Bopomofo
    ) || matches!(c as u32,
        // CJK symbols and punctuation; Kana marks shared by both syllabaries.
        0x3000..=0x303F | 0x30A0 | 0x30FB | 0x30FC
        // Vertical, compatibility and small forms of punctuation.
        | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F
        // Full-width and half-width punctuation, without letters and digits.
        | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65
        | 0xFFE0..=0xFFE6)
}

/// A letter, digit or mark of a dense script; or a letter or digit that several scripts share, if all
/// that its Script_Extensions name are dense, like the prolonged sound mark of Kana.
fn is_dense(c: char, is_letter: bool, is_mark: bool) -> bool {
    match c.script() {
        _ if !is_letter && !is_mark => false,
        Script::Common | Script::Inherited => {
            let shared = c.script_extension();
            // A character that every script shares gives no hint of the script.
            let is_named = !shared.is_common() && !shared.is_inherited();
            // Nor does one that Latin or Cyrillic words also contain, such as the
            // modifier apostrophe.
            !is_mark && is_named && shared.iter().all(|script| DENSE.contains(&script))
        }
        script => DENSE.contains(&script),
    }
}
