/*! Fields of JSON lines as Arrow columns.

A record is checked completely: the JSON grammar, UTF-8 and escapes of every value, also of those
that nobody asks for. Where a key is repeated, its last value counts. Strings are copied once, from
the block to their column.

This reader is stricter than the format. It gives up on a record that is damaged, nested more than
127 levels deep, lacks a wanted value, or has a number in place of an id or an extra value that
64 bits cannot hold. The caller reads such a record in its own, slower way, and reports what is
wrong.
*/

use std::borrow::Cow;
use std::fmt;

use arrow_array::LargeStringArray;
use arrow_array::builder::LargeStringBuilder;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::records::records_of;

/// From this magnitude on, a number without a fraction may have lost digits.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// A whole number of at least this many characters may not fit into 64 bits.
const LONG_NUMBER: usize = 19;

/// The fields to read from JSON lines, and whether each record must have an id.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The distinct names of all fields; the others are places here.
    names: Vec<String>,
    texts: Vec<usize>,
    id: usize,
    requires_id: bool,
    title: Option<usize>,
    extra: Vec<usize>,
}

/// The records of a block, as columns of equal length.
#[derive(Debug)]
pub struct Columns {
    /// Null for an unclear record, which gets an id as a record without one does.
    pub texts: LargeStringArray,
    /// Ids; a whole number in decimal digits. For a record without either `SOURCE:NUMBER`, or null
    /// if the source has no name.
    pub ids: LargeStringArray,
    /// Null where a record has no text in this field; `None` if no title is asked for.
    pub titles: Option<LargeStringArray>,
    /// Whether a record has the title field, with any value.
    pub has_title: bool,
    /// For each extra field a JSON array of its values; null where a record has none.
    pub extra: Vec<String>,
    /// The place and the bytes of each record that must be read in another way.
    pub unclear: Vec<(usize, Vec<u8>)>,
}

impl Fields {
    /// The text is the first of `texts` that a record has. A record without an id gets its number
    /// instead, or is unclear if `requires_id`.
    pub fn new(
        texts: Vec<String>,
        id: String,
        requires_id: bool,
        title: Option<String>,
        extra: Vec<String>,
    ) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut place = |name: String| {
            names
                .iter()
                .position(|known| *known == name)
                .unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })
        };
        Fields {
            texts: texts.into_iter().map(&mut place).collect(),
            id: place(id),
            requires_id,
            title: title.map(&mut place),
            extra: extra.into_iter().map(&mut place).collect(),
            names,
        }
    }

    /// Reads the records of a block of lines. `source` and `first`, the number of the first record, make the
    /// ids of records without one. O(n) for n bytes.
    pub fn read(&self, block: &[u8], source: &str, first: usize) -> Columns {
        let mut texts = LargeStringBuilder::with_capacity(0, block.len());
        let mut ids = LargeStringBuilder::new();
        let mut titles = self.title.map(|_| LargeStringBuilder::new());
        let mut extra = vec![String::from("["); self.extra.len()];
        let mut unclear = Vec::new();
        let mut has_title = false;
        let mut record_values = Values::default();
        for (at, record) in records_of(block).enumerate() {
            if at > 0 {
                extra.iter_mut().for_each(|values| values.push(','));
            }
            let known = record_values.read(self, record);
            match known.as_ref().and_then(|known| known.id.as_deref()) {
                Some(id) => ids.append_value(id),
                None if source.is_empty() => ids.append_null(),
                None => ids.append_value(format!("{source}:{}", first + at)),
            }
            let Some(known) = known else {
                unclear.push((at, record.to_vec()));
                texts.append_null();
                titles.iter_mut().for_each(LargeStringBuilder::append_null);
                extra.iter_mut().for_each(|values| values.push_str("null"));
                continue;
            };
            texts.append_value(known.text);
            if let (Some(titles), Some(place)) = (&mut titles, self.title) {
                has_title |= record_values.values[place].is_some();
                titles.append_option(record_values.text(place));
            }
            for (values, &place) in extra.iter_mut().zip(&self.extra) {
                values.push_str(record_values.raw[place].unwrap_or("null"));
            }
        }
        extra.iter_mut().for_each(|values| values.push(']'));
        Columns {
            texts: texts.finish(),
            ids: ids.finish(),
            titles: titles.map(|mut titles| titles.finish()),
            has_title,
            extra,
            unclear,
        }
    }
}

