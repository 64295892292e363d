"""A checkout with this repository's `start`, but with small packages from a folder on disk."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from tests.support.source_tree import CHECKOUT

MAIN = """\
import importlib.metadata
import sys

import wheel_one

print(importlib.metadata.version("openflow"), wheel_one.VERSION, *sys.argv[1:])
"""


class MiniCheckout:
    """A folder in which `./start` does all that it does, without a network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        # Beside it, since pip reads several folders where the name of one has a blank.
        self.wheels = folder.parent / "wheels"
        self.wheels.mkdir()
        shutil.copy(CHECKOUT / "start", folder)
        shutil.copytree(
            CHECKOUT / "packaging",
            folder / "packaging",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (folder / "pyproject.toml").write_text('[project]\nname = "openflow"\nversion = "7.8"\n')
        (folder / "app").mkdir()
        (folder / "app" / "__main__.py").write_text(MAIN)
        self.lock("1.0")
        self.lock("1.0", name="model", file="requirements-embedded.txt")

    def lock(
        self, version: str, *, name: str = "wheel-one", file: str = "requirements.txt"
    ) -> None:
        """Make a wheel and let a requirements file ask for it."""
        digest = make_wheel(self.wheels, name, version)
        (self.folder / file).write_text(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")

    def begin(self, *words: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start it without waiting for the end."""
        offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
        return subprocess.Popen(
            [self.folder / "start", *words],
            cwd=cwd or self.folder,
            env={**os.environ, **offline, "PIP_FIND_LINKS": str(self.wheels)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, *words: str, cwd: Path | None = None) -> tuple[int, str, str]:
        """Start it and wait: exit status, standard output, standard error."""
        process = self.begin(*words, cwd=cwd)
        out, err = process.communicate()
        return process.returncode, out, err


def make_wheel(folder: Path, name: str, version: str) -> str:
    """Make the smallest package that pip installs; the SHA-256 of its file."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    wheel = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
