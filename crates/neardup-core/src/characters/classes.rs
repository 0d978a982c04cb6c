//! The classes of characters, as bits.

/// It may combine with, or be reordered among, the characters before it.
pub const COMBINES: u16 = 1;
/// NFKC changes it, or may.
pub const UNSTABLE: u16 = 1 << 1;
/// It is not its own lower case.
pub const CASED: u16 = 1 << 2;
/// White space.
pub const WHITE: u16 = 1 << 3;
/// A control character that is not white space, or default-ignorable.
pub const INVISIBLE: u16 = 1 << 4;
/// White space next to it has no meaning: a letter or sign that only texts in Chinese and Japanese use.
pub const UNSPACED: u16 = 1 << 5;
/// It is folded to another letter, or dropped.
pub const FOLDED: u16 = 1 << 6;
/// Neither a letter, a digit, nor a mark on one: punctuation, symbols, emoji, white space.
pub const SEPARATING: u16 = 1 << 7;
/// A letter or digit: the Unicode property Alphabetic, or a general category N.
pub const LETTER: u16 = 1 << 8;
/// A mark: a general category M.
pub const MARK: u16 = 1 << 9;
/// A letter, digit or mark of a script that shingles compare better than words.
pub const DENSE: u16 = 1 << 10;
/// A letter of a word: one before Thai. Letters from there on have no spaces between words or, as
/// Korean, count one by one all the same.
pub const OF_WORD: u16 = 1 << 11;
/// A Chinese character or radical.
pub const HAN: u16 = 1 << 12;
/// A Chinese numeral.
pub const NUMERAL: u16 = 1 << 13;
