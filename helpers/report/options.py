"""The options of the report's command: one row each, and how their values are read."""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from helpers.chunks import Chunker, paragraphs, sections, sentences, tokens, whole
from helpers.data import OFFLINE_DEFAULT as DATA_DEFAULT
from helpers.models import OFFLINE_DEFAULT as MODEL_DEFAULT
from helpers.report.page import LANGUAGES
from helpers.report.spec import Record

Group: TypeAlias = dict[str, Record]  # the keyword arguments of add_argument, by option

SYSTEMS: Group = {
    "--model": {"metavar": "SYSTEM", "help": f"the first system, by default {MODEL_DEFAULT}"},
    "--against": {"metavar": "SYSTEM", "help": "a second one"},
    "--system": {"metavar": "SYSTEM", "action": "extend", "nargs": "+", "default": [],
                 "help": "any number more, runs/*.trec among them; options: 'models/mine?pooling=cls&max_length=256'"},
    "--systems": {"metavar": "FILE", "help": "a TOML file that names systems, fusions and rerankers"},
}  # fmt: skip
MODELS: Group = {  # for every model that does not name its own; also options of a spec
    "--device": {"help": "device for models that name none: cpu, cuda:0 …"},
    "--half": {"action": "store_true", "default": None, "help": "16-bit floats on a GPU"},
    "--index": {"help": "a FAISS index_factory string, by default Flat"},
    "--batch-size": {"type": int, "help": "texts per forward pass"},
}
DATA: Group = {  # also parameters of load_dataset
    "--queries": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--corpus": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--qrels": {"help": "file of judgements by id, in the folder DATA or a path of its own; alone, for runs"},
    "--columns": {"help": 'the names of your columns: "query=question, positive=answer"'},
    "--config": {"help": "which configuration or language, if the data set has several: zh"},
    "--split": {"help": "which split holds the queries"},
    "--relevance-level": {"type": int, "help": "the lowest grade that counts as relevant"},
    "--max-queries": {"type": int, "help": "evaluate only the first N queries", "metavar": "N"},
    "--corpus-queries": {"type": int, "help": "search only passages relevant to the first N queries", "metavar": "N"},
    "--on-blank": {"choices": ("raise", "skip"), "help": "stop at blank documents, or skip them"},
    "--on-missing": {"choices": ("raise", "skip", "keep"),
                     "help": "relevant documents without a text: skip changes R and the ideal ranking"},
    "--unanswered": {"choices": ("zero", "skip"), "help": "score queries without a relevant passage 0, or skip them"},
    "--encoding": {"help": "of CSV, TSV and JSON files, if it is not UTF-8: gb18030"},
    "--equal": {"choices": ("merge", "keep"), "help": "passages with equal texts: merged by default"},
}  # fmt: skip
OUTPUT: Group = {
    "--chunks": {"metavar": "HOW", "help": "cut the documents of DATA, whose answers are marked as spans: sentences, "
                 "paragraphs, sections, whole, or tokens and overlap, 100/50"},
    "--budget": {"type": int, "default": 500, "metavar": "TOKENS",
                 "help": "with --chunks: how much a reader gets, 500"},
    "--slices": {"metavar": "FILE", "help": "query id and type, tab-separated: scores by type"},
    "--cutoffs": {"help": "1,10 unless the corpus is smaller"},
    "--metrics": {"help": "comma-separated, the one that decides last: recall@100,ndcg@10, or P@10,nDCG@10"},
    "--latency": {"type": int, "default": 0, "metavar": "N",
                  "help": "measure how long N queries take one at a time, 100 for instance"},
    "--export": {"metavar": "mteb[=TASK]", "help": "also write the results as MTEB's files, for a task of this name"},
    "--no-growth": {"action": "store_true", "help": "leave out the scores of smaller corpora"},
    "--language": {"choices": LANGUAGES, "default": "en", "help": "language of the page"},
    "--out": {"type": Path, "default": Path("build/report"),
              "help": "folder for the page and the results; those of an earlier report are removed"},
    "--quiet": {"action": "store_true", "help": "no progress bars"},
    "--fail-under": {"action": "append", "default": [], "metavar": "METRIC=VALUE",
                     "help": "exit with 3 if the first system is below"},
    "--fail-if-worse-than": {"action": "append", "default": [], "metavar": "SYSTEM",
                             "help": "exit with 3 if the first system is significantly worse"},
    "--baseline": {"type": Path, "metavar": "FOLDER",
                   "help": "an earlier report on the same data; exit with 4 if it is of other data"},
    "--fail-if-drop": {"action": "append", "default": [], "metavar": "METRIC[=MARGIN]",
                       "help": "exit with 3 if the first system has fallen since the baseline, and a loss of the "
                       "margin cannot be excluded; by default the metric that decides, and no margin"},
    "--level": {"type": float, "default": 0.05,
                "help": "significance level, 0.05; shared by all --fail-if-drop and --looks"},
    "--looks": {"type": int, "default": 1, "metavar": "N", "help": "how many comparisons with one baseline you plan"},
    "--junit": {"type": Path, "metavar": "FILE", "help": "write the gates as JUnit XML too"},
    "--comment": {"type": Path, "metavar": "FILE", "help": "write a summary in Markdown too, for a pull request"},
}  # fmt: skip
GROUPS = {
    "systems: a hub id, a model folder, a folder of embeddings, a TREC run, bm25, tfidf": SYSTEMS | MODELS,
    "data": {"--data": {"help": f"bundled name, hub id, folder or table file; default {DATA_DEFAULT}"}} | DATA,
    "what is computed and written": OUTPUT,
}
CHUNKERS: dict[str, Chunker] = {
    "sentences": sentences, "paragraphs": paragraphs, "sections": sections, "whole": whole,
}  # fmt: skip
ELSEWHERE = {"p": "precision", "r": "recall", "ap": "map", "rr": "mrr", "hit": "success"}  # metrics of ir_measures
GAINS = {"log2": "linear", "exp-log2": "exponential"}  # its dcg


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="retrieval-report", description="Compare any retrieval systems on any data, and write one page."
    )
    for title, options in GROUPS.items():
        group = top.add_argument_group(title)
        for flag, settings in options.items():
            group.add_argument(flag, **settings)
    return top


