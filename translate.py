"""Translations: ``python translate.py update | missing | compile``, with Babel.

``update`` puts the sentences of the sources into the Chinese file, ``missing`` lists those that
have no translation, and ``compile`` makes the file that neardup reads. Building compiles too.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

PACKAGE = Path(__file__).parent / "python" / "neardup"
CHINESE = PACKAGE / "base" / "locale" / "zh" / "LC_MESSAGES" / "neardup.po"

#: Functions that take a sentence, and its position.
KEYWORDS = {"Message": (1,), "N_": (1,), "bad": (2,), "counted": (1, 2)}
#: Functions that take words of a page, which have the context "page" in the catalogue.
PAGE_KEYWORDS = {"words": (1,), "W_": (1,)}


def chinese() -> Catalog:
    """Return the translations."""
    with CHINESE.open("rb") as file:
        return read_po(file, locale="zh")


def sentences() -> Catalog:
    """Return the sentences of the sources."""
    found = Catalog()
    for _, _, message, _, _ in extract_from_dir(PACKAGE, [("**.py", "python")], keywords=KEYWORDS):
        # Of a call whose sentence comes from elsewhere there is none.
        if message and (isinstance(message, str) or all(message)):
            found.add(message)
    from neardup.cli.help import list_texts

    for text in list_texts():
        found.add(text)
    for text, *context in page_words():
        found.add(text, context=context[0] if context else "page")
    return found


def page_words() -> Iterator[tuple[str, ...]]:
    """Yield the words of pages, each with its context if that is not "page"."""
    from jinja2 import Environment, nodes

    code = [(f"{room}/**.py", "python") for room in ("cli", "papers", "server")]
    for _, _, text, _, _ in extract_from_dir(PACKAGE, code, keywords=PAGE_KEYWORDS):
        if text:
            yield (text,)
    for path in sorted(PACKAGE.glob("pages/templates/**/*.html")):
        for call in Environment().parse(path.read_text("utf-8")).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "w":
                words = [part.value for part in call.args if isinstance(part, nodes.Const)]
                if words:
                    yield tuple(words)


def update() -> None:
    """Put new sentences into the Chinese file, and drop those that are gone."""
    catalog = chinese()
    catalog.update(sentences(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    with CHINESE.open("wb") as file:
        write_po(file, catalog, width=100)


def missing() -> int:
    """Print sentences without a translation, and translations without a sentence."""
    translated = {
        (message.id, message.context)
        for message in chinese()
        if message.id and all(message.string or [""])
    }
    wanted = {(message.id, message.context) for message in sentences() if message.id}
    for sentence in sorted(map(str, wanted - translated)):
        print("no translation:", sentence)
    for sentence in sorted(map(str, translated - wanted)):
        print("no such sentence:", sentence)
    return int(wanted != translated)


def compile() -> None:
    """Write the file that neardup reads."""
    with CHINESE.with_suffix(".mo").open("wb") as file:
        write_mo(file, chinese())


if __name__ == "__main__":
    sys.exit({"update": update, "missing": missing, "compile": compile}[sys.argv[1]]())
