/*! JSON lines: the records of a block, the fields that are asked for, and parts cut out of a text.

A block holds whole lines. Its [records](records_of) are the lines that are not blank; [`Fields`] reads some
of their fields into Arrow columns, and [`without_spans`] cuts parts out of the text of one.
*/

mod cuts;
mod fields;
mod records;

pub use cuts::without_spans;
pub use fields::{Columns, Fields};
pub use records::{kept_records, records_of};
