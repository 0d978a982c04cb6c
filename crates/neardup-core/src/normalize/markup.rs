/*! Removes HTML markup from untrusted text, without an HTML parser.

Text cut out of web pages contains left-over tags, often broken ones. So the rules are
local, and each looks ahead for only one closing mark:

- `<!--` up to the next `-->` is a comment.
- `<` before an ASCII letter, `/` or `!` opens a tag. It ends at the first `>`
  that is not inside a quoted attribute value (only a quote after `=` counts, with
  white space between them allowed); if a quote is never closed, at the first
  `>`. If no `>` follows, the `<` is text, like every other `<`.
  - `script` and `style` are removed with their content if their end tag exists.
- A tag of a block element leaves one line feed; other tags leave nothing.
- `&` with the letters, digits and `#` that follow, and a `;`, is decoded by the rules of
  HTML (crate `htmlize`). Decoded characters are text and never become a tag.

Linear time: whether a closing mark exists at all is determined once.
*/

use memchr::{memchr, memchr2, memmem, memrchr};

use super::rewritten::Rewritten;

/// Block elements, which begin and end a line; sorted.
const BLOCKS: [&str; 53] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Whether stripping `text` can change anything.
pub(super) fn may_have_markup(text: &str) -> bool {
    memchr2(b'<', b'&', text.as_bytes()).is_some()
}

/// Removes the markup of `text`.
pub(super) fn strip(text: &str, is_mapped: bool) -> Rewritten {
    let bytes = text.as_bytes();
    let closings = Closings::find(text);
    let mut stripped = Rewritten::with_capacity(text.len(), is_mapped);
    // `copied` is where text not yet written begins, `at` where the search goes on.
    let (mut copied, mut at) = (0, 0);
    while let Some(offset) = memchr2(b'<', b'&', &bytes[at..]) {
        let mark = at + offset;
        at = mark + 1;
        if bytes[mark] == b'&' {
            let end = end_of_reference(bytes, mark);
            let decoded = htmlize::unescape(&text[mark..end]);
            if decoded != text[mark..end] {
                stripped.keep(text, copied, mark);
                stripped.replace(&decoded, mark, end);
                copied = end;
            }
            at = end;
        } else if let Some(end) = end_of_markup(text, mark, &closings) {
            stripped.keep(text, copied, mark);
            if is_block(tag_name(bytes, mark)) {
                stripped.replace("\n", mark, end);
            }
            copied = end;
            at = end;
        }
    }
    stripped.keep(text, copied, text.len());
    stripped
}

/// The last closing marks of a text; a search that starts after them cannot succeed.
struct Closings {
    comment: Option<usize>,
    tag: Option<usize>,
    single_quote: Option<usize>,
    double_quote: Option<usize>,
    script: Option<usize>,
    style: Option<usize>,
}

impl Closings {
    fn find(text: &str) -> Self {
        let bytes = text.as_bytes();
        let tag = memrchr(b'>', bytes);
        // An end tag without a `>` ends no element.
        let closed = &bytes[..tag.unwrap_or(0)];
        Closings {
            comment: memmem::rfind(bytes, b"-->"),
            tag,
            single_quote: memrchr(b'\'', bytes),
            double_quote: memrchr(b'"', bytes),
            script: last_end_tag(closed, b"script"),
            style: last_end_tag(closed, b"style"),
        }
    }
}

/// Where the comment, tag or raw element that opens at `mark` ends, if one does.
fn end_of_markup(text: &str, mark: usize, closings: &Closings) -> Option<usize> {
    let bytes = text.as_bytes();
    let next = *bytes.get(mark + 1)?;
    if !(next.is_ascii_alphabetic() || next == b'/' || next == b'!') {
        return None;
    }
    if bytes[mark..].starts_with(b"<!--") && closings.comment.is_some_and(|last| last >= mark + 4) {
        return memmem::find(&bytes[mark + 4..], b"-->").map(|end| mark + 4 + end + 3);
    }
    let end = end_of_tag(bytes, mark, closings)?;
    let name = tag_name(bytes, mark);
    let raw: Option<(&[u8], _)> = match next {
        b'/' | b'!' => None,
        _ if name.eq_ignore_ascii_case(b"script") => Some((b"script", closings.script)),
        _ if name.eq_ignore_ascii_case(b"style") => Some((b"style", closings.style)),
        _ => None,
    };
    match raw {
        Some((name, Some(last))) if last >= end => {
            let closing = end + first_end_tag(&bytes[end..], name)?;
            end_of_tag(bytes, closing, closings)
        }
        _ => Some(end),
    }
}

