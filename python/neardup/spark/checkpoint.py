"""The checkpoint of a job: its complete stages, in a folder that all machines can reach.

Each stage is a folder of Parquet that Spark writes completely or not at all. A job started again
with the same settings resumes after the last complete stage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.run.checkpoint import change_error, check_manifest, manifest
from neardup.spark.blobs import SCHEMA, convert_schema, make_rdd

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

    from neardup.spark.blobs import Blob

#: Version of the stages' contents; raise it when they change.
_LAYOUT = 14

_MANIFEST = "neardup-job.json"

#: What a job makes in its folder: only this is deleted.
_MADE = re.compile(
    rf"{re.escape(_MANIFEST)}(\.new)?|documents|repeats|counts-\d+|background|round-\d+|removed|output"
)
#: What Spark makes in a folder of output.
_OUTPUT = re.compile(r"part-.*|[_.].*")

#: Name of a part file of Spark with text.
_PART = re.compile(r"(part-[^.]*)\.txt(\..*)?")

#: Blobs are compressed already where it pays, and values do not repeat. A row group is held in
#: memory, and a few blobs fill one, so its size is limited and checked from the first row on.
_OPTIONS = {
    "compression": "none",
    "parquet.enable.dictionary": "false",
    "parquet.block.size": str(8 << 20),
    "parquet.block.size.row.check.min": "1",
}


class Folders:
    """Operations on Spark's file systems: `file:`, `hdfs:`, `s3a:` and others."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = getattr(spark, "_jvm", None)
        if self._jvm is None:
            raise ParameterError(
                Message(
                    "The '{parameter}' session must be a classic one, not of Spark Connect. Start "
                    "the program with spark-submit, or name a --master.",
                    parameter="spark",
                )
            )
        self._settings = spark._jsc.hadoopConfiguration()

    def _open(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._settings), place

    def find_roots(self, path: str) -> list[str]:
        """Return the full names of a file or folder, or of what a pattern matches."""
        system, place = self._open(path)
        if system.exists(place):
            return [str(system.makeQualified(place).toString())]
        return [str(root.getPath().toString()) for root in system.globStatus(place) or []]

    def qualify_name(self, path: str) -> str:
        """Return a path with its file system, whether or not there is anything."""
        system, place = self._open(path)
        return str(system.makeQualified(place).toString())

    def list_names(self, path: str) -> list[str]:
        """Return the names of all that is in a folder; none if there is no folder."""
        system, place = self._open(path)
        if not system.exists(place):
            return []
        return sorted(str(status.getPath().getName()) for status in system.listStatus(place))

    def find_other_file(self, path: str) -> str | None:
        """Return the name of something in a folder that Spark did not write there, if any."""
        system, place = self._open(path)
        if not system.exists(place) or not system.getFileStatus(place).isDirectory():
            return None
        return next((name for name in self.list_names(path) if not _OUTPUT.fullmatch(name)), None)

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder."""
        system, place = self._open(path)
        return bool(system.exists(place))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with its content."""
        system, place = self._open(path)
        system.delete(place, True)

    def move(self, path: str, to: str) -> None:
        """Rename a file or folder."""
        system, place = self._open(path)
        if not system.rename(place, self._open(to)[1]):
            raise InputError(
                Message(
                    "{file}: {before} cannot be renamed to this.",
                    code="cannot_be_written",
                    file=to,
                    before=path,
                )
            )

    def name_parts(self, path: str) -> None:
        """Name Spark's part files of text by what they are: JSON lines. The ending of a compression
        follows."""
        for name in self.list_names(path):
            match = _PART.fullmatch(name)
            if match:
                self.move(f"{path}/{name}", f"{path}/{match[1]}.jsonl{match[2] or ''}")

    def read(self, path: str) -> str:
        """Return the text of a small file."""
        system, place = self._open(path)
        stream = system.open(place)
        try:
            tools = self._jvm.org.apache.hadoop.io.IOUtils
            return bytes(tools.readFullyToByteArray(stream)).decode()
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Write a small file."""
        system, place = self._open(path)
        stream = system.create(place, True)
        try:
            stream.write(bytearray(text.encode(errors="backslashreplace")))
        finally:
            stream.close()

    def list_files(self, path: str) -> list[str]:
        """Return the files that a path, a pattern or a folder names, in order."""
        system, place = self._open(path)
        if system.exists(place):
            roots = [system.getFileStatus(place)]
        else:
            roots = list(system.globStatus(place) or [])
        files: list[str] = []
        for root in roots:
            files.extend(self._list_below(system, root))
        if not files:
            raise InputError(
                Message(
                    "{file}: no such file, or a folder without files.",
                    code="no_such_file",
                    file=path,
                )
            )
        return files

    def _list_below(self, system: Any, status: Any) -> list[str]:
        if not status.isDirectory():
            return [str(status.getPath().toString())]
        entries = [(e.getPath().getName(), e) for e in system.listStatus(status.getPath())]
        # Spark ignores these names, too.
        named = sorted((name, e) for name, e in entries if not name.startswith(("_", ".")))
        return [file for _, entry in named for file in self._list_below(system, entry)]


class Stage:
    """The blobs of a complete stage, in a folder for each kind."""

    def __init__(self, spark: SparkSession, path: str, names: Sequence[str]) -> None:
        self.spark = spark
        self._path = path
        self._names = set(names)

    def has(self, kind: str) -> bool:
        """Return whether there are blobs of a kind."""
        return f"kind={kind}" in self._names

    def read_rows(self, *kinds: str) -> DataFrame:
        """Return the blobs of some kinds as rows whose size Spark knows."""
        schema = convert_schema(SCHEMA)
        folders = [f"kind={kind}" for kind in kinds if self.has(kind)]
        if not folders:
            return self.spark.createDataFrame([], schema)
        reader = self.spark.read.schema(schema).option("basePath", self._path)
        return reader.parquet(*(f"{self._path}/{name}" for name in folders)).select(*SCHEMA.names)

    def read_blobs(self, *kinds: str) -> RDD[Blob]:
        """Return the blobs of some kinds."""
        return make_rdd(self.read_rows(*kinds))


class Checkpoint:
    """The checkpoint folder of one job; InputError if it has stages of another one."""

    def __init__(self, spark: SparkSession, path: str, run: dict[str, Any]) -> None:
        self._spark = spark
        self.path = path.rstrip("/")
        self._folders = Folders(spark)
        place = f"{self.path}/{_MANIFEST}"
        wanted = manifest(_LAYOUT, run)
        if not self._folders.exists(place):
            self._refuse_others()
            # Written to another name and then renamed, so that it is either complete or absent.
            self._folders.write(f"{place}.new", json.dumps(wanted, ensure_ascii=False))
            self._folders.move(f"{place}.new", place)
            return
        try:
            stored = dict(json.loads(self._folders.read(place)))
        except (ValueError, TypeError):
            raise change_error(self.path, place) from None
        check_manifest(stored, wanted, self.path, "checkpoint")

    def _refuse_others(self) -> None:
        """Refuse a folder with files of other programs, before writing to it."""
        others = [
            name for name in self._folders.list_names(self.path) if name != f"{_MANIFEST}.new"
        ]
        if others:
            raise InputError(
                Message(
                    "{folder}: must be empty or the checkpoint of an earlier run, but contains "
                    "{found}. Name another one with {given[checkpoint]}.",
                    code="work_folder_of_another_run",
                    folder=self.path,
                    found=others[0],
                )
            )

    def has(self, name: str) -> bool:
        """Return whether a stage is complete."""
        return self._folders.exists(f"{self.path}/{name}/_SUCCESS")

    def store_table(self, name: str, frame: DataFrame) -> DataFrame:
        """Return the rows of a stage; computes `frame` unless the stage is complete."""
        path = self._write(name, frame)
        # With the schema given, Spark need not run a job to find it.
        return self._spark.read.schema(frame.schema).parquet(path)

    def store_stage(self, name: str, blobs: RDD[Blob] | DataFrame) -> Stage:
        """Return the blobs of a stage; computes them unless the stage is complete."""
        from pyspark.sql import DataFrame

        rows = blobs
        if not isinstance(rows, DataFrame):
            rows = self._spark.createDataFrame(rows, convert_schema(SCHEMA), verifySchema=False)
        path = self._write(name, rows, "kind")
        return Stage(self._spark, path, self._folders.list_names(path))

    def _write(self, name: str, frame: DataFrame, *by: str) -> str:
        """Write a stage unless it is complete, and return its folder."""
        assert _MADE.fullmatch(name.partition("/")[0]), f"{name} would not be removed"
        path = f"{self.path}/{name}"
        if not self.has(name):
            frame.write.mode("overwrite").options(**_OPTIONS).parquet(path, partitionBy=[*by])
        return path

    def remove(self) -> None:
        """Remove what the job made, and the folder if nothing else is in it."""
        names = self._folders.list_names(self.path)
        for name in filter(_MADE.fullmatch, names):
            self._folders.remove(f"{self.path}/{name}")
        if all(map(_MADE.fullmatch, names)):
            self._folders.remove(self.path)
