# The face of the project. Each target is one or two plain commands; the README shows them for people without make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python
READY := $(VENV)/.ready
READY_TEST := $(VENV)/.ready-test

# Compiled modules are kept: without them each process would compile the libraries again.
unexport PYTHONDONTWRITEBYTECODE

# A misspelt variable would change nothing, and say nothing.
KNOWN := PYTHON NB LANGUAGE MODEL DATA AGAINST SYSTEMS QUERIES CORPUS QRELS COLUMNS OUT REPORT_OPTIONS DOCS_OPTIONS
GIVEN := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
$(if $(filter-out $(KNOWN),$(GIVEN)),$(error unknown: $(filter-out $(KNOWN),$(GIVEN)); there are $(KNOWN)))

# Not that of the environment, which many systems set to the languages of their messages.
EDITION := $(if $(findstring command line,$(origin LANGUAGE)),$(LANGUAGE))

.PHONY: help lab run test report test-site test-slow check record sync mutants acid bench bench-million docs release-check serve lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^#: / { print substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

#: to read, run and use
lab: $(READY)  ## open lesson 1 in JupyterLab; in Chinese: LANGUAGE=zh
	$(PY) -m jupyter lab notebooks/$(or $(EDITION),en)/01_evaluation.ipynb

run: $(READY)  ## execute the lessons and compare with the record, some minutes; one: make run NB=01_evaluation; in Chinese: LANGUAGE=zh
	$(PY) -m notebooks.kit run $(if $(EDITION),--language "$(EDITION)") $(NB)

test: $(READY_TEST)  ## run the tests; they execute the English lessons but for 5, 6 and 7, and Chinese lesson 10
	$(PY) -m pytest

report: $(READY)  ## systems on your data, as one page: make report MODEL=… DATA=… [AGAINST= SYSTEMS= QUERIES= CORPUS= QRELS= COLUMNS= OUT=]
	$(PY) -m helpers.report $(if $(MODEL)$(AGAINST),--model "$(or $(MODEL),sentence-transformers/all-MiniLM-L6-v2)") $(if $(DATA),--data "$(DATA)") $(if $(AGAINST),--system "$(AGAINST)") \
	  $(if $(SYSTEMS),--systems "$(SYSTEMS)") \
	  $(if $(QUERIES),--queries "$(QUERIES)") $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(QRELS),--qrels "$(QRELS)") \
	  $(if $(COLUMNS),--columns "$(COLUMNS)") $(if $(OUT),--out "$(OUT)") $(REPORT_OPTIONS)

#: to change them
test-site: $(READY_TEST)  ## the built site in a browser, its scripts in node; says at once if chromium, node or axe-core is missing
	$(PY) -m pytest tests/site -m "browser and not slow"

test-slow: $(READY_TEST)  ## what takes minutes: all lessons and small runs with other parameters, the site built again from its lock, kills
	$(PY) -m pytest --dist loadfile -m slow

check: $(READY_TEST)  ## static checks only: ruff, types, recorded outputs, prose figures, translations
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy && $(PY) -m notebooks.kit check

record: $(READY)  ## execute and write the recorded outputs; one lesson: make record NB=01_evaluation
	$(PY) -m notebooks.kit record $(NB)

sync: $(READY)  ## carry code and outputs from English to Chinese; what is left to translate
	$(PY) -m notebooks.kit sync && $(PY) -m notebooks.kit check

mutants: $(READY_TEST)  ## do the tests notice faults? puts small ones into helpers, one at a time; half an hour
	$(PY) -m tests.mutants

acid: build/acid/.ready  ## run the acid test on other libraries, in an environment of their own; writes docs/benchmarks/acid.json
	build/acid/bin/python -m tests.acid.scoreboard

bench: $(READY_TEST)  ## measure speed and memory side by side; writes docs/benchmarks/
	$(PY) -m tests.bench

bench-million: $(READY_TEST)  ## indexes over a million vectors beside exact search; some ten minutes, 8 GB of memory
	$(PY) -m tests.bench million

docs: $(READY_TEST)  ## build the site of both languages into docs/_build/html/, which any server can serve
	$(PY) -m docs.site $(DOCS_OPTIONS)

release-check: $(READY_TEST) docs  ## follow every launch and install line from a git server here; what a person has to do
	$(PY) -m tests.release

serve: $(READY)  ## serve the built site on http://localhost:8000/
	$(PY) -m http.server 8000 --bind 127.0.0.1 --directory docs/_build/html

lock: $(READY)  ## write .github/pages-requirements.txt anew: what publishing installs, with hashes
	$(PY) -m uv pip compile --quiet --group pages --constraint constraints.txt --generate-hashes --no-annotate \
	  --python-version 3.11.9 --python-platform linux --custom-compile-command "make lock" \
	  --output-file .github/pages-requirements.txt

# uv does not read pip's settings, so the index and the folder of wheels that pip was told of are handed to it. PyTorch's
# own index has builds for every processor and GPU; it is taken if it names the locked version for this machine in 2 s.
pip_setting = $$($(PY) -m pip config get global.$(1) 2> /dev/null)
INDEX = UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$(call pip_setting,index-url)}}"
LINKS = UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $${PIP_FIND_LINKS:-$(call pip_setting,find-links)} | tr ' ' ,)}"
INSTALL = $(PY) -m uv pip install --quiet --python $(VENV) --constraint constraints.txt
BACKEND = --torch-backend=$${UV_TORCH_BACKEND:-auto}
PROBE = UV_HTTP_TIMEOUT=2 UV_HTTP_RETRIES=0 $(INSTALL) --dry-run --reinstall --no-deps $(BACKEND) torch 2> /dev/null

$(READY): pyproject.toml constraints.txt
	@echo "environment: $(VENV), 2 GB with PyTorch for the processor alone, a minute or a few; then, to execute all lessons, some five minutes"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -qq --constraint constraints.txt uv
	@echo "environment: the versions of constraints.txt, downloaded where this machine has not met them before"
	@$(INDEX) $(LINKS) $(INSTALL) $$($(PROBE) && echo $(BACKEND)) --editable ".[jupyter,lessons,zh]"
	@touch $@

$(READY_TEST): $(READY)
	@echo "environment: what tests, checks and the site need beside that"
	@$(INDEX) $(LINKS) $(INSTALL) --editable ".[distributed,docs,jupyter,lessons,test,zh]"
	@touch $@

build/acid/.ready: tests/acid/libraries.txt constraints.txt
	@$(PYTHON) -m venv build/acid
	@build/acid/bin/python -m pip install -qq --requirement tests/acid/libraries.txt torch==2.13.0
	@touch $@

clean:  ## remove what was built, keep the environment
	rm -rf build docs/_build
