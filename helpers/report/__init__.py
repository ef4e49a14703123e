"""Compare any systems on any data and write one page: `retrieval-report --help`, or `python -m helpers.report`."""

# command      the command line: its options, one row each, from the first check of them to the exit status
# spec         a system as text (`path?pooling=cls`) or as a table of a TOML file, and its early checks
# comparison   compare: from specs to systems, rankings and scores on one collection
# results      means with intervals, paired tests; results.json, per_query.csv, runs and judgements
# causes       reasons why another evaluation may report a different number
# page         the page; its words are in words/, a file a language
# gates        conditions for continuous integration, an earlier report among them

from helpers.report.command import main, parser
from helpers.report.comparison import compare
from helpers.report.results import Comparison, Result
from helpers.report.spec import Spec

__all__ = ["Comparison", "Result", "Spec", "compare", "main", "parser"]
