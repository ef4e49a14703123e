"""Compare any systems on any data and write one page: `retrieval-report --help`, or `python -m helpers.report`.

command      the command line from its first check to its exit status
options      the options, one row each
spec         a system as text (`path?pooling=cls`) or as a table of a TOML file, and what is checked of it at once
make         from a spec to a system
comparison   compare: any systems on one collection; scores of smaller corpora
results      means with intervals, paired tests
causes       reasons why another evaluation may report a different number
reading      long documents, cut into chunks: the evidence that reaches a reader
names        names of metrics, ours and those of ir_measures
baseline     an earlier report, to compare with
gates        conditions for continuous integration
outcome      JUnit XML and a summary in Markdown
suite        reports on several data sets in one page
files        results.json, per_query.csv, runs and judgements
page         the page; its words are in words/, a file a language
"""

from helpers.report.command import main
from helpers.report.comparison import Comparison, compare
from helpers.report.options import parser
from helpers.report.results import Result
from helpers.report.spec import Spec

__all__ = ["Comparison", "Result", "Spec", "compare", "main", "parser"]
