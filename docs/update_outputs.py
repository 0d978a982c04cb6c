"""Run the console commands of pages again, and write what they print into the pages.

Usage: .venv/bin/python docs/update_outputs.py PAGE...

An output with ``...`` that no longer fits is printed, to be edited by hand.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kit.sessions import COMMAND, Session, is_same


def updated(page: str, text: str, session: Session) -> str:
    """Return the text of a page, whose commands run in their order."""
    blocks = text.split("```console\n")
    for at, block in enumerate(blocks[1:], 1):
        commands, end, rest = block.partition("\n```")
        parts = []
        for command, expected in COMMAND.findall(commands + "\n"):
            printed = session.run(command)
            same = is_same(expected, printed)
            if "..." in expected and not same:
                print(f"{page}: {command}\n{printed}")
            keep = same or "..." in expected
            parts.append(f"$ {command}\n{expected if keep else printed}")
        blocks[at] = "".join(parts).removesuffix("\n") + end + rest
    return "```console\n".join(blocks)


def main() -> None:
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            text = updated(str(page), page.read_text("utf-8"), Session(Path(folder)))
        page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
