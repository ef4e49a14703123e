# The face of the project. Each target is one or two plain commands; the README shows them for people without make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: run test test-slow check record sync report bench docs serve clean

run: $(READY)  ## execute the lessons on the bundled default; figures got beside those recorded
	$(PY) -m tests.tools run

test: $(READY)  ## run every test, the notebooks of both languages among them
	$(PY) -m pytest

test-slow: $(READY)  ## what takes minutes: each lesson alone in a fresh environment, the site built twice, a lesson as a script
	$(PY) -m pytest --dist loadfile -m slow

check: $(READY)  ## static checks only: translations, prose figures, hygiene, ruff
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m tests.tools check

record: $(READY)  ## execute and write the recorded outputs; one lesson: make record NB=01_evaluation
	$(PY) -m tests.tools record $(NB)

sync: $(READY)  ## carry code and outputs from English to Chinese; what is left to translate
	$(PY) -m tests.tools sync && $(PY) -m tests.tools status

report: $(READY)  ## your model on your data, as one page: make report MODEL=… DATA=… [AGAINST= QUERIES= CORPUS= QRELS= COLUMNS= OUT=]
	$(PY) -m helpers.report $(if $(MODEL),--model "$(MODEL)") $(if $(DATA),--data "$(DATA)") $(if $(AGAINST),--against "$(AGAINST)") \
	  $(if $(QUERIES),--queries "$(QUERIES)") $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(QRELS),--qrels "$(QRELS)") \
	  $(if $(COLUMNS),--columns "$(COLUMNS)") $(if $(OUT),--out "$(OUT)") $(REPORT_OPTIONS)

bench: $(READY)  ## measure speed and memory side by side; writes docs/benchmarks/
	$(PY) -m tests.bench

docs: $(READY)  ## build the site of both languages into docs/_build/html/, which any server can serve
	$(PY) -m docs.build

serve: $(READY)  ## serve the built site on http://localhost:8000/
	$(PY) -m http.server 8000 --bind 127.0.0.1 --directory docs/_build/html

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --constraint constraints.txt --editable ".[docs,jupyter,test]"
	touch $@

clean:  ## remove what was built, keep the environment
	rm -rf build docs/_build
