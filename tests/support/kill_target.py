"""A program to be killed: it makes `bash` and `write` calls without end, in a fork for each order.

Everything is imported once; an order is a line on standard input: a folder, a seed, and for how
long the commands sleep, by which they are known too. The folder's `project` is what the calls work
in. For each call that begins or ends, a byte goes to its file `progress`. The id of the fork is the
answer.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from hashlib import sha256
from pathlib import Path

from orchestration.tools.builtin.bash import BASH
from orchestration.tools.builtin.write import WRITE
from tests.support.command_rig import TEST_MARK
from tests.support.tool_bench import ToolBench, admitted_call

FILES = 3
SCRIPTS = (
    "sleep LONG & setsid sleep LONG & echo begun; sleep 0.05; exit 1",
    "trap '' TERM HUP; (trap '' TERM HUP; setsid sleep LONG) & sleep LONG",
    "for n in 1 2 3 4; do (setsid bash -c 'sleep LONG; :' &); done; sleep LONG",
    "env -i setsid sleep LONG & seq 1 100000; wait",
    "yes | head -c 300000; yes > /dev/null",
    "seq 1 20000",
)


def content_of(version: int, size: int) -> str:
    """A text that says itself whether it is all there."""
    body = "".join(f"line {line} of version {version}\n" for line in range(size))
    return f"{sha256(body.encode()).hexdigest()}\n{body}"


def is_whole(data: bytes) -> bool:
    """Whether a file holds what one call wrote, all of it."""
    head, _, body = data.partition(b"\n")
    return head.decode("ascii", "replace") == sha256(body).hexdigest()


async def work(folder: Path, seed: int, long: str) -> None:
    """Make calls until the end."""
    chance = random.Random(seed)
    bench = ToolBench(folder / "project", BASH, WRITE)
    progress = os.open(folder / "progress", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def commands() -> None:
        while True:
            os.write(progress, b"b")
            script = chance.choice(SCRIPTS).replace("LONG", long)
            call = admitted_call("bash", command=script, timeout=1)
            await bench.execute(call)
            os.write(progress, b"B")

    async def writes(name: str) -> None:
        version = 0
        while True:
            version += 1
            text = content_of(version, chance.randrange(1, 400))
            os.write(progress, b"w")
            ((result,), _) = await bench.execute(
                admitted_call("write", path=f"deep/{name}", content=text)
            )
            os.write(progress, b"!" if result.is_error else b"W")

    await asyncio.gather(commands(), *(writes(f"{number}.txt") for number in range(FILES)))


def main() -> None:
    """Serve orders until there are no more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are killed
    for order in sys.stdin:
        folder, seed, long = order.split()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.environ[TEST_MARK] = folder
            asyncio.run(work(Path(folder), int(seed), long))
            os._exit(1)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
