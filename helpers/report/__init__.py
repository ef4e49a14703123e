"""Compare any systems on any data and write one page: `retrieval-report --help`, or `python -m helpers.report`.

command      the command line from its first check to its exit status
options      the options, one row each
spec         a system as text (`path?pooling=cls`) or as a table of a TOML file
check        mistakes in a spec that can be found before anything is computed
make         from a spec to a system
comparison   compare: any systems on one collection
results      means with intervals, paired tests
growth       scores of smaller corpora
causes       reasons why another evaluation may report a different number
gates        conditions for continuous integration
slices       the types of queries
files        results.json, per_query.csv, runs and judgements
page         the page; its words are in words/, a file a language
"""

from helpers.report.command import main
from helpers.report.comparison import Comparison, compare
from helpers.report.options import parser
from helpers.report.results import Result
from helpers.report.spec import Spec

__all__ = ["Comparison", "Result", "Spec", "compare", "main", "parser"]