def keywords(flags: Iterable[str]) -> list[str]:
    """Return options as keyword arguments: on_blank for --on-blank."""
    return [flag.removeprefix("--").replace("-", "_") for flag in flags]


def with_options(message: str) -> str:
    """Write the keyword arguments in a message of the package as options of this command: --on-blank skip."""
    names = "|".join(keywords([*DATA, "--cutoffs"]))
    message = re.sub(rf'\b({names})=(?:"(\w+)"|\[([\d, ]+)\])', r"\1=\2\3", message)  # one word needs no quotes
    return re.sub(rf"\b({names})=", lambda match: f"--{match[1].replace('_', '-')} ", message)


def our_name(text: str) -> str:
    """Return a metric under the name that :func:`helpers.metrics.evaluate` takes: ``AP@10`` is ``map@10``.

    The options of ir_measures that mean something here are ``dcg`` of nDCG, ``p`` of RBP and ``rel=1``.

    Raises:
        ValueError: another lowest relevant grade: it is one for all metrics.
    """
    name = re.sub(r"[\s'\"]", "", text).lower()
    match = re.fullmatch(r"([a-z_]+)(?:\((.*)\))?(@.*)?", name)
    if match is None:
        return name
    base, cutoff = ELSEWHERE.get(match[1], match[1]), match[3] or ""
    options = []
    for option in filter(None, (match[2] or "").split(",")):
        key, _, value = option.partition("=")
        if key == "rel" and value != "1":
            raise ValueError(f"{text.strip()!r}: give --relevance-level {value}, which holds for all metrics.")
        if key == "dcg" and base == "ndcg" and value in GAINS:
            option = f"gain={GAINS[value]}"
        if key == "p" and base == "rbp":
            option = f"persistence={value}"
        if key != "rel" and option != "gain=linear":
            options.append(f"({option})")
    return base + "".join(options) + cutoff


def split_metrics(text: str) -> list[str]:
    """Split a list of metrics at its commas, but those between parentheses."""
    return [our_name(name) for name in re.split(r",(?![^()]*\))", text)]


def read_gate(option: str, text: str, default: float | None = None) -> tuple[str, float]:
    """Read METRIC=VALUE, or METRIC alone where there is a default.

    Raises:
        ValueError: another form, or a value outside 0 to 1.
    """
    match = re.fullmatch(r"\s*(\w+(?:\([^()]*\))?(?:@\w+)?)\s*(?:=\s*([0-9]*\.?[0-9]+|[0-9]+\.)\s*)?", text)
    if match is None or (match[2] is None and default is None) or not 0 <= float(match[2] or 0) <= 1:
        form = "METRIC=VALUE" if default is None else "METRIC or METRIC=VALUE"
        raise ValueError(f"{option} {text!r}: expected {form} with a value from 0 to 1, such as ndcg@10=0.01.")
    return our_name(match[1]), float(match[2]) if match[2] else default or 0.0


def read_cutoffs(text: str) -> list[int]:
    """Read ranks from text. Raises ValueError unless all are whole numbers of at least 1."""
    parts = re.split(r"[,\s]+", text.strip())
    numbers = [int(part) if re.fullmatch(r"[0-9]{1,9}", part) else 0 for part in parts]
    if min(numbers) < 1:
        raise ValueError(f"--cutoffs {text!r}: expected whole numbers of at least 1, such as 1,10.")
    return numbers


def read_chunker(text: str) -> Chunker:
    """Read how documents are cut: a name, a number of tokens, or that number and the overlap, ``100/50``.

    Raises:
        ValueError: neither.
    """
    if text in CHUNKERS:
        return CHUNKERS[text]
    if not re.fullmatch(r"[0-9]+(/[0-9]+)?", text):
        raise ValueError(f"--chunks {text!r}: expected {', '.join(CHUNKERS)}, or tokens and overlap such as 100/50.")
    return tokens(*map(int, text.split("/")))
