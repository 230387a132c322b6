"""Yosys for tests that read thousands of files: one process has it loaded and forks a child for each file.

Loading Python and pyosys takes longer than what yosys does with a small file. A child has the limits that a program
of its own would have, and dies alone.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from hardwire.circuit import tools

_SERVER = """
import json, os, resource, sys
from pyosys import libyosys as ys

for line in sys.stdin:
    folder, script, memory, seconds = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, name in ((0, os.devnull), (1, "out.log"), (2, "error.log")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        ys.run_pass("script " + script, ys.Design())
        sys.exit()
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@contextlib.contextmanager
def yosys_server() -> Iterator[None]:
    """Lets yosys be a child of one process wherever hardwire would start pyosys with limits."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        requests, codes, alone = server.stdin, server.stdout, tools.completed

        def completed(
            call: Sequence[str], folder: str | Path, limits: tools.Limits | None = None
        ) -> "subprocess.CompletedProcess[str]":
            if tools.PYOSYS not in call or limits is None:
                return alone(call, folder, limits)
            print(json.dumps([str(folder), call[-1], limits.memory, limits.seconds]), file=requests, flush=True)
            code = int(codes.readline())
            texts = (Path(folder, name).read_text(errors="replace") for name in ("out.log", "error.log"))
            return subprocess.CompletedProcess(call, code, *texts)

        with patch.object(tools, "completed", completed):
            yield
        requests.close()
