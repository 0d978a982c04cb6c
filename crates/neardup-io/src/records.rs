//! The lines of a block that are records: all but the blank ones.

/// White space of ASCII, the vertical tab included: a line of it alone is blank.
const BLANK: &[u8] = b" \t\n\r\x0b\x0c";

/// The records of a block, without their line breaks. A line of white space is no record.
///
/// # Examples
///
/// ```
/// let records: Vec<&[u8]> = neardup_io::records::of(b"{}\n \r\n[1]").collect();
/// assert_eq!(records, [b"{}".as_slice(), b"[1]"]);
/// ```
pub fn of(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr::memchr_iter(b'\n', block)
        .chain([block.len()])
        .map(move |end| &block[std::mem::replace(&mut begin, end + 1)..end])
        .filter(|line| !is_blank(line))
}

/// Whether a line is empty or white space.
fn is_blank(line: &[u8]) -> bool {
    // Nearly all lines end this at their first byte.
    line.iter().all(|byte| BLANK.contains(byte))
}

/// The records of a block whose flag is true, each with a line break.
///
/// Returns `None` unless there are as many flags as records.
///
/// # Examples
///
/// ```
/// let kept = neardup_io::records::kept(b"1\n\n2\n3", &[true, false, true]);
/// assert_eq!(kept.unwrap(), b"1\n3\n");
/// ```
pub fn kept(block: &[u8], flags: &[bool]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(block.len() + 1);
    let mut flags = flags.iter();
    for record in of(block) {
        if *flags.next()? {
            out.extend_from_slice(record);
            out.push(b'\n');
        }
    }
    flags.next().is_none().then_some(out)
}
