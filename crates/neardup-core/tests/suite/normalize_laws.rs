//! The normalize stage against a textbook version, and its laws on hostile text.

use neardup_core::normalize::{Folding, Normalizer, Settings, Whitespace, unmask};
use unicode_normalization::UnicodeNormalization;

/// Characters that make trouble, alone or beside each other.
const ALPHABET: &[char] = &[
    'a',
    'A',
    'Z',
    '0',
    ' ',
    '\n',
    '\t',
    '\r',
    '\u{85}',
    '\u{A0}',
    '\u{3000}',
    '\u{2028}',
    '\0',
    '\u{7}',
    '\u{1F}',
    '\u{AD}',
    '\u{200B}',
    '\u{200D}',
    '\u{FEFF}',
    '\u{FE0F}',
    '\u{E0100}',
    '中',
    '文',
    '。',
    '，',
    '、',
    '「',
    '“',
    'Ａ',
    'ｚ',
    '１',
    '！',
    'か',
    '\u{3099}',
    '\u{309A}',
    'ﾊ',
    'ｶ',
    '\u{FF9E}',
    '\u{FF9F}',
    'ー',
    '・',
    'ㄅ',
    'e',
    '\u{301}',
    '\u{323}',
    '\u{308}',
    'é',
    'ệ',
    '\u{340}',
    'İ',
    'ß',
    'ẞ',
    'Σ',
    'ς',
    'ﬁ',
    'ﷺ',
    '㍿',
    '①',
    '½',
    '℃',
    '가',
    '\u{1100}',
    '\u{1161}',
    '\u{11A8}',
    '\u{AC1}',
    '\u{9C7}',
    '\u{9BE}',
    '\u{F900}',
    '𠀀',
    '\u{2F800}',
    '😀',
    '👨',
    'ש',
    'ل',
    '\u{FEFB}',
    '\u{64B}',
    '\u{202E}',
    '國',
    '㑮',
    '⻋',
    'أ',
    'ة',
    '\u{640}',
    '\u{654}',
    '\u{5B0}',
    'е',
    'О',
    'ж',
    'ο',
    'ロ',
    '𝔸',
    '\u{1D15E}',
    '\u{1D165}',
    '\u{16D63}',
    '\u{16D67}',
    '<',
    '>',
    '&',
    ';',
    '/',
    'p',
    '!',
    '-',
    '=',
    '"',
];

/// The characters of the alphabet without a shape of their own.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\0' | '\u{7}'
            | '\u{1F}'
            | '\u{AD}'
            | '\u{200B}'
            | '\u{200D}'
            | '\u{FEFF}'
            | '\u{FE0F}'
            | '\u{E0100}'
            | '\u{202E}'
    )
}

/// The characters of the alphabet, and what NFKC makes of them, that need no spaces.
fn is_unspaced(c: char) -> bool {
    "中文。，、「か\u{30CF}\u{30D0}\u{30D1}カガがーㄅ！豈岂𠀀丽株式会社・ﾊｶハ國国㑮𫝈⻋车ロ口"
        .contains(c)
        || matches!(c, '\u{2F800}' | '\u{F900}')
}

/// What the foldings of single letters make of the alphabet, and of what NFKC makes of it.
fn fold(c: char, folding: Folding) -> Option<char> {
    Some(match (folding, c) {
        (Folding::Traditional, '國') => '国',
        (Folding::Traditional, '\u{8C48}') => '岂',
        (Folding::Traditional, '㑮') => '𫝈',
        (Folding::LookAlikes, '⻋') => '车',
        (Folding::Points, 'أ') => 'ا',
        (Folding::Points, 'ة') => 'ه',
        (Folding::Points, 'ى') => 'ي',
        (Folding::Points, '\u{640}' | '\u{64B}' | '\u{654}' | '\u{5B0}') => return None,
        _ => c,
    })
}

fn textbook(text: &str, settings: &Settings) -> String {
    let mut text = text.to_owned();
    if settings.fold.contains(&Folding::LookAlikes) {
        text = unmask(&text).text;
    }
    if settings.nfkc {
        text = text.nfkc().collect();
    }
    if settings.drop_invisible {
        text.retain(|c| !is_invisible(c));
    }
    for &folding in &settings.fold {
        text = text.chars().filter_map(|c| fold(c, folding)).collect();
    }
    if settings.lowercase {
        text = text.chars().flat_map(char::to_lowercase).collect();
    }
    if settings.whitespace == Whitespace::Keep {
        return text;
    }
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let mut joined = String::new();
    for piece in pieces {
        if let (Some(before), Some(after)) = (joined.chars().last(), piece.chars().next())
            && !(settings.whitespace == Whitespace::ByScript
                && (is_unspaced(before) || is_unspaced(after)))
        {
            joined.push(' ');
        }
        joined.push_str(piece);
    }
    joined
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    fn text(&mut self) -> String {
        (0..self.below(14))
            .map(|_| ALPHABET[self.below(ALPHABET.len())])
            .collect()
    }
}

fn all_settings() -> impl Iterator<Item = Settings> {
    let spaces = [Whitespace::Keep, Whitespace::Collapse, Whitespace::ByScript];
    let foldings = [Folding::Traditional, Folding::Points, Folding::LookAlikes];
    (0..64).flat_map(move |bits| {
        spaces.map(|whitespace| Settings {
            nfkc: bits & 1 != 0,
            lowercase: bits & 2 != 0,
            drop_invisible: bits & 4 != 0,
            strip_markup: bits & 8 != 0,
            whitespace,
            // None, some, the others, all.
            fold: match bits >> 4 {
                0 => Vec::new(),
                1 => vec![foldings[0], foldings[2]],
                2 => vec![foldings[1]],
                _ => foldings.to_vec(),
            },
        })
    })
}

