//! The spans that are cut out of a text with its repeats.

use std::ops::Range;

use super::units::is_line_end;

/// The spans to cut out of a text, in code points, disjoint and ascending, given those of the units
/// to drop.
///
/// White space goes with a unit so that what is left reads on: spaces after it, or those before it at
/// the end of a line. A line of which nothing is left goes with its end, and with blank lines
/// after it if there is a blank line or nothing before it.
///
/// # Examples
///
/// ```
/// use neardup_align::repeats::cuts;
///
/// // One. Two. Three.
/// assert_eq!(cuts("One. Two. Three.", &[(5, 9)]), [(5, 10)]);
/// assert_eq!(cuts("One. Two.\nThree.", &[(5, 9)]), [(4, 9)]);
/// assert_eq!(cuts("One.\n\nTwo.\n\nThree.", &[(6, 10)]), [(6, 12)]);
/// ```
pub fn cuts(text: &str, units: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let chars: Vec<char> = text.chars().collect();
    let mut is_cut = vec![false; chars.len()];
    for &(begin, end) in units {
        let end = (end as usize).min(chars.len());
        for at in (begin as usize).min(end)..end {
            // A line end goes only with its whole line.
            is_cut[at] = !is_line_end(chars[at]);
        }
    }
    let mut is_after_blank = true;
    let mut drops_blank = false;
    let mut begin = 0;
    while begin < chars.len() {
        let end = line_end(&chars, begin);
        let content = begin..content_end(&chars, begin..end);
        let is_blank = chars[content.clone()].iter().all(|c| c.is_whitespace());
        let has_cuts = is_cut[content.clone()].contains(&true);
        let is_empty = content
            .clone()
            .all(|at| is_cut[at] || chars[at].is_whitespace());
        if has_cuts && is_empty {
            is_cut[begin..end].fill(true);
            drops_blank = is_after_blank;
        } else if is_blank && drops_blank {
            is_cut[begin..end].fill(true);
        } else {
            with_spaces(&chars, &mut is_cut, content);
            drops_blank = false;
            is_after_blank = is_blank;
        }
        begin = end;
    }
    spans(&is_cut)
}

/// Where the line that begins at `begin` ends, with its line end.
fn line_end(chars: &[char], begin: usize) -> usize {
    let Some(found) = chars[begin..].iter().position(|&c| is_line_end(c)) else {
        return chars.len();
    };
    let at = begin + found;
    let is_pair = chars[at] == '\r' && chars.get(at + 1) == Some(&'\n');
    at + 1 + usize::from(is_pair)
}

/// Where the line ends without its line end.
fn content_end(chars: &[char], line: Range<usize>) -> usize {
    let ends = chars[line.clone()].iter().rev();
    line.end - ends.take_while(|&&c| is_line_end(c)).count()
}

/// Cuts the spaces after what is cut of a line, or those before it at the end of the line.
fn with_spaces(chars: &[char], is_cut: &mut [bool], line: Range<usize>) {
    let mut at = line.start;
    while at < line.end {
        if !is_cut[at] {
            at += 1;
            continue;
        }
        let begin = at;
        while at < line.end && (is_cut[at] || chars[at].is_whitespace()) {
            is_cut[at] = true;
            at += 1;
        }
        if at == line.end {
            let before = chars[line.start..begin].iter().rev();
            let spaces = before.take_while(|c| c.is_whitespace()).count();
            is_cut[begin - spaces..begin].fill(true);
        }
    }
}

fn spans(is_cut: &[bool]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (at, _) in is_cut.iter().enumerate().filter(|(_, is_cut)| **is_cut) {
        let at = at as u32;
        match found.last_mut() {
            Some(span) if span.1 == at => span.1 += 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without the units in square brackets.
    fn cut(marked: &str) -> String {
        let (mut text, mut units) = (String::new(), Vec::new());
        let mut at = 0;
        for c in marked.chars() {
            match c {
                '[' => units.push((at, at)),
                ']' => units.last_mut().unwrap().1 = at,
                _ => {
                    text.push(c);
                    at += 1;
                }
            }
        }
        let spans = cuts(&text, &units);
        assert!(spans.windows(2).all(|pair| pair[0].1 < pair[1].0));
        let is_cut = |at: u32| spans.iter().any(|span| span.0 <= at && at < span.1);
        let left = text.chars().zip(0..).filter(|&(_, at)| !is_cut(at));
        left.map(|(c, _)| c).collect()
    }

    #[test]
    fn text_around_a_cut_reads_on() {
        for (marked, left) in [
            ("One. [Two.] Three.", "One. Three."),
            ("[One.] Two.", "Two."),
            ("  [One.] Two.", "  Two."),
            ("One. [Two.]", "One."),
            ("One. [Two.] [Three.]\nFour.", "One.\nFour."),
            ("One. [Two.\nThree.] Four.", "One.\nFour."),
            ("一。[二。]三。", "一。三。"),
            ("[One.]\r\nTwo.\r\n", "Two.\r\n"),
            ("One.\n[Two.]\nThree.", "One.\nThree."),
            ("One.\n\n[Two.]\n\nThree.", "One.\n\nThree."),
            ("[One.]\n\n\n[Two.]\n\nThree.", "Three."),
            ("One.\n[Two.]\n\nThree.", "One.\n\nThree."),
            ("One.\n\n[Two.]", "One.\n\n"),
            ("[One.] [Two.]", ""),
            ("(One. [Two.])", "(One. )"),
            ("One.", "One."),
            ("", ""),
        ] {
            assert_eq!(cut(marked), left, "{marked}");
        }
        assert_eq!(cuts("ab", &[(1, 9), (7, 3)]), [(1, 2)]);
    }
}
