"""A PostgreSQL server of the tests' own: a folder, a socket in it, nothing on the network."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

USER = "openflow"
# The server refuses to run as root, and any account that owns its folder will do.
ACCOUNTS = ("postgres", "nobody")
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")


def why_there_is_none() -> str:
    """Why no server can be had here; empty where one can."""
    if os.name != "posix":
        return "the tests start a server on POSIX systems only"
    if find_spec("psycopg") is None:
        return "the driver psycopg is not installed"
    if program("initdb") is None or program("postgres") is None:
        return "the programs initdb and postgres are not installed"
    if os.geteuid() == 0 and account() is None:
        return "the server does not run as root, and there is no other account"
    return ""


def program(name: str) -> str | None:
    """The path of one of the server's programs."""
    if found := shutil.which(name):
        return found
    for pattern in PLACES:
        for folder in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (folder / name).is_file():
                return str(folder / name)
    return None


def account() -> int | None:
    """The account that the server runs as where the tests are run by root."""
    for name in ACCOUNTS:
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return None


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server and give its address; it is gone at the end, with all that it kept."""
    user = account() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="openflow-pg-"))
    if user is not None:
        os.chown(folder, user, -1)
    data = folder / "data"
    initdb = [program("initdb") or "", "-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8"]
    try:
        subprocess.run(
            [*initdb, "--no-sync", "--locale=C"],
            check=True,
            capture_output=True,
            user=user,
            cwd=folder,
        )
        command = [program("postgres") or "", "-D", str(data), "-k", str(folder)]
        with subprocess.Popen(
            [*command, "-c", "listen_addresses="],
            stderr=subprocess.PIPE,
            text=True,
            user=user,
            cwd=folder,
        ) as server:
            assert server.stderr is not None
            try:
                for line in server.stderr:
                    if "ready to accept connections" in line:
                        break
                else:
                    raise AssertionError("the server ended before it was ready")
                yield f"postgresql://{USER}@/postgres?host={folder}"
            finally:
                server.terminate()
                server.stderr.read()
    finally:
        shutil.rmtree(folder)
