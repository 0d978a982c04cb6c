"""The Python environment of the peers. neardup is in the one that runs this program."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".envs" / "peers"
#: The copy of the requirements that were installed.
STAMP = ENVIRONMENT / "installed.txt"
#: Some packages have dependencies that the measured method does not use. They are installed without
#: dependencies; the second file lists what the method does use.
BARE, PEERS = HERE / "requirements" / "peers.bare.txt", HERE / "requirements" / "peers.txt"


def python_of(peer):
    """Return the Python interpreter that runs a peer."""
    if peer == "neardup":
        return sys.executable
    if not STAMP.exists():
        raise RuntimeError("the environment of the peers was not made")
    return str(ENVIRONMENT / "bin" / "python")


def install():
    """Make the environment of the peers, or renew it if the requirements changed."""
    wanted = BARE.read_text("utf-8") + PEERS.read_text("utf-8")
    if STAMP.exists() and STAMP.read_text("utf-8") == wanted:
        return
    print("installing the peers", file=sys.stderr, flush=True)
    STAMP.unlink(missing_ok=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
        subprocess.run([*pip, "--no-deps", "-r", str(BARE)], check=True)
        subprocess.run([*pip, "-r", str(PEERS)], check=True)
    except subprocess.CalledProcessError as error:
        # The rows of the peers say so; neardup is measured all the same.
        print(f"not installed: {error}", file=sys.stderr)
        return
    STAMP.write_text(wanted, encoding="utf-8")
