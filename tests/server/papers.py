"""Papers for the service: good ones, and such as were made to do harm."""

import io
import itertools
import zipfile

from tests.readers.making import docx, paragraph, pdf, repacked, zipped
from tests.waiting import until

LONG = (
    "河口的旧灯塔今年春天重新点亮，看守人每晚七点上楼，清晨六点下来，记下过往船只的数目。"
    "镇上的孩子们每到周末就来听他讲从前的风暴，以及那条再也没有回来的渔船。"
)
OWN = "本文考察沿海小镇的照明设施，材料来自三次走访，分析方法见第二节。"


def send(client, data, name="paper.txt", library="index", **fields):
    """Send a paper and return the answer."""
    if isinstance(data, str):
        data = data.encode()
    return client.post(
        "/v1/check", files={"file": (name, data)}, data={"library": library, **fields}
    )


def wait(client, answer):
    """Return the last state of a check that was accepted."""
    assert answer.status_code == 202, answer.text

    def last():
        state = client.get(answer.json()["status"])
        assert state.status_code == 200, state.text
        return state.json() if state.json()["state"] in ("done", "failed") else None

    return until(last, "the check to end")


def archive(*members):
    """Make a zip of names, or of names and contents."""
    return zipped(dict(one if isinstance(one, tuple) else (one, b"x") for one in members))


def bomb(size):
    """Make a Word document of some kilobytes, whose text takes `size` bytes."""
    begin, end = paragraph("A").split("A")
    good = zipfile.ZipFile(io.BytesIO(docx(begin + "A" + end)))
    out, piece = io.BytesIO(), b"A" * (1 << 20)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for name in good.namelist():
            before, letter, after = good.read(name).partition(b">A<")
            with made.open(name, "w") as member:
                member.write(before)
                if letter:
                    member.write(b">")
                    for _ in range(size // len(piece)):
                        member.write(piece)
                    member.write(b"<")
                member.write(after)
    return out.getvalue()


def entities():
    """Make a Word document with entities of entities: a hundred million letters."""
    names = "abcdefghi"
    made = ['<!ENTITY a "lol">']
    made += [
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in itertools.pairwise(names)
    ]
    doctype = f"<!DOCTYPE d [{''.join(made)}]>".encode()
    change = [(b"<w:document ", doctype + b"<w:document "), (b">x<", b">&i;<")]
    return repacked(docx(paragraph("x")), change=change)


def encrypted_pdf():
    """Make a PDF that asks for a password."""
    lock = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32 + b"> /U <"
        b"" + b"42" * 32 + b"> >> /ID [<00><00>] "
    )
    return pdf([[(90, 700, 12, LONG[:20])]]).replace(b"/Root 1 0 R", lock + b"/Root 1 0 R")


#: What no text can be had of: a name, the file, and what the refusal says.
REFUSED = {
    "picture": ("a.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture (PNG)"),
    "renamed picture": ("论文.docx", b"\xff\xd8\xff\xe0" + bytes(100), "a picture (JPEG)"),
    "encrypted pdf": ("a.pdf", encrypted_pdf(), "an encrypted PDF"),
    "damaged pdf": ("a.pdf", b"%PDF-1.7\n" + b"\0" * 2000, "a damaged file"),
    "pdf without text": ("a.pdf", pdf([[]]), "1 page of pictures"),
    "zip": ("a.docx", archive("a.txt"), "must be"),
    "paths in a zip": (
        "a.docx",
        archive("../../../../tmp/word/x", "/etc/passwd", "C:\\boot.ini"),
        "must be",
    ),
    "zip bomb": ("a.docx", bomb(300 << 20), "must"),
    "entities": ("a.docx", entities(), "must"),
    "program": ("a.txt", b"\x7fELF" + bytes(range(256)) * 20, "binary data"),
    "database": ("a.txt", b"SQLite format 3\0" + bytes(100), "binary data"),
    "gzip": ("a.txt.gz", b"\x1f\x8b\x08\0" + bytes(50), "compressed data"),
    "zeros": ("a.txt", bytes(5000), "binary data"),
    "only spaces": ("a.txt", b" \n\t\n " * 50, "must have text"),
}
