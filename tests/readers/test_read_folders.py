"""Folders and patterns: which files are read, in which order, and what is said of the others."""

import json
import os
import re
import threading

import orjson
import pyarrow as pa
import pytest
from tests.kit.formats import as_arrow, serialize
from tests.readers.making import tarred

from neardup.exceptions import InputError, ParameterError
from neardup.readers import open_sources


def lines(*texts):
    return b"".join(orjson.dumps({"text": text}) + b"\n" for text in texts)


@pytest.fixture
def dump(make):
    """A folder of files of all formats, whose texts are their names."""
    for name in ("a.jsonl", "sub/b.ndjson.gz", "sub/deep/c.json.zst"):
        make(f"dump/{name}", lines(name))
    make("dump/d.parquet", serialize([{"text": "d.parquet"}], "parquet"))
    make("dump/d.parquet.gz", serialize([{"text": "d.parquet.gz"}], "parquet"))
    make("dump/B.csv", "text,n\nB.csv,1\n")
    make("dump/sub.tsv.zst", "n\ttext\n1\tsub.tsv.zst\n")
    return "dump"


SUB = ["sub.tsv.zst", "sub/b.ndjson.gz", "sub/deep/c.json.zst"]
DATA = ["B.csv", "a.jsonl", "d.parquet", "d.parquet.gz", *SUB]


def test_all_formats_in_the_order_of_their_paths(read, dump):
    got = read(dump)
    assert got["texts"] == DATA
    assert got["ids"] == [f"dump/{name}:1" for name in DATA]
    assert (got["problems"], got["problem_lines"], got["notes"]) == ([], [], [])
    assert read("./dump/")["texts"] == DATA
    assert read([dump, "dump/a.jsonl"])["texts"] == [*DATA, "a.jsonl"]


def test_files_of_text_among_data_files(read, make, dump):
    make("dump/b.txt", "b.txt")
    make("dump/sub/c.html", "<html><body><p>sub/c.html</p></body></html>")
    make("dump/sub/c.txt", "sub/c.txt")
    got = read(dump)
    texts = ["b.txt", "sub/c.html", "sub/c.txt"]
    assert got["texts"] == sorted([*DATA, *texts])
    assert [i for i in got["ids"] if not i.endswith(":1")] == texts
    assert got["notes"] == [
        "dump: read as 7 data files and 3 text files; each text file is one document."
    ]
    # Two folders may hold files of one name.
    make("other/b.txt", "other")
    assert {"dump/b.txt", "other/b.txt"} < set(read([dump, "other"])["ids"])


def test_documentation_beside_data_files_is_passed_over(read, make, dump):
    for name in ("README.md", "readme_zh.txt", "LICENSE-MIT.txt", "说明.txt"):
        make(f"dump/{name}", name)
    make("dump/sub/CHANGELOG.md")
    make("dump/sub/Datasheet.pdf")
    got = read(dump)
    assert (got["texts"], got["problems"]) == (DATA, [])
    assert got["notes"] == [
        "dump: 6 documentation files next to data files are skipped: dump/LICENSE-MIT.txt,"
        " dump/README.md, dump/readme_zh.txt, …. To read them, name them as inputs."
    ]
    assert read("dump/README.md")["texts"] == ["README.md"]
    assert read([dump, "dump/README.md"])["texts"] == [*DATA, "README.md"]
    assert read("dump/*.md")["texts"] == ["README.md"]
    # In a folder of texts it is a text.
    make("texts/README.md", "README.md")
    make("texts/a.txt", "a.txt")
    assert read("texts")["texts"] == ["README.md", "a.txt"]
    assert "README.md" in read(dump, format="text")["ids"]
    # Names that only begin like those of documentation.
    make("dump/noticeboard.txt", "noticeboard")
    make("dump/securities.txt", "securities")
    assert {"noticeboard", "securities"} < set(read(dump)["texts"])


@pytest.fixture
def saved(make):
    """A folder as Hugging Face's `save_to_disk` makes it, of the splits train and test."""
    features = {name: {"dtype": "string", "_type": "Value"} for name in ("id", "text")}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    make("set/dataset_dict.json", b'{"splits": ["train", "test"]}')
    for split, shards in (("train", 2), ("test", 1)):
        files = [f"data-{i:05}-of-{shards:05}.arrow" for i in range(shards)]
        for name in files:
            table = pa.table({"id": [name], "text": [f"{split} {name}"]})
            made = as_arrow(table.replace_schema_metadata(metadata), "arrows")
            make(f"set/{split}/{name}", made)
        state = {"_data_files": [{"filename": name} for name in files], "_split": split}
        make(f"set/{split}/state.json", json.dumps(state))
        make(f"set/{split}/dataset_info.json", b'{"description": ""}')
    return "set"


