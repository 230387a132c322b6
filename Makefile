# Two commands: `make demo` and `make test`. Both build their own .venv with the versions of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
REPORT := results/report/index.html
NATIVE := CMakeLists.txt src/hardwire/gates/table.py $(wildcard src/native/*)

.PHONY: demo test lint format findings figure site wheel sanitize portable clean install

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@$(BIN)/hardwire --version
	@touch $@

demo: $(INSTALLED)
	$(BIN)/hardwire demo

test: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The documentation in site/, with the full report of results/; a broken link or a missing name is an error.
site: $(INSTALLED) $(REPORT)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# What is written from the stores in results/: the full report, which git ignores, and parts of three pages of the docs.
findings: $(INSTALLED)
	rm -rf results/report
	$(BIN)/hardwire study report results -o results/report --into docs/findings.md --into docs/findings-claims.md \
	  --into docs/systems.md

$(REPORT): $(INSTALLED) $(wildcard results/*.sqlite results/*.toml)
	rm -rf results/report
	$(BIN)/hardwire study report results -o results/report

# The figure of the README and the home page, from a demo run by this code.
figure: $(INSTALLED)
	rm -rf build/demo
	$(BIN)/hardwire demo --out build/demo
	cp build/demo/demo.png docs/images/demo.png

# The native code's own tests (training and circuits) under address, undefined-behaviour and thread sanitizers.
sanitize:
	tests/native/sanitize.sh

# The same tests for aarch64, macOS and Windows, by clang (the ziglang wheel) and GCC, run where there is an emulator.
portable:
	tests/native/portable.sh

# A wheel for this machine in dist/, tried in a clean environment with what it depends on alone: no compiler, no torch;
# then the same from source where no compiler is found.
wheel: $(INSTALLED)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv --clear build/smoke
	build/smoke/bin/python -m pip install --quiet --constraint constraints.txt $$(ls -t dist/*.whl | head -1)
	build/smoke/bin/python tests/house/smoke.py
	$(PYTHON) -m venv --clear build/smoke
	CXX=no-compiler PIP_CONSTRAINT=$(CURDIR)/constraints.txt build/smoke/bin/python -m pip install --quiet \
	  --config-settings build-dir=build/without-native .
	build/smoke/bin/python tests/house/smoke.py --without-native

clean:
	rm -rf .venv build dist site .pytest_cache .ruff_cache .hypothesis
