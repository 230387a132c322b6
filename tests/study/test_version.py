"""Which code made a result: what changes it, and what does not."""

from pathlib import Path

import small_studies

import hardwire as hw
from hardwire import study
from hardwire.study import version
from hardwire.study.kinds import find_kind
from hardwire.study.runners import ray as ray_runner
from hardwire.study.worker import Failed, Task


def test_the_code_version_names_the_release_and_the_code():
    found = version.code_version(find_kind("network"))
    assert found.startswith(f"{hw.__version__}+") and len(found) == len(hw.__version__) + 9


def test_another_native_build_is_another_version(monkeypatch):
    kind = find_kind("network")
    before = version.code_version(kind)
    monkeypatch.setattr(version, "native_sources", lambda: "another kernel")
    assert version.code_version(kind) != before


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
    rooms = {path.relative_to(Path(hw.__file__).parent).parts[0] for path in files}
    assert {"engine", "training", "measure", "layers", "selection.py", "paper"} <= rooms
    assert not rooms & {"cli", "circuit", "study", "systems", "estimators"}
    measured = {"__init__.py", "bounds.py", "forwards.py", "gradients.py", "hessian.py"}
    assert {path.name for path in files if "paper" in path.parts} == {"train.py", "telling.py"} | measured


def test_a_node_with_another_version_refuses_the_run(tmp_path):
    description = small_studies.small()
    event = ray_runner._attempt(Task("key", description.kind, description.configs[0], tmp_path), "0.0.1+00000000")
    assert isinstance(event, Failed) and "the study 0.0.1+00000000; install the same" in event.error
