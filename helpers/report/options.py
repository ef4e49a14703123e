"""The options of the report's command: one row each."""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

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
    "--device": {"help": "of models that name none: cpu, cuda:0 …"},
    "--half": {"action": "store_true", "default": None, "help": "16-bit floats on a GPU"},
    "--index": {"help": "a FAISS index_factory string, by default Flat"},
    "--batch-size": {"type": int, "help": "texts a forward pass"},
}
DATA: Group = {  # also parameters of load_dataset
    "--queries": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--corpus": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--qrels": {"help": "file of judgements by id, in the folder DATA or a path of its own; alone, for runs"},
    "--columns": {"help": 'the names of your columns: "query=question, positive=answer"'},
    "--config": {"help": "which configuration or language, where the data set has several: zh"},
    "--split": {"help": "which split holds the queries"},
    "--relevance-level": {"type": int, "help": "the lowest grade that counts as relevant"},
    "--max-queries": {"type": int, "help": "evaluate the first so many queries"},
    "--corpus-queries": {"type": int, "help": "search only what is relevant to the first so many queries"},
    "--on-blank": {"choices": ("raise", "skip"), "help": "blank documents"},
    "--on-missing": {"choices": ("raise", "skip", "keep"),
                     "help": "relevant documents without a text: skip changes R and the ideal ranking"},
    "--unanswered": {"choices": ("zero", "skip"), "help": "queries without a relevant passage"},
    "--encoding": {"help": "of CSV, TSV and JSON files, where it is not UTF-8: gb18030"},
    "--equal": {"choices": ("merge", "keep"), "help": "passages with equal texts: by default one"},
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
    "--export": {"metavar": "mteb[=TASK]", "help": "write the results as mteb's files too, of a task of this name"},
    "--no-growth": {"action": "store_true", "help": "leave out the scores of smaller corpora"},
    "--language": {"choices": LANGUAGES, "default": "en", "help": "of the page"},
    "--out": {"type": Path, "default": Path("build/report"),
              "help": "folder of the page and the results; those of an earlier report go"},
    "--quiet": {"action": "store_true", "help": "no progress bars"},
    "--fail-under": {"action": "append", "default": [], "metavar": "METRIC=VALUE",
                     "help": "exit with 3 if the first system stays below"},
    "--fail-if-worse-than": {"action": "append", "default": [], "metavar": "SYSTEM",
                             "help": "exit with 3 if the first system is significantly worse"},
    "--baseline": {"type": Path, "metavar": "FOLDER",
                   "help": "an earlier report on the same data; exit with 4 if it is of other data"},
    "--fail-if-drop": {"action": "append", "default": [], "metavar": "METRIC[=MARGIN]",
                       "help": "exit with 3 if the first system fell since the baseline, and a loss of the margin "
                       "cannot be excluded; by default the metric that decides, and no margin"},
    "--level": {"type": float, "default": 0.05,
                "help": "significance level, 0.05; shared by all --fail-if-drop and --looks"},
    "--looks": {"type": int, "default": 1, "metavar": "N", "help": "how often one baseline will be compared with"},
    "--junit": {"type": Path, "metavar": "FILE", "help": "write the gates as JUnit XML too"},
    "--comment": {"type": Path, "metavar": "FILE", "help": "write a summary in Markdown too, for a pull request"},
}  # fmt: skip
GROUPS = {
    "systems: a hub id, a model folder, a folder of embeddings, a TREC run, bm25, tfidf": SYSTEMS | MODELS,
    "data": {"--data": {"help": f"bundled name, hub id, folder or table file; default {DATA_DEFAULT}"}} | DATA,
    "what is computed and written": OUTPUT,
}


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
