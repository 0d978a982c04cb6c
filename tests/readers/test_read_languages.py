"""What readers say is data, and is said in Chinese as well as in English."""

import json
import pickle

import pytest
from tests.readers.making import column, docx, paragraph, pdf, run

from neardup.base.messages import Message, in_language
from neardup.readers import Limits, Problem, UnreadableFileError, open_sources, read_bytes
from neardup.readers.grouped_problems import GroupedNotes, GroupedProblems

TEXT = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
HIDDEN = "<w:rPr><w:vanish/></w:rPr>"
REFUSED = [
    ("not_a_document", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc"),
    ("not_a_document", b"{\\rtf1 x}", "a.rtf"),
    ("damaged_file", docx(paragraph(TEXT))[:300], "a.docx"),
    ("not_a_document", docx(paragraph(TEXT))[:300], "a"),
    ("damaged_file", b"%PDF-1.7 broken", "a.pdf"),
    ("no_text_layer", pdf([[], []]), "a.pdf"),
    ("not_a_document", b"\x89PNG\r\n", "a.png"),
    ("not_a_document", b"GIF89a", "a.gif"),
    ("not_a_document", b"\x7fELF", "a"),
    ("not_a_document", bytes(100), "a.txt"),
    ("too_large", pdf([column([TEXT])] * 3), "a.pdf"),
    ("too_large", b"x" * 100_000, "a.txt"),
    ("too_large", docx(paragraph(TEXT)), "a.docx"),
]
LIMITS = Limits(max_pages=2, max_bytes=90_000, max_unpacked_bytes=200)
NOTED = [
    (docx(f"<w:p>{run(TEXT)}{run('看不见', HIDDEN)}</w:p>"), "a.docx"),
    (pdf([column([TEXT]), []]), "a.pdf"),
    (TEXT.encode() + b"\0", "a.txt"),
    ((TEXT * 9).encode("gb18030"), "a.txt"),
    ((TEXT * 9).encode("gb18030")[:-1], "a.txt"),
]


def zh(said):
    return in_language(said, "zh")


def is_chinese(text):
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize(("code", "data", "name"), REFUSED)
def test_refused_files(code, data, name):
    with pytest.raises(UnreadableFileError) as caught:
        read_bytes(data, name, limits=LIMITS)
    error = caught.value
    assert (error.code, error.values["file"]) == (code, name)
    # The sentence and its parts are two ways to say one thing.
    assert str(error) == str(error.problem)
    assert is_chinese(zh(error))
    assert is_chinese(zh(error.problem))
    assert Message.from_dict(json.loads(json.dumps(error.args[0].to_dict()))) == str(error)


@pytest.mark.parametrize(("data", "name"), NOTED)
def test_notes(data, name):
    notes = read_bytes(data, name).notes
    assert notes
    assert all(is_chinese(zh(note)) for note in notes)


def test_notes_on_many_files():
    notes = GroupedNotes()
    note = Message(
        "Read as {encoding} ({certainty}).", encoding="big5", certainty=Message("likely")
    )
    for name in ("a.txt", "b.txt"):
        notes.add(name, [note])
    for at in range(8):
        notes.add(
            "c.txt",
            [
                Message.counted(
                    "{count} NUL character is left out.",
                    "{count} NUL characters are left out.",
                    count=at,
                )
            ],
        )
    lines = notes.lines()
    assert lines[0] == "a.txt and 1 more file: read as big5 (likely)."
    assert zh(lines[0]) == "a.txt 和另外 1 个文件：按 big5 编码读取（很可能正确）。"
    assert zh(lines[1]) == "c.txt：有 0 个空字符（NUL），未计入。"
    assert lines[8].values == {"count": 1}


def test_a_problem_keeps_its_parts(make):
    make("a.jsonl", b'{"text": "x"}\noops\n\xff\n{"text": 7}\n')
    problems = [p for batch in open_sources(["a.jsonl"]).batches() for p in batch.problems]
    assert [p.reason.code for p in problems] == [
        "invalid_json",
        "invalid_utf8",
        "not_a_text",
    ]
    assert zh(problems[1]) == (
        "a.jsonl：第 3 条记录：应为有效的 UTF-8（该记录的第 1 个字节无效），实为 \\xff。"
        "请先转换编码，例如：iconv -f gb18030 -t utf-8。"
    )
    assert zh(problems[2]) == "a.jsonl：第 4 条记录的字段“text”：应为文本，实为 7。"
    for problem in problems:
        for again in (
            pickle.loads(pickle.dumps(problem)),
            Problem.from_dict(json.loads(json.dumps(problem.to_dict()))),
        ):
            assert (again, zh(again)) == (problem, zh(problem))


def test_problems_of_one_kind(make):
    make("a.jsonl", b'{"text": "x"}\n' + b'{"url": 1}\n' * 5 + b"oops\n[}\n")
    for at in range(5):
        make(f"d/{at}.csv", b"id,label\n1,2\n")
    make("d/a.jsonl", b'{"text": "x"}\n')
    grouped = GroupedProblems()
    for batch in open_sources(["a.jsonl", "d"]).batches():
        for problem in batch.problems:
            grouped.add(problem)
    lines = [line for line, _ in grouped.lines()]
    assert sorted(map(zh, lines)) == [
        "5 个文件：未读取：应有文本列 'text', 'content' 或 'body'（d/0.csv、d/1.csv、d/2.csv 等）。"
        "d/0.csv：实为 'id', 'label'。请用 text_field= 指定字段。",
        "a.jsonl：2 条记录应为有效的 JSON（第 7, 8 条）。第 7 条实为 oops。",
        "a.jsonl：5 条记录没有文本字段 'text', 'content' 或 'body'（第 2, 3, 4 条等）。"
        "第 2 条有 'url'。",
    ]
