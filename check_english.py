"""Count what is hard to read: ``python check_english.py [--store | --show KIND]``.

It fails if docs/english.json stores less of a kind; CONTRIBUTING.md has the rules."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from translate import chinese

STORED = Path(__file__).parent / "docs" / "english.json"
KINDS = {
    "no subject": re.compile(r"^(What|Who|Whoever|Of|Those|That which)\s[^?]*$"),
    "of which": re.compile(r"\bof wh(ich|om)\b"),
    "is no": re.compile(r"(?<!here )\b(is|are|was|were) no (?!longer|more)[a-z]|\bthat are none\b"),
    "that of": re.compile(r"\b(those|that) of\b"),
    "of its own": re.compile(r"\bof (its|their|one's|a text's) own\b"),
    "beside": re.compile(r"\bbeside\b"),
    "bare decimal": re.compile(r"(?<![\w.])\.\d"),
    "long": re.compile(r"^(\S+\s+){20}\S"),
    "long message": re.compile(r"^(\S+\s+){15}\S"),
    "clause": re.compile(r"^def test_(of_|(\w+_)?(what|who|whose|that|those|which)_)"),
    "participle": re.compile(
        r"^(def (?!test_)|class )(\w*_)?\w*([a-z]ed|told|found|given|kept|made|shown)$"
    ),
}
CODE = re.compile(
    r"(?s:^ *```.*?^ *```$|^ *>>> .*?(?:\n\n|\Z)|^\w+\n-+$)|^    .*$|\]\([^)]*\)|<[^<>\n]*>"
    r"|:[,.\d]+[f%](?=\})",
    re.MULTILINE,
)
BREAK = re.compile(r"(?<=[.!?:;])[*_\"')]*\s+|\n\s*\n|^#.*$|^ *[-*] |^\d+\. | ?\|", re.MULTILINE)


def texts() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of pages, docstrings, names, messages and the words of HTML pages."""
    places = ["*.md", "python/*.py", "tests/*.py"]
    files = subprocess.check_output(["git", "ls-files", *places], text=True)
    for name in files.split():
        text = Path(name).read_text("utf-8")
        if name.endswith(".py"):
            has = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, has)]
            if not name.startswith("tests/"):
                yield from (("docstrings", ast.get_docstring(node) or "") for node in nodes)
            for node in filter(lambda node: not isinstance(node, ast.Module), nodes):
                word = "class" if isinstance(node, ast.ClassDef) else "def"
                yield "names", f"{word} {node.name}"
        elif not re.search(r"zh|cli-reference", name):
            yield ("guides" if re.match(r"README|docs/guide", name) else "pages"), text
    for message in chinese():
        forms = message.id if isinstance(message.id, tuple) else (message.id,)
        place = "page words" if message.context else "messages"
        yield from ((place, str(form)) for form in forms if form)


counts: Counter[str] = Counter()
for place, text in texts():
    for part in BREAK.split(re.sub(r"`[^`\n]*`|\{[^{}\n]*\}", "CODE", CODE.sub("", text))):
        sentence = " ".join((part or "").split()).strip("*_ ")
        for kind, pattern in KINDS.items():
            if pattern.search(sentence) and (kind != "long message" or place == "messages"):
                counts[f"{place}: {kind}"] += 1
                if sys.argv[1:] == ["--show", f"{place}: {kind}"]:
                    print(sentence)
if sys.argv[1:] == ["--store"]:
    STORED.write_text(json.dumps(dict(sorted(counts.items())), indent=1) + "\n", encoding="utf-8")
stored = Counter(json.loads(STORED.read_text("utf-8")))
if more := {kind: f"{counts[kind]}, not {stored[kind]}" for kind in counts - stored}:
    sys.exit(f"More sentences are hard to read: {more}. See python check_english.py --show KIND")
