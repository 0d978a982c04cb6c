"""Drop near-duplicates between the steps of a pipeline of Ray Data or Daft.

Usage: python in_a_pipeline.py ray|daft

Reading, filtering and writing are the pipeline's, on all its machines. To decide about documents
all of them have to be compared, so their texts come together on one machine. Where they do not
fit, write files and run `neardup dedup --engine spark`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import neardup

ARTICLES = Path(__file__).with_name("articles.jsonl")


def with_ray(folder: Path) -> neardup.DedupResult[Any]:
    """Clean a dataset of Ray Data."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    # Blocks arrive in any order, and the first document of a cluster is kept.
    articles = ray.data.read_json(str(ARTICLES), lines=True).sort("date")
    result = neardup.dedup(articles.filter(lambda row: len(row["text"]) > 20))
    result.kept.write_parquet(str(folder))
    return result


def with_daft(folder: Path) -> neardup.DedupResult[Any]:
    """Clean a data frame of Daft."""
    import daft

    articles = daft.read_json(str(ARTICLES)).sort("date")
    result = neardup.dedup(articles.where(daft.col("text").length() > 20))
    result.kept.write_parquet(str(folder))
    return result


def main() -> None:
    """Clean the articles with the library that is named, and count the rows of the files."""
    import pyarrow.parquet

    with TemporaryDirectory() as folder:
        result = {"ray": with_ray, "daft": with_daft}[sys.argv[1]](Path(folder))
        rows = pyarrow.parquet.read_table(folder).num_rows
    print(f"{len(result.keep)} articles, {rows} kept, as a {type(result.kept).__name__}")
    for row in result.removed.to_pylist():
        print(f"  {row['id']} repeats {row['kept_id']}: {row['measure']} {row['similarity']:.2f}")


if __name__ == "__main__":
    main()