fn end_of_tag(bytes: &[u8], mark: usize, closings: &Closings) -> Option<usize> {
    let last = closings.tag.filter(|&last| last > mark)?;
    let mut at = mark + 1;
    let mut after_equals = false;
    while at <= last {
        match bytes[at] {
            b'>' => return Some(at + 1),
            quote @ (b'"' | b'\'') if after_equals => {
                let closing = match quote {
                    b'"' => closings.double_quote,
                    _ => closings.single_quote,
                };
                // A quote that is never closed is ignored: the first `>` of all ends the tag.
                if closing.is_none_or(|closing| closing <= at) {
                    break;
                }
                at += 1 + memchr(quote, &bytes[at + 1..]).unwrap_or(0);
                after_equals = false;
            }
            b'=' => after_equals = true,
            b if b.is_ascii_whitespace() => {}
            _ => after_equals = false,
        }
        at += 1;
    }
    memchr(b'>', &bytes[mark..]).map(|end| mark + end + 1)
}

/// The letters and digits after `<` or `</`.
fn tag_name(bytes: &[u8], mark: usize) -> &[u8] {
    let begin = mark + 1 + usize::from(bytes.get(mark + 1) == Some(&b'/'));
    let rest = bytes.get(begin..).unwrap_or_default();
    let end = rest.iter().position(|b| !b.is_ascii_alphanumeric());
    &rest[..end.unwrap_or(rest.len())]
}

fn is_block(name: &[u8]) -> bool {
    // No name in the list is longer.
    let mut lower = [0; 10];
    let Some(lower) = lower.get_mut(..name.len()) else {
        return false;
    };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    BLOCKS
        .binary_search_by(|block| block.as_bytes().cmp(lower))
        .is_ok()
}

fn is_end_tag(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + 2 + name.len();
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    !goes_on
        && bytes
            .get(at + 2..end)
            .is_some_and(|tag| tag.eq_ignore_ascii_case(name))
}

fn first_end_tag(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memmem::find_iter(bytes, b"</").find(|&at| is_end_tag(bytes, at, name))
}

fn last_end_tag(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memmem::rfind_iter(bytes, b"</").find(|&at| is_end_tag(bytes, at, name))
}

fn end_of_reference(bytes: &[u8], mark: usize) -> usize {
    let rest = &bytes[mark + 1..];
    let name = rest
        .iter()
        .position(|&b| !(b.is_ascii_alphanumeric() || b == b'#'))
        .unwrap_or(rest.len());
    let semicolon = usize::from(rest.get(name) == Some(&b';'));
    mark + 1 + name + semicolon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_script_costs_no_more_than_others() {
        // Quadratic search would take minutes here.
        let text = "<script>".repeat(500_000) + "</script";
        assert!(end_of_markup(&text, 0, &Closings::find(&text)).is_some());
        let closings = Closings::find(&text);
        let found = (0..text.len() - 8)
            .step_by(8)
            .filter(|&mark| end_of_markup(&text, mark, &closings) == Some(mark + 8))
            .count();
        assert_eq!(found, 500_000);
    }

    #[test]
    fn a_longer_name_ends_no_script() {
        let text = "<script>a</scripts>b</script>c";
        let closings = Closings::find(text);
        assert_eq!(end_of_markup(text, 0, &closings), Some(text.len() - 1));
    }

    #[test]
    fn the_list_of_blocks_can_be_searched() {
        assert!(BLOCKS.is_sorted());
        assert!(BLOCKS.iter().all(|name| name.len() <= 10));
    }

    #[test]
    fn tags_comments_and_entities() {
        // (source, without markup)
        let table = [
            ("一<b>二</b>三", "一二三"),
            ("一<p class=\"a>b\">二", "一\n二"),
            ("一<!-- <p> -->二", "一二"),
            ("一<script>if (a<b) {}</SCRIPT >二", "一二"),
            ("一<script>二", "一二"),
            ("3 < 4, a<", "3 < 4, a<"),
            ("a <b and no end", "a <b and no end"),
            ("<a href='x>二", "二"),
            ("<BR/>二", "\n二"),
            ("&lt;b&gt;&amp;lt;", "<b>&lt;"),
            ("&nbsp;&#20013;&#x6587;&中", "\u{a0}中文&中"),
            ("R&D &unknown; &", "R&D &unknown; &"),
            ("<!doctype html>二", "二"),
            ("<!--二>三", "三"),
        ];
        for (source, expected) in table {
            assert_eq!(strip(source, true).text(), expected, "{source}");
        }
    }

    #[test]
    fn hostile_markup_takes_linear_time() {
        for part in [
            "<a=\"",
            "<!--",
            "<script>",
            "</",
            "<a='>",
            "&amp",
            "<a=\"> <a='",
        ] {
            let text = part.repeat(1_000_000);
            strip(&text, true);
        }
    }
}