/// The required fields of a record.
struct Known<'f> {
    text: &'f str,
    id: Option<Cow<'f, str>>,
}

/// The wanted fields of one record, by their places in [`Fields`].
#[derive(Default)]
struct Values<'a> {
    values: Vec<Option<Value<'a>>>,
    /// The JSON of extra values.
    raw: Vec<Option<&'a str>>,
}

impl<'a> Values<'a> {
    /// Reads a record; returns `None` if it is unclear.
    fn read(&mut self, fields: &Fields, record: &'a [u8]) -> Option<Known<'_>> {
        let record = simdutf8::basic::from_utf8(record).ok()?;
        self.values.clear();
        self.values.resize_with(fields.names.len(), || None);
        self.raw.clear();
        self.raw.resize(fields.names.len(), None);
        let mut parser = serde_json::Deserializer::from_str(record);
        let wanted = Wanted {
            fields,
            record_values: self,
        };
        parser.deserialize_map(wanted).ok()?;
        parser.end().ok()?;
        let is_long = |place: &&usize| self.raw[**place].is_some_and(is_long_number);
        if fields.extra.iter().any(|place| is_long(&place)) {
            return None;
        }
        let place = *fields
            .texts
            .iter()
            .find(|&&place| self.values[place].is_some())?;
        let id = match &self.values[fields.id] {
            Some(Value::Text(id)) => Some(Cow::Borrowed(&**id)),
            Some(Value::Whole(id)) => Some(Cow::Owned(id.to_string())),
            Some(Value::Float(id))
                if id.abs() >= BEYOND || (*id == 0.0 && id.is_sign_negative()) =>
            {
                return None;
            }
            _ if fields.requires_id => return None,
            _ => None,
        };
        Some(Known {
            text: self.text(place)?,
            id,
        })
    }

    /// The text of a field, if its value is one.
    fn text(&self, place: usize) -> Option<&str> {
        match &self.values[place] {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Whether JSON is a number that 64 bits may not hold exactly.
fn is_long_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && json.len() >= LONG_NUMBER
        && !json.contains(['.', 'e', 'E'])
}

/// Kinds of values.
enum Value<'a> {
    Text(Cow<'a, str>),
    Whole(i128),
    Float(f64),
    Other,
}

/// Puts the wanted fields of an object into their places.
struct Wanted<'w, 'a> {
    fields: &'w Fields,
    record_values: &'w mut Values<'a>,
}

impl<'a> Visitor<'a> for Wanted<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let Wanted {
            fields,
            record_values,
        } = self;
        while let Some(place) = map.next_key_seed(Place(&fields.names))? {
            match place {
                None => drop(map.next_value::<Value<'a>>()?),
                Some(place) if fields.extra.contains(&place) => {
                    let raw = map.next_value::<&RawValue>()?.get();
                    // A raw value is not checked completely.
                    let value = serde_json::from_str(raw).map_err(de::Error::custom)?;
                    record_values.raw[place] = Some(raw);
                    record_values.values[place] = Some(value);
                }
                Some(place) => record_values.values[place] = Some(map.next_value()?),
            }
        }
        Ok(())
    }
}

/// The place of a key among the wanted names.
struct Place<'w>(&'w [String]);

impl<'a> DeserializeSeed<'a> for Place<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name == key))
    }
}

impl<'a> de::Deserialize<'a> for Value<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        // `IgnoredAny` would accept escapes of lone surrogates, so all values are read like this.
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'a> Visitor<'a> for AnyValue {
    type Value = Value<'a>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Value<'a>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'a>, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'a>, E> {
        Ok(Value::Float(number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Value<'a>, A::Error> {
        while items.next_element::<Value<'a>>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Value<'a>, A::Error> {
        // Keys are strings, which are read like any other.
        while map.next_entry::<Value<'a>, Value<'a>>()?.is_some() {}
        Ok(Value::Other)
    }
}
