//! The lines of a block that are records: all but the blank ones.

/// White space of ASCII, the vertical tab included: a line of it alone is blank.
const BLANK: &[u8] = b" \t\n\r\x0b\x0c";

/// The records of a block, without their line breaks.
pub fn records_of(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr::memchr_iter(b'\n', block)
        .chain([block.len()])
        .map(move |end| &block[std::mem::replace(&mut begin, end + 1)..end])
        // Nearly all lines end this at their first byte.
        .filter(|line| !line.iter().all(|byte| BLANK.contains(byte)))
}

/// The records of a block whose flag is not 0, each with a line break; `None` unless there are as many flags
/// as records.
pub fn kept_records(block: &[u8], flags: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(block.len() + 1);
    let mut flags = flags.iter();
    for record in records_of(block) {
        if *flags.next()? != 0 {
            out.extend_from_slice(record);
            out.push(b'\n');
        }
    }
    flags.next().is_none().then_some(out)
}
