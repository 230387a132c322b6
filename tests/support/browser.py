"""A headless Chromium, driven over two pipes (the DevTools protocol), so that no driver has to be installed."""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


class Browser:
    """One page. `problems` gathers console messages, exceptions and failed requests; `requests` all addresses."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False):
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = _start(command, theirs_in, theirs_out)
        self._numbers, self._buffer, self._session = itertools.count(1), b"", None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *exception) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()

    def open(self, address: str) -> None:
        self._call("Page.navigate", url=address)
        while self.run("document.readyState") != "complete" or not self.run("location.href").startswith(address):
            pass

    def run(self, expression: str):
        """The value of a JavaScript expression on the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def picture(self, whole: bool = False) -> bytes:
        """A PNG of what is in view, or of the whole page."""
        return base64.b64decode(self._call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def _call(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _receive(self) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], 60)
            chunk = os.read(self._read, 1 << 16) if ready else b""
            if not chunk:
                raise AssertionError("Chromium does not answer")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(f"console: {parameters['args']}")
        elif method == "Log.entryAdded":
            self.problems.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


def _start(command: list[str], reads_from: int, writes_to: int) -> int:
    """Chromium takes descriptor 3 for its orders and 4 for its answers; gives its process number."""
    far = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10) for descriptor in (reads_from, writes_to)]
    silence = [(os.POSIX_SPAWN_OPEN, place, os.devnull, os.O_WRONLY, 0) for place in (1, 2)]
    pipes = [(os.POSIX_SPAWN_DUP2, descriptor, place) for place, descriptor in enumerate(far, 3)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[*silence, *pipes])
    for descriptor in (reads_from, writes_to, *far):
        os.close(descriptor)
    return process