fn normalize(normalizer: &Normalizer, text: &str) -> String {
    let mut out = "left over".to_owned();
    normalizer.normalize_into(text, &mut out);
    out
}

#[test]
fn one_pass_gives_what_the_steps_give() {
    let mut random = Random(5);
    for settings in all_settings().filter(|settings| !settings.strip_markup) {
        let normalizer = Normalizer::new(settings.clone());
        for _ in 0..1000 {
            let text = random.text();
            let expected = textbook(&text, &settings);
            assert_eq!(
                normalize(&normalizer, &text),
                expected,
                "{text:?} {settings:?}"
            );
        }
    }
}

#[test]
fn spans_lead_back_to_the_original() {
    let mut random = Random(6);
    for settings in all_settings() {
        let normalizer = Normalizer::new(settings.clone());
        for _ in 0..300 {
            let text = random.text();
            let mapped = normalizer.normalize_mapped(&text);
            // A look-alike is one by the text beside it.
            let original = match settings.fold.contains(&Folding::LookAlikes) {
                true => unmask(&text).text,
                false => text.clone(),
            };
            let original: Vec<char> = original.chars().collect();
            let context = format!("{text:?} {settings:?} {mapped:?}");
            assert_eq!(mapped.text, normalize(&normalizer, &text), "{context}");
            assert_eq!(mapped.text.chars().count(), mapped.spans.len(), "{context}");
            assert!(mapped.spans.is_sorted(), "{context}");
            for (c, &(begin, end)) in mapped.text.chars().zip(&mapped.spans) {
                assert!(begin < end && end as usize <= original.len(), "{context}");
                let source = &original[begin as usize..end as usize];
                // What the span holds, normalized by itself, has the character.
                if !settings.strip_markup && !c.is_whitespace() {
                    let alone: String = source.iter().collect();
                    let unspaced = Settings {
                        whitespace: Whitespace::Keep,
                        ..settings.clone()
                    };
                    assert!(textbook(&alone, &unspaced).contains(c), "{c:?} {context}");
                }
            }
        }
    }
}

#[test]
fn folding_twice_is_folding_once() {
    let mut random = Random(7);
    // A point between a letter and its look-alike makes two words of them.
    for other in [Folding::Points, Folding::LookAlikes] {
        let normalizer = Normalizer::new(Settings {
            fold: vec![Folding::Traditional, other],
            ..Settings::default()
        });
        let mut changed = 0;
        for _ in 0..20_000 {
            let text = random.text();
            let once = normalize(&normalizer, &text);
            changed += usize::from(once != text);
            assert_eq!(normalize(&normalizer, &once), once, "{text:?}");
        }
        assert!(changed > 2_000, "{changed}");
    }
}

#[test]
fn switched_off_it_changes_nothing() {
    let normalizer = Normalizer::new(Settings::default());
    let text: String = ALPHABET.iter().collect();
    assert_eq!(normalize(&normalizer, &text), text);
    assert_eq!(normalize(&normalizer, ""), "");
}

#[test]
fn every_character_agrees_with_the_library() {
    let normalizer = Normalizer::new(Settings {
        nfkc: true,
        ..Settings::default()
    });
    let mut text = String::new();
    for c in '\0'..=char::MAX {
        for (before, after) in [("", ""), ("か", "\u{3099}"), ("e\u{327}", "\u{301}x")] {
            text.clear();
            text.push_str(before);
            text.push(c);
            text.push_str(after);
            if !text.nfkc().eq(normalize(&normalizer, &text).chars()) {
                panic!("U+{:04X} in {before:?} {after:?}", c as u32);
            }
        }
    }
}

#[test]
fn markup_by_example() {
    let normalizer = Normalizer::new(Settings {
        nfkc: true,
        strip_markup: true,
        whitespace: Whitespace::Collapse,
        ..Settings::default()
    });
    let source = "<p>Fish &amp;\n chips</p><P>caf<b>e</b>&#x301;s";
    let mapped = normalizer.normalize_mapped(source);
    assert_eq!(mapped.text, "Fish & chips cafés");
    let original: Vec<char> = source.chars().collect();
    let at = |i: usize| -> String {
        let (begin, end) = mapped.spans[i];
        original[begin as usize..end as usize].iter().collect()
    };
    assert_eq!(at(5), "&amp;");
    assert_eq!(at(6), "\n ");
    assert_eq!(at(12), "</p><P>");
    assert_eq!(at(16), "e</b>&#x301;");
    assert_eq!(at(17), "s");
}

#[test]
fn line_wraps_inside_chinese_vanish() {
    let normalizer = Normalizer::new(Settings {
        nfkc: true,
        whitespace: Whitespace::ByScript,
        ..Settings::default()
    });
    for (text, expected) in [
        ("  山高\n　　水长。\r\n后来 ", "山高水长。后来"),
        ("two \n words", "two words"),
        ("共 3 页", "共3页"),
        ("안녕 세계", "안녕 세계"),
        ("he said， yes", "he said, yes"),
    ] {
        assert_eq!(normalize(&normalizer, text), expected);
    }
}

#[test]
fn ten_megabytes_in_one_line() {
    for part in ["字", "e\u{301}", "\u{301}", "<", "&", " ", "Ａ\u{200B}"] {
        let text = part.repeat(10_000_000 / part.len());
        for settings in
            all_settings().filter(|s| s.nfkc && s.strip_markup && s.lowercase && s.drop_invisible)
        {
            let normalizer = Normalizer::new(settings);
            assert!(normalize(&normalizer, &text).len() <= text.len());
        }
    }
}
