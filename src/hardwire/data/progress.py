"""A progress bar for downloads with the interface that pooch expects: `total`, `update`, `reset`, `close`."""

from types import TracebackType

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from hardwire.console import make_console


class DownloadBar:
    """One line on stderr that disappears when the work ends; silent if stderr is not a terminal."""

    def __init__(self, description: str):
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        console = make_console(stderr=True)
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task(description, total=None)

    def __enter__(self) -> "DownloadBar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, total: int) -> None:
        self._progress.update(self._task, total=total or None)

    def update(self, done: int) -> None:
        self._progress.advance(self._task, done)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()
