"""An environment for each peer: two of them install a module of the same name."""

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / ".envs"
REQUIREMENTS = HERE / "requirements"
STAMP = "installed.txt"


class NotInstalledError(Exception):
    """A peer's environment is not there or could not be made."""


def python_of(peer):
    """Return the Python that has the peer; neardup is in the one that runs this."""
    if not (REQUIREMENTS / f"{peer}.txt").exists():
        if importlib.util.find_spec(peer) is None:
            raise NotInstalledError(f"{peer} is not installed in {sys.prefix}")
        return sys.executable
    folder = ENVIRONMENTS / peer
    if not (folder / STAMP).exists():
        raise NotInstalledError(f"{peer}: its environment was not made")
    return str(folder / "bin" / "python")


def install(peer):
    """Make or renew a peer's environment if its pinned requirements changed."""
    files = {kind: REQUIREMENTS / f"{peer}{kind}.txt" for kind in (".build", ".bare", "")}
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
    # An old package whose build looks for its tools in the environment itself
    # names them in a build file and is built without isolation.
    if ".build" in wanted:
        command([*pip, "-r", str(wanted[".build"])], peer)
        pip.append("--no-build-isolation")
    # One that asks for what its method does not use is installed bare: what it
    # does use is in the requirements.
    if ".bare" in wanted:
        command([*pip, "--no-deps", "-r", str(wanted[".bare"])], peer)
    command([*pip, "-r", str(wanted[""])], peer)
    stamp.write_text(text, encoding="utf-8")


def command(arguments, peer):
    """Run a command; its last line is the reason if it fails."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "rror" in line]
        raise NotInstalledError(f"{peer}: {(lines or ['no message'])[-1].strip()[:200]}")


def install_all(peers):
    """Install what can be installed, and say why the rest cannot."""
    for peer in peers:
        try:
            install(peer)
        except NotInstalledError as error:
            print(f"not installed: {error}", file=sys.stderr)
