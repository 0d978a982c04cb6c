//! Links, @names and #tags: how long the one is that a text begins with, in bytes.

use super::is_letter_or_digit;

/// The begins of a link.
const SCHEMES: [&str; 7] = [
    "http://",
    "https://",
    "ftp://",
    "www.",
    "t.cn/",
    "t.co/",
    "pic.twitter.com/",
];

/// The most characters of a name and of a tag: services allow 30 for names, and topics are shorter.
pub(super) const LONGEST: usize = 30;

/// The link at the begin of `text`: ASCII characters without blanks, since what follows a link
/// directly is written in another script.
pub(super) fn link(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut schemes = SCHEMES.iter().map(|scheme| scheme.as_bytes());
    let scheme = schemes.find(|&scheme| {
        let begin = bytes.get(..scheme.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    })?;
    let is_of_link = |b: u8| b.is_ascii_graphic() && !matches!(b, b'<' | b'>' | b'"');
    let end = bytes.iter().position(|&b| !is_of_link(b));
    let link = text[..end.unwrap_or(bytes.len())]
        .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'']);
    (link.len() > scheme.len()).then_some(link.len())
}

/// The name with its sign at the begin of `text`.
pub(super) fn name(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['@', '＠'])?;
    let length = run_of(rest, is_of_name)?;
    rest.starts_with(is_letter_or_digit)
        .then_some(text.len() - rest.len() + length)
}

/// The tag at the begin of `text`: `#topic#`, which may contain blanks, or `#tag`. A number is not a tag.
pub(super) fn tag(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(is_hash)?;
    let sign = text.len() - rest.len();
    let has_letter = |text: &str| text.contains(char::is_alphabetic);
    let closing = rest
        .char_indices()
        .take(2 * LONGEST)
        .find(|&(_, c)| is_hash(c) || matches!(c, '\n' | ',' | '，' | '。'));
    if let Some((at, c)) = closing.filter(|&(_, c)| is_hash(c)) {
        let topic = &rest[..at];
        if topic.trim() == topic && has_letter(topic) {
            return Some(sign + at + c.len_utf8());
        }
    }
    let length = run_of(rest, |c| is_letter_or_digit(c) || c == '_')?;
    has_letter(&rest[..length]).then_some(sign + length)
}

pub(super) fn is_hash(c: char) -> bool {
    matches!(c, '#' | '＃')
}

/// A character of a name, or of a tag.
pub(super) fn is_of_name(c: char) -> bool {
    is_letter_or_digit(c) || matches!(c, '_' | '-' | '·')
}

/// The length of the characters of a kind that `text` begins with; `None` if they are too many.
fn run_of(text: &str, is_of_kind: impl Fn(char) -> bool) -> Option<usize> {
    let end = text.find(|c| !is_of_kind(c)).unwrap_or(text.len());
    (text[..end].chars().count() <= LONGEST).then_some(end)
}
