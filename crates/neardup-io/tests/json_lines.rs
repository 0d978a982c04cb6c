//! Columns of JSON lines: what is read, and what is left to the caller.

use arrow_array::{Array, LargeStringArray};
use neardup_io::json_lines::{Columns, Fields, columns};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn fields(requires_id: bool) -> Fields {
    let extra = names(&["n", "id"]);
    Fields::new(
        &names(&["text", "body"]),
        "id",
        requires_id,
        Some("title"),
        &extra,
    )
}

fn read(lines: &[&str]) -> Columns {
    columns(&fields(false), lines.join("\n").as_bytes(), "a", 7)
}

fn values(column: &LargeStringArray) -> Vec<Option<&str>> {
    column.iter().collect()
}

fn unclear(found: &Columns) -> Vec<usize> {
    found.unclear.iter().map(|&(at, _)| at).collect()
}

#[test]
fn fields_become_columns() {
    let found = read(&[
        r#"{"id": "x", "text": "\u79cb\n雨", "title": "t", "n": {"a": [1, null]}}"#,
        "",
        r#"{"body": "", "title": 1, "id": -12, "n": 1e3}"#,
        " \t\r\u{b}",
        r#"{"text": "b", "body": "c", "id": false}"#,
    ]);
    assert_eq!(values(&found.texts), [Some("秋\n雨"), Some(""), Some("b")]);
    assert_eq!(values(&found.ids), [Some("x"), Some("-12"), Some("a:9")]);
    assert_eq!(
        values(found.titles.as_ref().unwrap()),
        [Some("t"), None, None]
    );
    assert_eq!(
        found.extra,
        [r#"[{"a": [1, null]},1e3,null]"#, r#"["x",-12,false]"#]
    );
    assert!(found.has_title && found.unclear.is_empty());
}

#[test]
fn a_source_without_a_name_makes_no_ids() {
    let found = columns(&fields(false), br#"{"text": "a"}"#, "", 1);
    assert_eq!(values(&found.ids), [None]);
}

#[test]
fn the_last_of_equal_keys_counts() {
    let found = read(&[r#"{"text": 1, "id": "a", "text": "b", "id": "c", "\u0069d": 3}"#]);
    assert_eq!(values(&found.texts), [Some("b")]);
    assert_eq!(values(&found.ids), [Some("3")]);
}

#[test]
fn what_is_not_beyond_doubt_is_left_to_the_caller() {
    let deep = format!(
        r#"{{"text": "a", "x": {}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let lines = [
        "no json",
        "[]",
        "{}",
        r#"{"text": null}"#,
        r#"{"text": "a"} {}"#,
        r#"{"text": "a", "x": "\ud800"}"#,
        r#"{"text": "a", "\ud800": 1}"#,
        r#"{"text": "a", "x": 1e999}"#,
        r#"{"text": "a", "x": [}"#,
        r#"{"text": "a", "id": -0}"#,
        r#"{"text": "a", "id": 18446744073709551616}"#,
        r#"{"text": "a", "n": 18446744073709551616}"#,
        r#"{"text": "a", "n": "\udc00"}"#,
        &deep,
    ];
    let found = read(&lines);
    assert_eq!(unclear(&found), Vec::from_iter(0..lines.len()));
    assert_eq!(found.texts.null_count(), lines.len());
    assert_eq!(found.unclear[2].1, b"{}");
    // Their places in JSON are null, so that the arrays are as long as the columns.
    let nulls = format!("[{}]", vec!["null"; lines.len()].join(","));
    assert_eq!(found.extra, [nulls.clone(), nulls]);
}

#[test]
fn a_record_that_is_not_utf_8_is_unclear_and_the_next_one_is_not() {
    let found = columns(
        &fields(false),
        b"{\"text\": \"\xff\"}\n{\"text\": \"a\"}",
        "a",
        1,
    );
    assert_eq!(unclear(&found), [0]);
    assert_eq!(values(&found.texts), [None, Some("a")]);
    assert_eq!(values(&found.ids), [Some("a:1"), Some("a:2")]);
}

#[test]
fn a_required_id_that_is_none_is_unclear() {
    let lines = r#"{"text": "a"}
{"text": "a", "id": 1.5}
{"text": "a", "id": ""}"#;
    assert_eq!(
        unclear(&columns(&fields(true), lines.as_bytes(), "a", 1)),
        [0, 1]
    );
    assert_eq!(
        unclear(&columns(&fields(false), lines.as_bytes(), "a", 1)),
        [0usize; 0]
    );
}
