# Two commands: `make demo` and `make test`. Both build their own .venv with the versions of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
NATIVE := CMakeLists.txt src/hardwire/gates/table.py $(wildcard src/native/*)

.PHONY: demo test test-extras lint format sanitize clean install

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

demo: $(INSTALLED)
	$(BIN)/hardwire demo

test: lint
	$(BIN)/python -m pytest -q

# What needs the optional packages: a Ray cluster of two nodes, Parquet, TensorBoard.
test-extras: $(INSTALLED)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet -e '.[test,ray,parquet,tensorboard]'
	$(BIN)/python -m pytest -q tests/study tests/training

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The native code's own tests (training and circuits) under address, undefined-behaviour and thread sanitizers.
sanitize:
	tests/native/sanitize.sh

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