TRAIN = [f"train data-0000{i}-of-00002.arrow" for i in range(2)]


def test_folder_of_a_saved_data_set_is_read_without_its_json_files(read, make, saved):
    got = read(f"{saved}/train")
    assert (got["texts"], got["problems"]) == (TRAIN, [])
    assert got["notes"] == [
        "set/train: 2 documentation files next to data files are skipped:"
        " set/train/dataset_info.json, set/train/state.json. To read them, name them as inputs."
    ]
    # What the library caches in the folder later is not a part of the set.
    make("set/train/cache-cc1b17187b1425dd.arrow", as_arrow(pa.table({"text": ["cached"]})))
    assert read("set/train")["texts"] == TRAIN
    assert read("set/train/cache-*.arrow")["texts"] == ["cached"]
    got = read(saved)
    assert (got["texts"], got["problems"]) == (["test data-00000-of-00001.arrow", *TRAIN], [])
    assert (
        "set: the splits test, train are read as one input. To read one, name its folder: set/test."
    ) in got["notes"]


def test_folder_of_a_published_data_set_is_read_without_its_card(read, make):
    for split in ("test", "train"):
        make(f"hub/data/{split}-00000-of-00001.parquet", serialize([{"text": split}], "parquet"))
    make("hub/README.md", "---\ndataset_info: {}\n---\n")
    make("hub/dataset_infos.json", b"{}")
    got = read("hub")
    assert (got["texts"], got["problems"]) == (["test", "train"], [])
    # Data of these names is data.
    make("states/state.json", lines("a state"))
    make("states/zip.json", lines("a zip"))
    assert read("states")["texts"] == ["a state", "a zip"]
    make("info/dataset_info.json", lines("an info"))
    assert read("info")["texts"] == ["an info"]


def test_files_of_spark_and_desktops_are_ignored(read, make, dump):
    for name in (
        *(".a.jsonl.crc", "_SUCCESS", "_metadata", "x.crc", "_temporary/0/t.jsonl"),
        *(".hidden/h.jsonl", "_delta_log/000.json", "__MACOSX/m.jsonl", "Thumbs.db"),
        *("desktop.ini", "~$a.docx", "work/neardup-work.json", "work/inner/w.jsonl"),
    ):
        make(f"dump/{name}", lines("no"))
    for inputs in (dump, "dump/**", "dump/*"):
        got = read(inputs)
        assert got["texts"] == DATA
        assert (got["problems"], got["notes"]) == ([], [])


def test_other_files_are_counted(read, make, dump):
    for name in ("a.png", "b.PNG", "c.log", "Makefile", "d.png.gz"):
        make(f"dump/{name}", "x")
    got = read(dump)
    assert got["problems"] == []
    assert got["notes"] == [
        "dump: 5 files of other formats are skipped: 1 .log, 3 .png, 1 without extension"
        " (Makefile, a.png, b.PNG, …)."
    ]


@pytest.mark.parametrize(
    "name", ["a.xml", "b.jsonl.lz4", "c.rar", "d.xlsx", "e.doc", "part-00000", "f.gz"]
)
def test_data_of_unknown_format_is_a_problem(read, make, dump, name):
    make(f"dump/sub/{name}", "x")
    got = read(dump)
    assert got["texts"] == DATA
    said = f"dump/sub/{name}: skipped: the format is not read."
    assert list(map(str, got["problems"])) == [said]


def test_unusable_data_files_are_problems(read, make, dump):
    make("dump/array.json", b'[{"text": "a"}]')
    make("dump/labels.csv", "id,label\n1,x\n")
    make("dump/urls.jsonl", '{"url":"u"}\n')
    make("dump/short.parquet", b"PAR1 and no more")
    make("dump/b.txt", "b")
    make("dump/empty.parquet", b"")
    make("dump/numbers.parquet", serialize([{"text": 1}], "parquet"))
    os.symlink("nowhere", "dump/broken.jsonl")
    os.symlink("itself.jsonl", "dump/itself.jsonl")
    got = read(dump)
    assert got["texts"] == sorted([*DATA, "b"])
    assert got["notes"] == [
        "dump: read as 7 data files and 1 text file; each text file is one document."
    ]
    reasons = {problem.source: str(problem) for problem in got["problems"]}
    expected = {
        "array.json": "Convert it with: jq -c '.[]' dump/array.json",
        "broken.jsonl": "no such file",
        "empty.parquet": "",
        "itself.jsonl": "too many levels of symbolic links",
        "labels.csv": "must have a text column",
        "numbers.parquet": "must hold text",
        "short.parquet": "",
        "urls.jsonl": "must have a text field",
    }
    assert list(reasons) == [f"dump/{name}" for name in expected]
    for name, words in expected.items():
        assert reasons[f"dump/{name}"].startswith(f"dump/{name}: skipped: ")
        assert words in reasons[f"dump/{name}"]


