"""Notes: which of them a report tells, what they say, and in both languages."""

import copy
import pickle

import pytest
from tests.index.written import letters
from tests.readers.making import column, docx, paragraph, pdf, run

from neardup import check
from neardup.base.messages import Message, in_language
from neardup.papers import open_library
from neardup.papers.paper_inputs import passed_over
from neardup.papers.report.notes import apart, shown_notes, why_unread
from neardup.papers.report.words import load_words
from neardup.readers import UnreadableFileError, read_bytes

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
def test_what_readers_say_is_said_in_both_languages(key):
    notes = read_bytes(*FILES[key]).notes
    assert f"readers.{key}" in {one.code for one in notes}
    for note in notes:
        assert is_chinese(in_language(note, "zh"))
        assert in_language(note, "en") == note


REFUSED = [
    ("bad_doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc"),
    ("bad_rtf", b"{\\rtf1 x}", "a.rtf"),
    ("bad_docx_cut", docx(paragraph(TEXT))[:300], "a.docx"),
    ("bad_pdf", b"%PDF-1.7 broken", "a.pdf"),
    ("bad_scanned", pdf([[], []]), "a.pdf"),
    ("bad_scanned", pdf([[]]), "a.pdf"),
    ("bad_picture", b"\x89PNG\r\n", "a.png"),
    ("bad_other", b"\x7fELF", "a"),
]


@pytest.mark.parametrize(("key", "data", "name"), REFUSED)
def test_why_a_file_is_refused_is_said_beside_its_name(key, data, name):
    with pytest.raises(UnreadableFileError) as error:
        read_bytes(data, name)
    assert error.value.code == f"readers.{key}"
    why = why_unread(error.value.args[0], load_words("zh"))
    assert is_chinese(why)
    assert not why.startswith(name)
    assert why_unread(error.value.args[0], load_words("en")).startswith("Must ")


def test_a_note_is_its_sentence():
    note = Message("papers.more_sources", count=1200)
    assert note == "1,200 more sources are not listed; their passages are counted."
    for other in (pickle.loads(pickle.dumps(note)), copy.deepcopy(note)):
        assert (other, other.code, other.values) == (note, note.code, note.values)
        assert in_language(other, "zh") == in_language(note, "zh")


def read_as(encoding, certainty):
    said = Message(f"readers.certainty_{certainty}")
    return Message("readers.read_as", encoding=encoding, certainty=said)


def test_encodings_are_told_of_where_they_were_guessed():
    guessed = Message("readers.of_file", file="a.txt", said=read_as("gb18030", "guessed"))
    likely = Message(
        "readers.of_files", file="a.txt", count=2, more=2, said=read_as("big5", "likely")
    )
    notes = [read_as("gb18030", "likely"), guessed, likely, "It rains."]
    notes.append(read_as("utf-16-le", "certain"))
    assert shown_notes(notes) == [guessed, "It rains."]


def test_what_all_have_is_apart():
    assert apart([["a", "b"], ["c", "a"]]) == (["a"], [["b"], ["c"]])
    assert apart([["a"]]) == ([], [["a"]])
    assert apart([]) == ([], [])


def test_nothing_to_check(make):
    make("library/a.txt", letters_of(50))
    report = check(make("paper.txt", "。\n"), "library")
    assert [note.code for note in report.notes] == ["papers.no_letters"]
    paper = make("other.txt", letters_of(40))
    report = check(paper, "library", exclude=paper)
    assert [note.code for note in report.notes] == ["papers.all_excluded"]


def test_nothing_to_check_against(make):
    paper = make("paper.txt", letters_of(40))
    make("empty/a.txt", "。")
    report = check(paper, "empty")
    assert [note.code for note in report.notes] == ["papers.empty_library"]
    assert in_language(report.notes[0], "zh") in report.to_html()


def test_unreadable_documents_of_a_library_are_named(make):
    for at in range(5):
        make(f"library/{at}.pdf", b"%PDF-1.7 broken")
    with open_library("library") as library:
        (note,) = library.notes
    names = ", ".join(f"library/{at}.pdf" for at in range(3))
    assert note == f"5 documents of the library could not be read: {names}, ...."
    assert names in in_language(note, "zh")


def test_what_is_passed_over_in_folders(make):
    for name in ("a.txt", "b.jpg", "c.JPG", "d", "e.doc"):
        make(f"papers/{name}", "x")
    (note,) = passed_over(["papers", "papers/a.txt"])
    assert note == "papers: 3 files of other formats are skipped: 2 .jpg, 1 ?."
    assert is_chinese(in_language(note, "zh"))


def letters_of(count):
    import random

    return letters(random.Random(3), count)
