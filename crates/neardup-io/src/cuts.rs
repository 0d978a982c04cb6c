/*! Parts of a text that are replaced inside a JSON line.

All other bytes of the line stay as they are, also the escapes in the rest of the text.
*/

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The record with spans of its text, in code points, replaced by `mark`.
///
/// The text is the first of the fields `names` that the record has; of a repeated key the last value
/// counts. `spans` are disjoint and ascending. None if the record is no object or its text no text.
///
/// # Examples
///
/// ```
/// use neardup_io::cuts::replaced;
///
/// let names = ["text".to_owned()];
/// let record = r#"{"n": 1.0, "text": "\u4f60\n好吗"}"#;
/// let made = replaced(record.as_bytes(), &names, &[(0, 3)], "-").unwrap();
/// assert_eq!(made, r#"{"n": 1.0, "text": "-吗"}"#.as_bytes());
/// ```
pub fn replaced(
    record: &[u8],
    names: &[String],
    spans: &[(u32, u32)],
    mark: &str,
) -> Option<Vec<u8>> {
    let line = simdutf8::basic::from_utf8(record).ok()?;
    let place = text_of(line, names)?;
    let raw = &line[place.clone()];
    let mark = serde_json::to_string(mark).ok()?;
    // Without the quotation marks around it.
    let mark = &mark[1..mark.len() - 1];
    let mut made = String::with_capacity(record.len() + spans.len() * mark.len());
    made.push_str(&line[..place.start]);
    let begins: Vec<usize> = units(raw).map(|unit| unit.start).collect();
    let byte = |at: u32| begins.get(at as usize).copied().unwrap_or(raw.len());
    let mut copied = 0;
    for &(begin, end) in spans {
        let first = byte(begin).max(copied);
        made.push_str(&raw[copied..first]);
        made.push_str(mark);
        copied = byte(end).max(first);
    }
    made.push_str(&raw[copied..]);
    made.push_str(&line[place.end..]);
    Some(made.into_bytes())
}

/// The bytes of the text of a record, without its quotation marks.
fn text_of(line: &str, names: &[String]) -> Option<Range<usize>> {
    let mut raw_values = vec![None; names.len()];
    let mut parser = serde_json::Deserializer::from_str(line);
    parser
        .deserialize_map(Fields {
            names,
            raw_values: &mut raw_values,
        })
        .ok()?;
    let raw: &str = raw_values.into_iter().flatten().next()?;
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    let begin = inside.as_ptr() as usize - line.as_ptr() as usize;
    Some(begin..begin + inside.len())
}

/// The bytes of each code point in the inside of a JSON string.
fn units(raw: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = raw.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at;
        at += match *bytes.get(at)? {
            b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                let is_pair = matches!(bytes.get(at + 2), Some(b'd' | b'D'))
                    && matches!(
                        bytes.get(at + 3),
                        Some(b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B')
                    );
                if is_pair { 12 } else { 6 }
            }
            b'\\' => 2,
            byte if byte < 0x80 => 1,
            byte if byte < 0xE0 => 2,
            byte if byte < 0xF0 => 3,
            _ => 4,
        };
        at = at.min(bytes.len());
        Some(begin..at)
    })
}

/// Puts the JSON of the named fields of an object into their places.
struct Fields<'f, 'a> {
    names: &'f [String],
    raw_values: &'f mut Vec<Option<&'a str>>,
}

impl<'a> Visitor<'a> for Fields<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key_seed(KeySeed)? {
            let value = map.next_value::<&RawValue>()?.get();
            if let Some(place) = self.names.iter().position(|name| *name == key) {
                self.raw_values[place] = Some(value);
            }
        }
        Ok(())
    }
}

/// A key; borrowed from the line unless it has escapes.
struct Key<'a>(Cow<'a, str>);

struct KeySeed;

impl<'a> DeserializeSeed<'a> for KeySeed {
    type Value = Key<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Key<'a>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for KeySeed {
    type Value = Key<'a>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'a str) -> Result<Key<'a>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<Key<'a>, E> {
        Ok(Key(Cow::Owned(key.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::replaced;

    fn cut(record: &str, spans: &[(u32, u32)], mark: &str) -> Option<String> {
        let names = ["text".to_owned(), "body".to_owned()];
        let made = replaced(record.as_bytes(), &names, spans, mark)?;
        Some(String::from_utf8(made).unwrap())
    }

    #[test]
    fn what_is_not_cut_keeps_its_bytes() {
        let record =
            r#" { "a":[1e5, {"text":"x"}],"text" : "ab\u0063\/\\\"d\ud83d\ude00e😀f" , "z":-0 }"#;
        assert_eq!(cut(record, &[], "-").unwrap(), record);
        // a b c / \ " d 😀 e 😀 f
        let whole = cut(record, &[(0, 11)], "").unwrap();
        assert_eq!(
            whole,
            r#" { "a":[1e5, {"text":"x"}],"text" : "" , "z":-0 }"#
        );
        let some = cut(record, &[(2, 4), (5, 6), (7, 8), (9, 11)], "[…]").unwrap();
        assert_eq!(
            some,
            r#" { "a":[1e5, {"text":"x"}],"text" : "ab[…]\\[…]d[…]e[…]" , "z":-0 }"#
        );
        let neighbours = cut(record, &[(0, 1), (1, 2)], "\"").unwrap();
        assert!(neighbours.contains(r#""\"\"\u0063\/"#));
    }

    #[test]
    fn the_text_is_that_of_the_reader() {
        assert_eq!(
            cut(
                r#"{"body":"ab","te\u0078t":"cd","text":"ef"}"#,
                &[(0, 1)],
                ""
            )
            .unwrap(),
            r#"{"body":"ab","te\u0078t":"cd","text":"f"}"#
        );
        assert_eq!(
            cut(r#"{"text":"ef","te\u0078t":"cd"}"#, &[(1, 2)], "").unwrap(),
            r#"{"text":"ef","te\u0078t":"c"}"#
        );
        assert_eq!(
            cut(r#"{"body":"ab"}"#, &[(1, 2)], "").unwrap(),
            r#"{"body":"a"}"#
        );
        for bad in [
            "[1]",
            r#"{"text":1}"#,
            r#"{"id":"text"}"#,
            "",
            "{\"text\":\"a",
        ] {
            assert_eq!(cut(bad, &[(0, 1)], ""), None);
        }
    }
}
