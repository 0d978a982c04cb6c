//! The normalize stage on hostile text, with checks of overflow: its spans, and every character there
//! is. That it does what a textbook version does is tested through Python.

use neardup_core::normalize::{Folding, Ignored, Normalizer, Settings, Whitespace};
use unicode_normalization::UnicodeNormalization;

use crate::random::Random;

/// Characters that make trouble, alone or next to each other.
const ALPHABET: &str = "aAZ0 \n\t\r\u{85}\u{A0}\u{3000}\u{2028}\0\u{7}\u{1F}\u{AD}\u{200B}\u{200D}\
    \u{FEFF}\u{FE0F}\u{E0100}中文。，、「“Ａｚ１！か\u{3099}\u{309A}ﾊｶ\u{FF9E}\u{FF9F}ー・ㄅe\
    \u{301}\u{323}\u{308}éệ\u{340}İßẞΣςﬁﷺ㍿①½℃가\u{1100}\u{1161}\u{11A8}\u{AC1}\u{9C7}\
    \u{9BE}\u{F900}𠀀\u{2F800}😀👨שل\u{FEFB}\u{64B}\u{202E}國㑮⻋أة\u{640}\u{654}\u{5B0}еО\
    жοロ𝔸\u{1D15E}\u{1D165}\u{16D63}\u{16D67}<>&;/p!-=\"@#";

fn text(random: &mut Random, alphabet: &[char]) -> String {
    let count = random.below(14);
    (0..count)
        .map(|_| alphabet[random.below(alphabet.len())])
        .collect()
}

fn all_settings() -> impl Iterator<Item = Settings> {
    let spaces = [Whitespace::Keep, Whitespace::Collapse, Whitespace::ByScript];
    let foldings = [Folding::Traditional, Folding::Points, Folding::LookAlikes];
    let listed = ["numbers", "dates", "links", "names", "punctuation", "[ae]*"];
    let ignored = Ignored::try_from(listed.map(String::from).to_vec()).unwrap();
    (0..256).flat_map(move |bits| {
        // With some of the foldings, where other settings are on and off.
        let omits = bits >> 4 & 3 == 1;
        let ignored = ignored.clone();
        spaces.map(move |whitespace| Settings {
            drop_ends: omits,
            ignore: if omits {
                ignored.clone()
            } else {
                Ignored::default()
            },
            nfkc: bits & 1 != 0,
            lowercase: bits & 2 != 0,
            drop_invisible: bits & 4 != 0,
            strip_markup: bits & 8 != 0,
            whitespace,
            // None, some, the others, all.
            drop_punctuation: bits & 64 != 0,
            spell_numbers: bits & 128 != 0,
            fold: match bits >> 4 & 3 {
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
fn every_character_has_a_span_of_the_original() {
    let alphabet: Vec<char> = ALPHABET.chars().collect();
    let mut random = Random(6);
    for settings in all_settings() {
        let normalizer = Normalizer::new(settings.clone());
        for _ in 0..200 {
            let text = text(&mut random, &alphabet);
            let mapped = normalizer.normalize_mapped(&text);
            let context = format!("{text:?} {settings:?} {mapped:?}");
            assert_eq!(mapped.text, normalize(&normalizer, &text), "{context}");
            assert_eq!(mapped.text.chars().count(), mapped.spans.len(), "{context}");
            assert!(mapped.spans.is_sorted(), "{context}");
            let length = text.chars().count() as u32;
            let is_inside = |&(begin, end): &(u32, u32)| begin < end && end <= length;
            assert!(mapped.spans.iter().all(is_inside), "{context}");
        }
    }
}

#[test]
fn every_character_agrees_with_the_library() {
    let normalizer = Normalizer::new(Settings {
        nfkc: true,
        ..Settings::default()
    });
    let mut text = String::new();
    // No character is assigned between these planes, and none behind them.
    for c in ('\0'..'\u{40000}').chain('\u{E0000}'..'\u{F0000}') {
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
fn damaged_markup_leaves_text_of_the_original() {
    let pieces = [
        "<p>",
        "</p>",
        "<br/>",
        "<",
        ">",
        "<a href='",
        "'",
        "=",
        "\"",
        "<!--",
        "-->",
        "<script>",
        "</script",
        "</script>",
        "<style x=\">\">",
        "</style>",
        "&amp;",
        "&",
        "&#x4e2d;",
        "&#0;",
        "&#99999999;",
        "&nbsp",
        ";",
        "字",
        "e\u{301}",
        " ",
        "\n",
        "word",
        "\0",
        "😀",
        "<P>",
        "</",
    ];
    let strips = Normalizer::new(Settings {
        strip_markup: true,
        ..Settings::default()
    });
    let mut random = Random(8);
    for _ in 0..20_000 {
        let source = random.joined(&pieces, 24);
        let mapped = strips.normalize_mapped(&source);
        assert_eq!(mapped.text, normalize(&strips, &source), "{source:?}");
        assert!(mapped.spans.is_sorted(), "{source:?}");
        // What is neither decoded nor the line end of a block is where it was.
        let original: Vec<char> = source.chars().collect();
        for (c, &(begin, end)) in mapped.text.chars().zip(&mapped.spans) {
            let written = &original[begin as usize..end as usize];
            let is_mark = matches!(written[0], '<' | '&');
            assert!(is_mark || written == [c], "{source:?} {c:?} {written:?}");
        }
        let plain: String = source.replace(['<', '&'], "");
        assert_eq!(normalize(&strips, &plain), plain);
    }
}

#[test]
fn a_megabyte_in_one_line() {
    for part in ["字", "e\u{301}", "\u{301}", "<", "&", " ", "Ａ\u{200B}"] {
        let text = part.repeat(1_000_000 / part.len());
        let all_on = |s: &Settings| s.nfkc && s.strip_markup && s.lowercase && s.drop_invisible;
        // Every part of the stage runs in one of them: time that grows with the square is a minute.
        let is_first = |s: &Settings| s.whitespace == Whitespace::ByScript && s.spell_numbers;
        for settings in all_settings().filter(|s| all_on(s) && is_first(s)) {
            let normalizer = Normalizer::new(settings);
            assert!(normalize(&normalizer, &text).len() <= text.len());
        }
    }
}
