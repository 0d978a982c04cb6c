//! Letters that are other forms of a letter. `build.rs` reads this file too.

/// The letter that is left of a letter with points, or that is written for it; nothing is left of vowel
/// points, accents of recitation, and tatweel, which only makes a word longer. `None` for other characters.
pub fn without_points(c: char) -> Option<Option<char>> {
    Some(match c as u32 {
        // Hebrew, without maqaf, paseq, sof pasuq and nun hafukha, which are punctuation.
        0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7 | 0xFB1E
        // Arabic, without the signs of verses.
        | 0x0610..=0x061A | 0x0640 | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC
        | 0x06DF..=0x06E8 | 0x06EA..=0x06ED | 0x08CA..=0x08E1 | 0x08E3..=0x08FF => None,
        // Alef with madda, with hamza, and wasla.
        0x622 | 0x623 | 0x625 | 0x671 => Some('\u{627}'),
        // Waw and yeh with hamza, alef maksura, Farsi yeh.
        0x624 => Some('\u{648}'),
        0x626 | 0x649 | 0x6CC => Some('\u{64A}'),
        // Ta marbuta.
        0x629 => Some('\u{647}'),
        // Keheh.
        0x6A9 => Some('\u{643}'),
        // Heh and yeh barree of Urdu with hamza.
        0x6C0 => Some('\u{6D5}'),
        0x6C2 => Some('\u{6C1}'),
        0x6D3 => Some('\u{6D2}'),
        _ => return None,
    })
}

/// The character of a CJK radical, which some fonts of PDF files name in its place. NFKC knows
/// the radicals of the other block, U+2F00 to U+2FD5.
pub fn of_radical(c: char) -> Option<char> {
    const RADICALS: &str = "⺟⺠⻁⻄⻅⻆⻉⻋⻑⻓⻔⻘⻙⻚⻛⻜⻢⻣⻤⻥⻦⻧⻨⻩⻫⻬⻭⻮⻯⻰⻲⻳";
    const CHARACTERS: &str = "母民虎西见角贝车长长门青韦页风飞马骨鬼鱼鸟卤麦黄斉齐歯齿竜龙亀龟";
    if !('\u{2E80}'..='\u{2EFF}').contains(&c) {
        return None;
    }
    let place = RADICALS.chars().position(|radical| radical == c)?;
    CHARACTERS.chars().nth(place)
}