def test_data_without_permission_is_a_problem(read, make, dump, request):
    os.chmod(make("dump/x.jsonl", lines("x")), 0)
    request.getfixturevalue("as_anybody")
    got = read(dump)
    assert got["texts"] == DATA
    assert [str(p) for p in got["problems"]] == ["dump/x.jsonl: skipped: permission denied."]


def test_field_missing_in_all_data_files_is_refused(make):
    make("dump/b.csv", "headline\nx\n")
    make("dump/a.jsonl", lines("a"))
    make("dump/c.txt", "c")
    with pytest.raises(InputError) as caught:
        open_sources(["dump"], text_field="txt")
    assert str(caught.value) == (
        "dump/a.jsonl: must have a text field 'txt'. Got 1 record with 'text' instead."
        " Name the field with text_field=. Did you mean 'text'?"
    )


def test_extra_fields_with_problems_of_a_folder(read, make):
    make("dump/a.jsonl", lines("a"))
    make("dump/b.xml", "x")
    got = read("dump", extra_fields=["n"])
    assert (got["texts"], got["extra"]) == (["a"], {"n": [None]})
    assert len(got["problems"]) == 1


def test_a_format_chooses_the_files_of_a_folder(read, make, dump):
    make("dump/part-00000", lines("part-00000"))
    make("dump/README", "no")
    make("dump/x.dat", lines("x.dat"))
    got = read(dump, format="jsonl")
    assert got["texts"] == ["a.jsonl", "part-00000", "sub/b.ndjson.gz", "sub/deep/c.json.zst"]
    assert got["problems"] == []
    assert got["notes"] == [
        "dump: 6 files of other formats are skipped: 1 .csv, 1 .dat, 2 .parquet, 1 .tsv,"
        " 1 without extension (B.csv, README, d.parquet, …)."
    ]
    assert read("dump/*.dat", format="jsonl")["texts"] == ["x.dat"]
    with pytest.raises(
        InputError, match=r"^dump/\*\.dat: must contain files with a known extension"
    ):
        open_sources(["dump/*.dat"])
    make("groups/space/49960", "a text")
    assert read("groups", format="text")["ids"] == ["space/49960"]


PROGRAM = "def ferry(harbour):\n    return harbour + 1\n"


