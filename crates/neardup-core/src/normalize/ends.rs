/*! The ends of a post: links, @names, #tags, and what services add when a post is shown or passed on.

They vary from copy to copy, and say nothing. Only the begin and the end of a text are looked at: from
outside, items are dropped until something else is met, and signs between them too. If nothing but items,
numbers or a label is left, the text is compared as it is: it may be a link.
*/

use std::ops::Range;

use memchr::memchr2;

use super::is_letter_or_digit;
use super::tags::{LONGEST, is_hash, is_of_name, link, name, tag};

/// Phrases before a post that is passed on; a sign follows.
const FIRST: [&str; 8] = [
    "转发微博",
    "轉發微博",
    "快转微博",
    "转发",
    "回复",
    "RT",
    "MT",
    "Repost",
];

/// Phrases that a service writes after a part of a post, or in the place of a link. Articles never end with
/// them.
const LAST: [&str; 23] = [
    "展开全文",
    "展开全文c",
    "收起全文",
    "收起全文d",
    "阅读全文",
    "查看全文",
    "查看原文",
    "阅读原文",
    "原文链接",
    "网页链接",
    "查看图片",
    "查看详情",
    "点击链接",
    "展開全文",
    "網頁連結",
    "转发微博",
    "read more",
    "see more",
    "show more",
    "continue reading",
    "learn more",
    "click here",
    "RT",
];

/// Words before the name of the first author.
const BY: [&str; 6] = ["via", "by", "cc", "来自", "转自", "图源"];

/// The longest label of a link, in letters and digits.
const LABEL: usize = 10;

/// The longest link in bytes.
const LINK: usize = 2048;

/// Where a text is without its ends, in bytes.
pub fn inside(text: &str) -> Range<usize> {
    let end = before_last(text);
    let begin = after_first(&text[..end]);
    match end - begin == text.len() || says_something(&text[begin..end]) {
        true => begin..end,
        false => 0..text.len(),
    }
}

/// Whether there is more than signs, numbers and a label.
fn says_something(text: &str) -> bool {
    let mut letters = text.chars().filter(|&c| is_letter_or_digit(c));
    let is_label = text.trim_end().ends_with([':', '：']) && letters.nth(LABEL).is_none();
    !is_label && text.contains(char::is_alphabetic)
}

/// Where the items at the begin end.
fn after_first(text: &str) -> usize {
    let is_begin = |c: char| is_letter_or_digit(c) || is_hash(c) || matches!(c, '@' | '＠');
    let mut kept = 0;
    while let Some(at) = text[kept..].find(is_begin) {
        let rest = &text[kept + at..];
        let Some(length) = name(rest)
            .or_else(|| tag(rest))
            .or_else(|| link(rest))
            .or_else(|| first_phrase(rest))
        else {
            break;
        };
        kept += at + length;
    }
    kept
}

fn first_phrase(text: &str) -> Option<usize> {
    let is_marked = |rest: &str| {
        let rest = rest.trim_start_matches(' ');
        rest.is_empty() || rest.starts_with(['@', '＠', ':', '：', '/', '，', '。', '\n'])
    };
    let mut phrases = FIRST.iter();
    let phrase = phrases.find(|&&phrase| text.strip_prefix(phrase).is_some_and(is_marked))?;
    Some(phrase.len())
}

/// Where the items at the end begin.
fn before_last(text: &str) -> usize {
    let (mut kept, mut is_before_name) = (text.len(), false);
    loop {
        let rest = text[..kept].trim_end_matches(|c| !is_letter_or_digit(c));
        let found = last_name_or_tag(text, rest)
            .or_else(|| last_link(rest))
            .or_else(|| last_phrase(rest, is_before_name));
        let Some(at) = found else {
            return kept;
        };
        is_before_name = rest[at..].starts_with(['@', '＠']);
        kept = at;
    }
}

/// Where the name or tag begins that ends with `rest`, or after it, at a sign of the `text`.
fn last_name_or_tag(text: &str, rest: &str) -> Option<usize> {
    if text[rest.len()..]
        .trim_start_matches([']', '］'])
        .starts_with(is_hash)
    {
        let mut before = rest.char_indices().rev().take(2 * LONGEST);
        let (at, _) = before.find(|&(_, c)| is_hash(c) || c == '\n')?;
        let length = tag(&text[at..])?;
        return (at + length > rest.len()).then_some(at);
    }
    let mut before = rest.char_indices().rev().take(LONGEST + 1);
    let (at, _) = before.find(|&(_, c)| !is_of_name(c))?;
    let item = &rest[at..];
    let is_item = name(item).or_else(|| tag(item)) == Some(item.len());
    // An address has letters before the sign, and so has the name of a language.
    let is_inside = rest[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    (is_item && !is_inside).then_some(at)
}

/// Where the link begins that ends with `text`.
fn last_link(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_outside = |&b: &u8| !b.is_ascii_graphic() || matches!(b, b'<' | b'>' | b'"');
    let length = bytes.iter().rev().take(LINK).position(is_outside);
    let begin = bytes.len() - length.unwrap_or(bytes.len().min(LINK));
    // Nearly always a word.
    memchr2(b'.', b'/', &bytes[begin..])?;
    let is_link = |&at: &usize| {
        let is_inside = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        !is_inside && text.get(at..).and_then(link) == Some(text.len() - at)
    };
    (begin..bytes.len()).find(is_link)
}

fn last_phrase(text: &str, is_before_name: bool) -> Option<usize> {
    let names = is_before_name.then_some(BY).into_iter().flatten();
    let mut phrases = LAST.into_iter().chain(names);
    phrases.find_map(|phrase| {
        let at = text.len().checked_sub(phrase.len())?;
        let found = text.get(at..)?;
        let is_phrase = match phrase.starts_with(|c: char| c.is_ascii_lowercase()) {
            true => found.eq_ignore_ascii_case(phrase),
            false => found == phrase,
        };
        let is_inside = phrase.is_ascii() && text[..at].ends_with(is_letter_or_digit);
        (is_phrase && !is_inside).then_some(at)
    })
}
