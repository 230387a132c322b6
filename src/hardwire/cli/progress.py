"""Progress of work that takes seconds to minutes, on standard error."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import typer

SILENCE = 1.0  # seconds after which a step is worth a line in a log


@contextlib.contextmanager
def steps(task: str) -> Iterator[Callable[[str], None]]:
    """Gives a function that names the current step of a task.

    A terminal shows it as one live line. A log gets a line for every step that takes longer than a second, with the
    seconds so far.
    """
    from hardwire.console import make_console

    console = make_console(stderr=True)
    if console.is_terminal:
        with console.status(task) as status:
            yield lambda step: status.update(f"{task}: {step}")
        return
    start, timer = time.monotonic(), threading.Timer(0, int)

    def name_step(step: str) -> None:
        nonlocal timer
        timer.cancel()
        line = f"{task}: {step} ({time.monotonic() - start:.0f} s)"
        timer = threading.Timer(SILENCE, typer.echo, [line], {"err": True})
        timer.daemon = True
        timer.start()

    try:
        yield name_step
    finally:
        timer.cancel()
