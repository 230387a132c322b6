"""Which code made a result: what changes it, and what does not."""

import os
from pathlib import Path

import small_studies
from cases import needs_native

import hardwire as hw
from hardwire import study
from hardwire.study import version
from hardwire.study.kinds import find_kind
from hardwire.study.runners import ray as ray_runner
from hardwire.study.store import worker_name
from hardwire.study.worker import Failed, Finished, Task


def test_the_code_version_names_the_release_and_the_code():
    code = version.code_version(find_kind("network"))
    assert code.startswith(f"{hw.__version__}+") and len(code) == len(hw.__version__) + 9


def test_another_native_build_is_another_version(monkeypatch):
    kind = find_kind("network")
    before = version.code_version(kind)
    monkeypatch.setattr(version, "native_sources", lambda: "another kernel")
    assert version.code_version(kind) != before


@needs_native
def test_the_build_tells_the_digest_of_the_sources_that_train():
    assert len(version.native_sources()) == 64


def test_a_changed_file_is_another_version(tmp_path, monkeypatch):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "course.py").write_text("speed = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    class Mine(study.Kind):
        name, axes, sources = "mine", (), ("mine",)

    before = version.code_version(Mine())
    version._digest.cache_clear()
    (package / "course.py").write_text("speed = 2\n")
    assert version.code_version(Mine()) != before


def test_only_what_decides_a_runs_course_counts():
    files = {path for name in find_kind("network").sources for path in version._files(name)}
    library = Path(hw.__file__).parent
    rooms = {path.relative_to(library).parts[0] for path in files if path.is_relative_to(library)}
    assert {"engine", "training", "measure", "layers", "selection.py"} <= rooms
    assert not rooms & {"cli", "circuit", "study", "systems", "estimators"}
    measured = {"__init__.py", "bounds.py", "forwards.py", "gradients.py", "hessian.py"}
    assert {path.name for path in files if "hardwire_paper" in path.parts} == {"train.py", "progress.py"} | measured


def test_a_node_with_another_version_refuses_the_run(tmp_path):
    description = small_studies.small()
    event = ray_runner._attempt(Task("key", description.kind, description.configs[0], tmp_path), "0.0.1+00000000")
    assert isinstance(event, Failed) and "the study 0.0.1+00000000; install the same" in event.error


class Looking(study.Kind):
    """Its run remembers where its checkpoint would be."""

    name, axes = "looking", ()

    def run(self, job):
        self.folder = job.checkpoint.parent
        self.mode = self.folder.stat().st_mode & 0o777
        return study.Outcome([{"iteration": 1}], {}, 0.0)


def test_a_node_without_the_work_folder_uses_one_that_nobody_can_guess_and_leaves_nothing(tmp_path):
    kind = Looking()
    folders = []
    for _ in range(2):
        task = Task("key", kind, study.Config.of("looking", {}), tmp_path / "elsewhere")
        assert isinstance(ray_runner._attempt(task, version.code_version(kind)), Finished)
        folders.append(kind.folder)
        assert kind.mode == 0o700 and not kind.folder.exists()
    assert folders[0] != folders[1] and "elsewhere" not in str(folders[0])


def test_a_worker_has_a_name_where_the_system_has_no_uname(monkeypatch):
    monkeypatch.delattr(os, "uname", raising=False)
    assert worker_name().endswith(f":{os.getpid()}")
