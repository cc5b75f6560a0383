# Two commands set everything up: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3
UV := $(shell command -v uv || echo .uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := true
BIN := .venv/bin

.PHONY: demo test cdk e2e acceptance check lint format lock clean

demo: .venv/.run  ## answer questions from the handbook of an invented company, in a browser
	$(BIN)/footnote serve --docs functions/local/handbook

test: .venv/.dev  ## all tests, side by side in two processes; or those that TESTS names
	$(BIN)/pytest $(or $(TESTS),-n 2 --dist loadfile --no-loadscope-reorder)

cdk: .venv/.infra infra/node_modules/.package-lock.json  ## bring the CDK and its command, to deploy with

e2e: cdk  ## deploy to a local AWS, and use what is deployed
	$(BIN)/pytest tests/e2e/test_deployed.py

acceptance: .venv/.dev  ## what must hold of any running Footnote: URL=…, and in AWS SOCKET=… and FOOTNOTE_TOKEN
	$(BIN)/python -m tests.e2e.acceptance '$(URL)' $(if $(SOCKET),--socket-url '$(SOCKET)')

check: lint test  ## what CI runs

lint: .venv/.infra
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(UV)  ## pin anew what pyproject.toml allows
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements.lock
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --extra aws --group dev -c requirements.lock -o requirements-dev.lock
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --group infra -c requirements-dev.lock -o requirements-infra.lock

clean:
	rm -rf .venv .uv .footnote

.uv/bin/uv:
	$(PYTHON) -m venv .uv && .uv/bin/pip install -q uv

.venv/bin/python: | $(UV)
	$(UV) venv -q --python $(PYTHON) .venv

.venv/.run: requirements.lock pyproject.toml | .venv/bin/python
	$(UV) pip install -q --require-hashes -r requirements.lock
	$(UV) pip install -q --no-deps -e .
	touch $@

.venv/.infra: requirements-infra.lock .venv/.dev
	$(UV) pip install -q --require-hashes -r requirements-infra.lock
	touch $@

infra/node_modules/.package-lock.json: infra/package-lock.json
	cd infra && npm ci

.venv/.dev: requirements-dev.lock pyproject.toml | .venv/bin/python
	$(UV) pip install -q --require-hashes -r requirements-dev.lock
	$(UV) pip install -q --no-deps -e .
	touch $@ .venv/.run
