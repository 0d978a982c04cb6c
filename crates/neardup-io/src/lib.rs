/*! Records in and out, as bytes and Arrow columns.

A run reads most of its input as JSON lines. [`json_lines`] takes a block of lines and returns the
fields that a run asks for as columns; a record that it cannot read beyond doubt is left to its
caller. [`records`] finds the lines that are records, and copies the kept ones; [`cuts`] replaces parts of
a record's text.
*/

pub mod cuts;
pub mod json_lines;
pub mod records;
