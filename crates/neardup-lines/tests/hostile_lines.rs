//! Fields of lines of any bytes, compared with `serde_json` on each whole line.

use arrow_array::Array;
use neardup_lines::{Fields, kept_records, records_of, without_spans};
use serde_json::{Map, Value};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, pieces: &[&'a str]) -> &'a str {
        pieces[self.below(pieces.len())]
    }
}

const KEYS: [&str; 6] = ["text", "body", "id", "title", "te\\u0078t", "n"];
const VALUES: [&str; 12] = [
    r#""""#,
    r#""a ferry""#,
    r#""渡口\n\"天气\"""#,
    r#""\ud83d\ude00 \u4e2d""#,
    r#""one two three four five""#,
    "7",
    "0.5e3",
    "9223372036854775808",
    "null",
    "true",
    r#"[1,{"text":"x"},"]"]"#,
    r#"{"a":{"b":[{}]}}"#,
];
const ODD: [&str; 10] = [
    r#""\ud83d""#,
    r#""\q""#,
    "\"\u{1}\"",
    "-0",
    "12345678901234567890123",
    "1e999",
    "01",
    "{",
    "nul",
    "",
];

/// A line that is a record more often than not.
fn line(random: &mut Random) -> Vec<u8> {
    let fields = (0..random.below(5)).map(|_| {
        let is_odd = random.below(12) == 0;
        let value = random.of(if is_odd { &ODD[..] } else { &VALUES[..] });
        let key = random.of(&KEYS);
        format!(
            r#"{}"{key}"{}:{value}"#,
            random.of(&["", " "]),
            random.of(&["", "\t"])
        )
    });
    let mut line = format!("{{{}}}", fields.collect::<Vec<_>>().join(",")).into_bytes();
    match random.below(16) {
        0 => line.truncate(random.below(line.len())),
        1 => line.insert(
            random.below(line.len()),
            [0, 0x80, 0xFF, b'"', b'}'][random.below(5)],
        ),
        2 => {
            line = random
                .of(&["", " ", "\r", "[[", "\u{FEFF}{}", "{}"])
                .as_bytes()
                .to_vec()
        }
        3 => line.extend(b" \r"),
        _ => {}
    }
    line.retain(|&byte| byte != b'\n');
    line
}

fn parsed(record: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(record) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

#[test]
fn fields_of_hostile_lines_are_those_of_the_whole_record() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let fields = Fields::new(
        names(&["text", "body"]),
        "id".into(),
        false,
        Some("title".into()),
        names(&["n"]),
    );
    let mut random = Random(11);
    let (mut clear, mut unclear) = (0, 0);
    for _ in 0..4000 {
        let lines: Vec<Vec<u8>> = (0..random.below(6)).map(|_| line(&mut random)).collect();
        let block = lines.join(&b'\n');
        let read = fields.read(&block, "in", 1);
        let records: Vec<&[u8]> = records_of(&block).collect();
        assert_eq!([read.texts.len(), read.ids.len()], [records.len(); 2]);
        let extra: Vec<Vec<Value>> = read
            .extra
            .iter()
            .map(|json| serde_json::from_str(json).unwrap())
            .collect();
        let mut rest = read.unclear.iter();
        for (at, record) in records.iter().enumerate() {
            let context = String::from_utf8_lossy(record);
            if read.texts.is_null(at) {
                let (place, bytes) = rest.next().unwrap();
                assert_eq!((*place, &bytes[..]), (at, *record));
                assert_eq!(read.ids.value(at), format!("in:{}", at + 1));
                unclear += 1;
                continue;
            }
            clear += 1;
            let whole = parsed(record).unwrap_or_else(|| panic!("{context}"));
            let text = whole
                .get("text")
                .or(whole.get("body"))
                .and_then(Value::as_str);
            assert_eq!(Some(read.texts.value(at)), text, "{context}");
            let id = match whole.get("id") {
                Some(Value::String(id)) => id.clone(),
                Some(Value::Number(id)) if !id.is_f64() => id.to_string(),
                _ => format!("in:{}", at + 1),
            };
            assert_eq!(read.ids.value(at), id, "{context}");
            let n = whole.get("n").cloned().unwrap_or(Value::Null);
            assert_eq!(extra[0][at], n, "{context}");
        }
        assert!(rest.next().is_none());
        let flags: Vec<u8> = records.iter().map(|_| random.below(2) as u8).collect();
        let kept = records.iter().zip(&flags).filter(|(_, flag)| **flag != 0);
        let kept: Vec<u8> = kept
            .flat_map(|(record, _)| [record, &b"\n"[..]].concat())
            .collect();
        assert_eq!(kept_records(&block, &flags), Some(kept));
        assert_eq!(kept_records(&block, &[&flags[..], &[1]].concat()), None);
    }
    assert!(clear > 1000 && unclear > 1000, "{clear} {unclear}");
}

#[test]
fn cut_records_are_the_same_without_the_spans() {
    let names = ["text", "body"].map(String::from);
    let mut random = Random(12);
    let mut cut = 0;
    for _ in 0..20_000 {
        let record = line(&mut random);
        let begin = random.below(6) as u32;
        let spans = [(begin, begin + random.below(3) as u32), (20, 4_000_000_000)];
        let Some(made) = without_spans(&record, &names, &spans) else {
            continue;
        };
        let Some(mut whole) = parsed(&record) else {
            continue;
        };
        let name = if whole.contains_key("text") {
            "text"
        } else {
            "body"
        };
        let is_cut = |at: usize| spans.iter().any(|s| (s.0..s.1).contains(&(at as u32)));
        let text = whole[name].as_str().unwrap().chars().enumerate();
        let text: String = text
            .filter(|&(at, _)| !is_cut(at))
            .map(|(_, c)| c)
            .collect();
        whole.insert(name.into(), text.into());
        assert_eq!(
            parsed(made.as_bytes()),
            Some(whole),
            "{}",
            String::from_utf8_lossy(&record)
        );
        cut += 1;
    }
    assert!(cut > 1000, "{cut}");
}
