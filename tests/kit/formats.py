"""Records as a file of each format."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq


def serialize(records, format, **options):
    """Return a list of records, or a table, as a file of a format, in several groups of rows.

    Options are those of `pq.write_table` and of `as_arrow`.
    """
    if format == "jsonl":
        return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records).encode()
    if format in ("csv", "tsv"):
        out = io.StringIO()
        rows = csv.writer(out, quoting=csv.QUOTE_ALL, delimiter="," if format == "csv" else "\t")
        rows.writerow(records[0])
        rows.writerows([cell(value) for value in record.values()] for record in records)
        return out.getvalue().encode()
    table = records if isinstance(records, pa.Table) else pa.Table.from_pylist(records)
    if format != "parquet":
        return as_arrow(table, format, **options)
    out = io.BytesIO()
    pq.write_table(table, out, **{"row_group_size": 2, **options})
    return out.getvalue()


def cell(value):
    """Return a value as CSV has it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def as_arrow(table, extension="arrow", rows=2, compression=None):
    """Return a table as an Arrow file, or for the extension arrows as a stream."""
    out = io.BytesIO()
    opener = pa.ipc.new_stream if extension == "arrows" else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with opener(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return out.getvalue()
