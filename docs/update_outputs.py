"""Run the console commands of pages again, and write what they print into the pages.

Usage: .venv/bin/python docs/update_outputs.py PAGE...

An output with ``...`` that no longer fits is printed, to be edited by hand.
"""

import doctest
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.inventory.test_pages import COMMAND, EXAMPLES

NEARDUP = f'neardup() {{ "{sys.executable}" -m neardup "$@"; }}; '


def updated(page: str, text: str, folder: Path) -> str:
    """Return the text of a page, whose commands run in `folder` in their order."""
    blocks = text.split("```console\n")
    for at, block in enumerate(blocks[1:], 1):
        commands, end, rest = block.partition("\n```")
        parts = []
        for command, expected in COMMAND.findall(commands + "\n"):
            printed = subprocess.run(
                ["bash", "-c", NEARDUP + command], cwd=folder, stdout=-1, encoding="utf-8"
            ).stdout
            same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
            if "..." in expected and not same:
                print(f"{page}: {command}\n{printed}")
            keep = same or "..." in expected
            parts.append(f"$ {command}\n{expected if keep else printed}")
        blocks[at] = "".join(parts).removesuffix("\n") + end + rest
    return "```console\n".join(blocks)


for page in map(Path, sys.argv[1:]):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(EXAMPLES)
        text = page.read_text("utf-8")
        page.write_text(updated(str(page), text, folder), encoding="utf-8", newline="\n")
