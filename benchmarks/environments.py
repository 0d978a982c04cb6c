"""A Python environment for each peer.

Two peers install a module of the same name, so they cannot share one.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / ".envs"
REQUIREMENTS = HERE / "requirements"
STAMP = "installed.txt"


class NotInstalledError(Exception):
    """A peer's environment is missing or could not be made."""


def python_of(peer):
    """Return the Python interpreter of a peer.

    neardup is in the environment that runs this program.
    """
    if not (REQUIREMENTS / f"{peer}.txt").exists():
        if importlib.util.find_spec(peer) is None:
            raise NotInstalledError(f"{peer} is not installed in {sys.prefix}")
        return sys.executable
    folder = ENVIRONMENTS / peer
    if not (folder / STAMP).exists():
        raise NotInstalledError(f"{peer}: its environment was not made")
    return str(folder / "bin" / "python")


def install(peer):
    """Make a peer's environment, or renew it if its requirements changed."""
    files = {kind: REQUIREMENTS / f"{peer}{kind}.txt" for kind in (".bare", "")}
    wanted = {kind: path for kind, path in files.items() if path.exists()}
    if not wanted:
        return
    folder = ENVIRONMENTS / peer
    text = "".join(path.read_text("utf-8") for path in wanted.values())
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text("utf-8") == text:
        return
    print(f"installing {peer}", file=sys.stderr, flush=True)
    stamp.unlink(missing_ok=True)
    command([sys.executable, "-m", "venv", "--clear", str(folder)], peer)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    # Some packages have dependencies that the measured method does not use. They are installed
    # without dependencies; the requirements list what the method does use.
    if ".bare" in wanted:
        command([*pip, "--no-deps", "-r", str(wanted[".bare"])], peer)
    command([*pip, "-r", str(wanted[""])], peer)
    stamp.write_text(text, encoding="utf-8")


def command(arguments, peer):
    """Run a command; if it fails, its last error line is the reason given."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "rror" in line]
        raise NotInstalledError(f"{peer}: {(lines or ['no message'])[-1].strip()[:200]}")


def install_all(peers):
    """Install the environments of some peers; print why one fails."""
    for peer in peers:
        try:
            install(peer)
        except NotInstalledError as error:
            print(f"not installed: {error}", file=sys.stderr)
