/*! Parts of a text that are cut out of a JSON line.

All other bytes of the line stay as they are, also the escapes in the rest of the text.
*/

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A record without `spans` of its text, in code points, disjoint and ascending.
///
/// The text is the first of the fields `names` that the record has; of a repeated key the last value
/// counts. None if the record is not an object or its text is not a string.
pub fn without_spans(record: &[u8], names: &[String], spans: &[(u32, u32)]) -> Option<String> {
    let line = simdutf8::basic::from_utf8(record).ok()?;
    let place = text_of(line, names)?;
    let raw = &line[place.clone()];
    let begins: Vec<usize> = units(raw).map(|unit| unit.start).collect();
    let byte = |at: u32| begins.get(at as usize).copied().unwrap_or(raw.len());
    let mut made = String::with_capacity(record.len());
    made.push_str(&line[..place.start]);
    let mut copied = 0;
    for &(begin, end) in spans {
        let first = byte(begin).max(copied);
        made.push_str(&raw[copied..first]);
        copied = byte(end).max(first);
    }
    made.push_str(&raw[copied..]);
    made.push_str(&line[place.end..]);
    Some(made)
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