@pytest.fixture
def sources(make):
    """A folder of source code in several encodings, with files that a program makes."""
    make("src/a.py", PROGRAM)
    make("src/sub/b.c", "/* 渡口 */\nint main() { return 0; }\n".encode("gb18030"))
    make("src/sub/c.h", "// 渡口".encode("utf-16"))
    make("src/d.js.gz", "let a = 1;")
    make("src/pom.xml", "<project/>")
    make("src/made.pyc", b"\xa7\r\r\n\0\0\0\0")
    make("src/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    make("src/table.csv", "text\nx\n")
    make("src/.git/config", "no")
    return "src"


CODE = ["a.py", "d.js.gz", "pom.xml", "sub/b.c", "sub/c.h"]


def test_format_text_reads_any_text_of_a_folder(read, make, sources):
    got = read(sources, format="text")
    assert (got["ids"], got["problems"]) == (CODE, [])
    assert got["texts"][0] == PROGRAM
    assert all("渡口" in text for text in got["texts"][3:])
    assert got["notes"][0] == (
        "src: 3 files of other formats are skipped: 1 .csv, 1 .png, 1 .pyc"
        " (logo.png, made.pyc, table.csv)."
    )
    make("archive.tar", tarred({"a.py": PROGRAM.encode(), "b.bin": bytes(9)}))
    assert read("archive.tar", format="text")["ids"] == ["archive.tar/a.py"]
    assert read("src/a.py", format="text")["texts"] == [PROGRAM]


@pytest.mark.usefixtures("sources")
def test_unknown_text_is_refused_or_noted_with_the_format_to_name(read, make):
    make("code/a.py", PROGRAM)
    for name in ("code", "src/*.py", "src/a.py"):
        with pytest.raises(InputError if name != "src/a.py" else ParameterError) as caught:
            open_sources([name])
        assert re.search(r"format='text'.*any text|any text.*format='text'", str(caught.value))
    make("code/README.md", "about")
    got = read("code")
    assert got["ids"] == ["README.md"]
    assert got["notes"][-1] == "code: to read any text, use format='text'."
    # Next to data, other texts are not documents.
    make("code/data.jsonl", lines("a record"))
    assert not any("any text" in note for note in read("code")["notes"])


PATTERNS = {
    "dump/**/*.jsonl*": ["a.jsonl"],
    "dump/**/*.*son*": ["a.jsonl", *SUB[1:]],
    "dump/**": DATA,
    "dump/**/*": DATA,
    "dump/*": DATA,
    "*": DATA,
    "**/*.gz": ["d.parquet.gz", "sub/b.ndjson.gz"],
    "**/deep/**/*.zst": ["sub/deep/c.json.zst"],
    "dump/[a-c].*": ["a.jsonl"],
    "./d?mp/sub/": SUB[1:],
    "dump/s*": SUB,
}


@pytest.mark.parametrize(("pattern", "texts"), PATTERNS.items())
@pytest.mark.usefixtures("dump")
def test_patterns(read, tmp_path, pattern, texts):
    assert read(pattern)["texts"] == texts
    got = read(f"{tmp_path}/{pattern}")
    assert got["texts"] == texts
    assert all(name.startswith(f"{tmp_path}/") for name in got["ids"])


def test_ids_of_texts_of_a_pattern_have_their_folders(read, make):
    make("a/x.txt", "1")
    make("b/x.txt", "2")
    assert read("*/x.txt")["ids"] == ["a/x.txt", "b/x.txt"]
    # The same whether one folder matches or two.
    assert read("a*")["ids"] == ["a/x.txt"]


@pytest.mark.parametrize("pattern", ["dump/*.jsonl", "nowhere/**/*.jsonl*", "dump/?", "x[1].jsonl"])
def test_a_pattern_without_matches(make, pattern):
    make("dump/aa.csv", "text\na\n")
    with pytest.raises(InputError) as caught:
        open_sources([pattern])
    assert str(caught.value) == f"{pattern}: no file matches this pattern."


def test_file_named_like_a_pattern_is_read(read, make):
    for name in ("news[1].jsonl", "a*.jsonl", "what?.jsonl"):
        make(name, lines(name))
    make("news1.jsonl", lines("no"))
    make("ab.jsonl", lines("no"))
    for name in ("news[1].jsonl", "a*.jsonl", "what?.jsonl"):
        assert read(name)["texts"] == [name]


def test_links_to_folders_are_not_followed_and_named(read, dump):
    os.symlink("..", "dump/sub/loop")
    os.symlink(".", "dump/self")
    for inputs in (dump, "dump/**"):
        got = read(inputs)
        assert got["texts"] == DATA
        assert got["notes"] == [
            f"{inputs}: 2 links to folders are not followed: dump/self, dump/sub/loop."
            " To read them, name them as inputs."
        ]
    assert read("dump/**/*.csv")["texts"] == ["B.csv"]
    os.symlink("dump", "link")
    assert read("link")["texts"] == DATA


@pytest.mark.usefixtures("dump")
def test_pipes_in_a_folder_are_no_files(read):
    os.mkfifo("dump/pipe.jsonl")
    os.mkfifo("dump/pipe.txt")
    results = []
    # A pipe that is opened waits for ever.
    thread = threading.Thread(target=lambda: results.append(read("dump")), daemon=True)
    thread.start()
    thread.join(60)
    (got,) = results
    assert got["texts"] == DATA
    assert got["notes"][-1] == (
        "dump: 2 links, pipes, sockets or devices are skipped: dump/pipe.jsonl, dump/pipe.txt."
    )
    got = read("dump/**/*.jsonl")
    assert got["texts"] == ["a.jsonl"]
    assert got["notes"][-1].endswith(
        ": 1 link, pipe, socket or device is skipped: dump/pipe.jsonl."
    )


def test_only_text_in_folders(read, make, dump):
    make("dump/README.md", "README.md")
    make("dump/LICENSE", "no")
    got = read(dump, only_text_in_folders=True)
    assert (got["ids"], got["texts"]) == (["README.md"], ["README.md"])
    assert got["notes"] == [
        "dump: 8 files of other formats are skipped: 1 .csv, 1 .json, 1 .jsonl, 1 .ndjson,"
        " 2 .parquet, 1 .tsv, … (B.csv, LICENSE, a.jsonl, …)."
    ]
    assert read("dump/a.jsonl", only_text_in_folders=True)["texts"] == ["a.jsonl"]
