"""Notes: the sentences of the readers are known, and are said in both languages."""

import copy
import pickle

import pytest
from tests.index.written import letters
from tests.readers.making import column, docx, paragraph, pdf, run

from neardup import check
from neardup.papers import open_library
from neardup.papers.given import passed_over
from neardup.papers.notes import Note, apart, in_words, note_of, shown_notes
from neardup.papers.words import load_words
from neardup.readers import UnreadableFileError, read_bytes

ZH, EN = map(load_words, ("zh", "en"))
TEXT = "本研究于每周六清晨在城北的三个湖泊边记录水鸟的种类与数量，并与前人的记录作比较。"
HIDDEN = "<w:rPr><w:vanish/></w:rPr>"
FILES = {
    "hidden": (docx(f"<w:p>{run(TEXT)}{run('看不见', HIDDEN)}</w:p>"), "a.docx"),
    "pages_blank": (pdf([column([TEXT]), []]), "a.pdf"),
    "nuls": (TEXT.encode() + b"\0", "a.txt"),
    "read_as": ((TEXT * 9).encode("gb18030"), "a.txt"),
    "half": ((TEXT * 9).encode("gb18030")[:-1], "a.txt"),
}


def is_chinese(text):
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize("key", FILES)
def test_what_readers_say_is_known(key):
    notes = [note_of(one) for one in read_bytes(*FILES[key]).notes]
    assert all(notes)
    assert key in {one.key for one in notes}
    for note in notes:
        assert is_chinese(in_words(note, ZH))
        assert in_words(str(note), EN) == note


REFUSED = {
    "bad_doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc"),
    "bad_rtf": (b"{\\rtf1 x}", "a.rtf"),
    "bad_docx_cut": (docx(paragraph(TEXT))[:300], "a.docx"),
    "bad_pdf": (b"%PDF-1.7 broken", "a.pdf"),
    "bad_scanned": (pdf([[], []]), "a.pdf"),
    "bad_scanned_one": (pdf([[]]), "a.pdf"),
    "bad_picture": (b"\x89PNG\r\n", "a.png"),
    "bad_other": (b"\x7fELF", "a"),
}


@pytest.mark.parametrize("key", REFUSED)
def test_why_a_file_is_refused_is_known(key):
    data, name = REFUSED[key]
    with pytest.raises(UnreadableFileError) as error:
        read_bytes(data, name)
    why = str(error.value).removeprefix(f"{name}: ")
    note = note_of(why[0].upper() + why[1:])
    assert note is not None
    assert note.key == key
    assert is_chinese(in_words(note, ZH))


def test_a_note_is_its_sentence():
    note = Note("more_sources", count=1200)
    assert note == "1,200 more sources are not listed; what they have counts."
    for other in (pickle.loads(pickle.dumps(note)), copy.deepcopy(note), note_of(str(note))):
        assert (other, other.key) == (note, note.key)
        assert in_words(other, ZH) == in_words(note, ZH)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("a: b.txt: read as gb18030 (guessed).", "a: b.txt：按 gb18030 编码读取（推测）。"),
        (
            "a.txt and 1 more file: read as big5 (likely).",
            "a.txt 和另外 1 个文件：按 big5 编码读取（很可能正确）。",
        ),
        ("a.txt and 3 more files: it rains.", "a.txt and 3 more files: it rains."),
        ("", ""),
        ("x: " * 400, "x: " * 400),
    ],
)
def test_notes_on_files(sentence, expected):
    assert in_words(sentence, ZH) == expected


def test_encodings_are_told_of_where_they_were_guessed():
    guessed = "a.txt: read as gb18030 (guessed)."
    notes = ["Read as gb18030 (likely).", guessed, "It rains.", "Read as utf-16-le (certain)."]
    assert shown_notes(notes) == [guessed, "It rains."]


def test_what_all_have_is_apart():
    assert apart([["a", "b"], ["c", "a"]]) == (["a"], [["b"], ["c"]])
    assert apart([["a"]]) == ([], [["a"]])
    assert apart([]) == ([], [])


def test_nothing_to_check(make):
    make("library/a.txt", letters_of(50))
    report = check(make("paper.txt", "。\n"), "library")
    assert [note.key for note in report.notes] == ["no_letters"]
    paper = make("other.txt", letters_of(40))
    assert [note.key for note in check(paper, "library", exclude=paper).notes] == ["all_excluded"]


def test_nothing_to_check_against(make):
    paper = make("paper.txt", letters_of(40))
    make("empty/a.txt", "。")
    report = check(paper, "empty")
    assert [note.key for note in report.notes] == ["empty_library"]
    assert in_words(report.notes[0], ZH) in report.to_html()


def test_unreadable_documents_of_a_library_are_named(make):
    for at in range(5):
        make(f"library/{at}.pdf", b"%PDF-1.7 broken")
    with open_library("library") as library:
        (note,) = library.notes
    names = ", ".join(f"library/{at}.pdf" for at in range(3))
    assert note == f"5 documents of the library could not be read: {names}, ...."
    assert names in in_words(note, ZH)


def test_what_is_passed_over_in_folders(make):
    for name in ("a.txt", "b.jpg", "c.JPG", "d", "e.doc"):
        make(f"papers/{name}", "x")
    (note,) = passed_over(["papers", "papers/a.txt"])
    assert note == "papers: 3 files of other formats are passed over: 2 .jpg, 1 ?."
    assert is_chinese(in_words(note, ZH))


def letters_of(count):
    import random

    return letters(random.Random(3), count)
