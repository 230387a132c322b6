"""Adds a link to the repository to every page: of the workflow, or of the clone."""

import os
import re
import shutil
import subprocess
from typing import Any


def on_config(config: Any) -> Any:
    config.repo_url = config.repo_url or repository(os.environ)
    if config.repo_url:
        config.repo_name = config.repo_url.rstrip("/").rpartition("/")[2]
    return config


def repository(environment: Any) -> str:
    """The address of the repository in a browser, or nothing where none is known."""
    if "GITHUB_REPOSITORY" in environment:
        return f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{environment['GITHUB_REPOSITORY']}"
    if not shutil.which("git"):
        return ""
    asked = subprocess.run(
        ["git", "remote", "get-url", "origin"], capture_output=True, text=True, check=False
    )
    remote = re.fullmatch(
        r"(?:https://|git@)([\w.-]+)[:/](.+?)(?:\.git)?", asked.stdout.strip()
    )
    return f"https://{remote[1]}/{remote[2]}" if remote else ""
