"""What a run reads and what it writes are apart: by path, by link, by folder, by address."""

import os
from pathlib import Path

import pytest

from neardup import OutputError, ParameterError
from neardup.writers.output_conflicts import refuse_input_as_output


@pytest.fixture(autouse=True)
def _tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.jsonl", "in/deep/b.jsonl", "other/c.jsonl", "d.jsonl", "crawl.zip"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}\n")
    os.link("in/deep/b.jsonl", "hard.jsonl")
    os.symlink("in", "linked")
    os.symlink("d.jsonl", "soft.jsonl")
    os.symlink("../d.jsonl", "other/to-d.jsonl")
    os.mkfifo("pipe")


BOTH = [
    ("d.jsonl", "d.jsonl"),
    ("d.jsonl", "./in/../d.jsonl"),
    ("d.jsonl", "soft.jsonl"),
    ("soft.jsonl", "d.jsonl"),
    ("in/deep/b.jsonl", "hard.jsonl"),
    ("in", "hard.jsonl"),
    ("other", "d.jsonl"),
    ("*.jsonl", "d.jsonl"),
    ("in/**/b*", "hard.jsonl"),
    ("d.jsonl", "file://{here}/d.jsonl"),
    ("file:{here}/d.jsonl", "d.jsonl"),
    ("crawl.zip", "crawl.zip"),
    ("crawl.zip/a/b.txt", "crawl.zip"),
    ("*.zip", "./crawl.zip"),
    ("file://{here}/*.jsonl", "d.jsonl"),
    ("s3://b/a.jsonl", "s3://b/a.jsonl"),
    ("s3a://b/x/../a.jsonl", "S3://b//a.jsonl/"),
]
INSIDE = [
    ("in", "in/new.jsonl"),
    ("in", "linked/deep/new.jsonl"),
    ("linked", "in/no/such/folder/new.jsonl"),
    ("i*", "in/new.jsonl"),
    ("in/**", "in/deep/new.jsonl"),
    (".", "new.jsonl"),
    ("crawl.zip", "crawl.zip/new.jsonl"),
    ("s3://b/dump/", "s3://b/dump/part/new.jsonl"),
    ("gs://b", "gcs://b/new.jsonl"),
]
APART = [
    ("d.jsonl", "new.jsonl"),
    ("in", "other/new.jsonl"),
    ("in", "in.jsonl"),
    ("in/*.jsonl", "in/new.jsonl"),
    ("no/such/*.jsonl", "d.jsonl"),
    ("-", "-"),
    ("d.jsonl", None),
    ("pipe", "pipe"),
    ("/dev/null", "/dev/null"),
    ("s3://b/dump", "s3://b/dump.jsonl"),
    ("s3://b/dump", "gs://b/dump/a.jsonl"),
    ("http://host/a.jsonl", "a.jsonl"),
    ("n" * 5000, "d.jsonl"),
]


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        *((pair, "must not be both input and output") for pair in BOTH),
        *((pair, "must not be inside") for pair in INSIDE),
    ],
)
def test_output_among_the_inputs_is_refused(pair, words):
    source, output = (name.replace("{here}", os.getcwd()) for name in pair)
    for files, folders in (([output], []), ([], [output])):
        with pytest.raises(OutputError, match=words) as caught:
            refuse_input_as_output(["no.jsonl", source], files, folders)
        assert output.removeprefix("file://") in str(caught.value)


@pytest.mark.parametrize(
    ("number", "source", "output"),
    [(0, "-", "d.jsonl"), (0, "-", "soft.jsonl"), (1, "d.jsonl", "-"), (1, "in", "-")],
)
def test_standard_stream_counts_as_its_file(number, source, output):
    """As the shell makes it: `< d.jsonl`, `>> d.jsonl`."""
    name = "in/a.jsonl" if source == "in" else "d.jsonl"
    before = os.dup(number)
    try:
        refuse_input_as_output(["no.jsonl", source], [output])
        with open(name, "r+b") as file:
            os.dup2(file.fileno(), number)
        with pytest.raises(OutputError, match="must not be both input and output"):
            refuse_input_as_output(["no.jsonl", source], [output])
    finally:
        os.dup2(before, number)
        os.close(before)


@pytest.mark.parametrize(("source", "output"), APART)
def test_separate_files_are_accepted(source, output):
    refuse_input_as_output([source], [output])


@pytest.mark.parametrize(
    ("source", "folder"),
    [("in/a.jsonl", "in"), ("in", "."), ("d.jsonl", "linked/.."), ("s3://b/x/a", "s3a://b/x")],
)
def test_emptied_folder_must_not_contain_an_input(source, folder):
    with pytest.raises(OutputError, match="must not contain"):
        refuse_input_as_output([source], [], [folder])
    # A file has none, whatever its name: what opens it says so.
    refuse_input_as_output([source], [folder])


@pytest.mark.parametrize(
    ("files", "folders", "words"),
    [
        (["o", "./o"], [], r"^\./o: must be one output only"),
        (["-", "-"], [], r"^-: must be one output only"),
        (["work/o"], ["work"], r"^work: must be a folder without other outputs"),
        ([], ["s3://b/kept", "s3://b/kept/removed"], "without other outputs"),
    ],
)
def test_outputs_are_apart_from_each_other(files, folders, words):
    with pytest.raises(ParameterError, match=words):
        refuse_input_as_output([], files, folders)
    refuse_input_as_output([], [None, None, "out/a", "out/b"], ["work", None])


def test_pattern_at_an_address_is_its_matches(bucket):
    bucket.pipe_file("/dump/a.jsonl", b"{}\n")
    with pytest.raises(OutputError, match=r"memory:///dump/a\.jsonl: must not be both"):
        refuse_input_as_output(["memory://dump/*.jsonl"], ["memory://dump/a.jsonl"])
    refuse_input_as_output(["memory://dump/*.jsonl"], ["memory://dump/b.jsonl"])
    # Nobody is asked for its files where no output is there.
    refuse_input_as_output(["nosuch://dump/*.jsonl"], ["memory://dump/b.jsonl"])
