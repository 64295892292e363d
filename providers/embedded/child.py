"""The process that runs the embedded model; started by `server.py`, never imported.

The first line of standard input is a JSON object with the settings below. One JSON line on
standard output answers: `{"url": ...}` when the server listens, `{"error": ...}` when it cannot.
The process ends when its standard input closes, so it cannot outlive the program that started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import IO, Any


def common_params(settings: dict[str, Any]) -> Any:
    """The server's parameters.

    Args:
        settings: `model` (path), `template` (text), `api_key`, `alias`, `n_ctx` (tokens a slot),
            `n_parallel` (slots), `n_predict` (token limit of a reply that sets none),
            `n_threads`, `idle_s` (seconds until the weights are unloaded) and `sampling` (names
            and values of llama.cpp's sampling parameters, for requests that send none).
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["api_key"]]
    params.cors_origins = ""
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.n_parallel = settings["n_parallel"]
    params.n_ctx = settings["n_ctx"] * settings["n_parallel"]
    params.n_predict = settings["n_predict"]
    params.cpuparams.n_threads = settings["n_threads"]
    params.cpuparams_batch.n_threads = settings["n_threads"]
    params.n_gpu_layers = 0
    params.fit_params = False
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.sleep_idle_seconds = settings["idle_s"]
    params.use_jinja = True
    params.chat_template = settings["template"]
    # Warnings and errors only: what was asked and answered is written nowhere.
    params.verbosity = 2
    for name, value in settings["sampling"].items():
        setattr(params.sampling, name, value)
    return params


def serve(out: IO[str]) -> None:
    """Run the server until standard input closes."""
    settings = json.loads(sys.stdin.readline())
    # Ended by the default action: the server's own destructor may hang during a request.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Ctrl+C in a terminal reaches this process too; the parent decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)

    params = common_params(settings)
    import xllamacpp

    server = xllamacpp.Server(params)
    tell(out, {"url": server.listening_address})
    while sys.stdin.read(4096):
        pass
    os._exit(0)


def tell(out: IO[str], message: dict[str, str]) -> None:
    """Write one line to the parent."""
    out.write(json.dumps(message) + "\n")
    out.flush()


def main() -> None:
    """Keep standard output for the one line; whatever native code prints goes to the errors."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        serve(out)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        tell(out, {"error": f"{type(error).__name__}: {error}"})
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    main()
