"""Evaluate your own model on your own data, and write what came out as one page: `python -m helpers.report --help`.

Lesson 01 is executed with other parameters, and the outputs that say something about model and data are put under
headings of their own; the lesson's prose, which is about the bundled collection, stays behind.
"""

import argparse
import ast
import contextlib
import html
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers.files import whole_file

LESSONS = Path(__file__).parents[1] / "notebooks"
SECTIONS = {  # the cells of lesson 01 that a report shows, under which heading, in English and in Chinese
    "load": ("Data", "数据"),
    "corpora": ("Corpora", "语料库"),
    "model": ("Model", "模型"),
    "score": ("Scores", "得分"),
    "intervals": ("95 % intervals over the queries", "得分的95%置信区间"),
    "growth": ("Scores against the size of the corpus", "得分与语料库大小"),
    "failures": ("Where it fails", "错在哪里"),
    "failure-one": ("The worst failure", "最差的一例"),
    "failure-two": ("The next", "其次的一例"),
    "provenance": ("What this was made with", "来源记录"),
}
NOTES = {  # what a section's outputs do not say of themselves
    "corpora": (
        "whole corpus: every passage; answers only: those relevant to some query.",
        "whole corpus是全部段落，answers only只含与某个查询相关的段落。",
    ),
    "score": (
        "Means over the queries. capped_recall divides by k where more than k passages are relevant.",
        "各查询得分的平均值。相关段落多于k个时，capped_recall以k为分母。",
    ),
    "intervals": (
        "On the whole corpus: how far off the means may be because the queries are only a sample.",
        "在全部段落上检索。查询只是样本，区间表示平均值可能因此偏离多少。",
    ),
    "growth": (
        "First the passages with a grade above 0 alone, then the others added in random order.",
        "先只有等级大于0的段落，再按随机顺序加入其余段落。",
    ),
    "failures": (
        "Queries whose first passage is not relevant, at most eight, those answered last on top.",
        "排在首位的段落不相关的查询，至多列出八个，相关段落出现得越晚越靠前。",
    ),
}
WORDS = {
    "en": ("{model} on {data}", "Model against model", "The difference is {a} minus {b}, on the same queries."),
    "zh": ("{model}在{data}上的评估", "两个模型相比", "差值为{a}减去{b}，查询相同。"),
}
NO_ALT = 'alt="No description has been provided for this image"'  # what nbconvert writes
STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere } h1 { font-size: 1.6rem }
h2 { margin-top: 2rem; font-size: 1.2rem }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums }
table, th, td { border: 0 solid #ddd }
th, td { padding: .3rem .6rem; border-bottom-width: 1px; text-align: left !important; vertical-align: top !important }
img { max-width: 100%; height: auto }
pre { margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem }
div { overflow-x: auto }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # nothing from elsewhere, and no script


def run_lesson(parameters: Mapping[str, object], target: str | Path, language: str = "en") -> Path:
    """Execute lesson 01 with parameters, as papermill does, but refuse a name that the lesson does not know.

    Args:
        parameters: names of the cell tagged ``parameters``, and values.
        target: where the executed notebook goes.
        language: ``"en"`` or ``"zh"``.

    Raises:
        ValueError: an unknown parameter; papermill would pass over it in silence.
        RuntimeError: a cell failed; the message is that of the cell.
    """
    import papermill

    source = LESSONS / language / "01_evaluation.ipynb"
    if not source.exists():
        raise FileNotFoundError("No lesson 01 beside the package; run this in a checkout of the repository.")
    known = papermill.inspect_notebook(str(source))
    if unknown := set(parameters) - set(known):
        raise ValueError(f"Lesson 01 has no parameter {', '.join(sorted(unknown))}; it has {', '.join(known)}.")
    try:
        with tempfile.TemporaryDirectory() as folder:  # the lesson leaves nothing behind
            papermill.execute_notebook(
                str(source), str(target), dict(parameters), cwd=folder, progress_bar=False, coalesce_streams=True,
                store_widget_state=False, request_save_on_cell_execute=False, extra_arguments=["--log-level=40"],
            )  # fmt: skip
    except papermill.PapermillExecutionError as error:
        raise RuntimeError(f"{error.ename}: {error.evalue}") from None
    return Path(target)


def write_page(notebook: str | Path, page: str | Path, title: str, extra: str = "", language: str = "en") -> None:
    """Write the outputs of an executed lesson 01 as one HTML file that needs nothing else and runs no script.

    Args:
        notebook: what :func:`run_lesson` wrote.
        page: where the HTML file goes.
        title: plain text.
        extra: HTML to put before the provenance; whoever makes it escapes what comes from the data.
        language: ``"en"`` or ``"zh"``.
    """
    import nbformat
    from nbconvert import HTMLExporter

    cells = {cell.id: cell for cell in nbformat.read(str(notebook), as_version=4).cells}
    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    parts = []
    for cell_id, headings in SECTIONS.items():
        if not cells[cell_id].outputs:  # there was no second failure, say
            continue
        part = nbformat.v4.new_notebook(cells=[cells[cell_id]])
        heading, note = (texts[language == "zh"] for texts in (headings, NOTES.get(cell_id, ("", ""))))
        shown = exporter.from_notebook_node(part)[0].replace(NO_ALT, f'alt="{heading}"')
        parts += [extra] * (cell_id == "provenance") + [f"<h2>{heading}</h2>", f"<p>{note}</p>" * bool(note), shown]
    head = (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>'
    )
    with whole_file(page) as temporary:
        body = f"<body><h1>{html.escape(title)}</h1>{''.join(parts)}</body></html>\n"
        temporary.write_text(head + body, encoding="utf-8")


def compare(parameters: Mapping[str, object], against: str, language: str = "en") -> str:
    """Evaluate a second model on the same queries and test the difference; HTML of three tables.

    Below them stands what the second model is; the lesson's own provenance tells of the first. The p-value is that
    of the paired randomisation test, see :func:`helpers.significance.paired_test`.
    """
    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.index import build_index, search
    from helpers.metrics import evaluate
    from helpers.models import load_model
    from helpers.tables import paired_table, score_table

    names = {"DATASET": "source", "RELEVANCE_LEVEL": "relevance_level"}
    names |= {name: name.lower() for name in ("SPLIT", "QUERIES", "CORPUS", "QRELS", "COLUMNS", "MAX_QUERIES")}
    options = {"max_queries": 100} | {names[key]: value for key, value in parameters.items() if key in names}
    data, results = load_dataset(**options), {}
    for name in (str(parameters["MODEL"]), against):
        model = load_model(name, device=parameters.get("DEVICE"), half=bool(parameters.get("HALF")))
        passages, queries = encode(model, data.corpus), encode(model, data.queries, kind="query")
        _, ids = search(build_index(passages), queries, k=min(10, len(data.corpus)))
        results[model.info.name] = evaluate(
            ids, data.qrels, ["recall@1", "recall@10", "mrr@10", "ndcg@10"], relevance_level=data.relevance_level
        )
    if len(results) < 2:
        raise ValueError(f"Give two models of different names; both are {model.info.name!r}.")
    first, second = results
    tables = [score_table(results)] + [paired_table(results, first, metric) for metric in ("mrr@10", "ndcg@10")]
    captions = ["", "<h3>MRR@10</h3>", "<h3>nDCG@10</h3>"]
    shown = "".join(
        c + t.to_html(border=0, float_format="{:.4f}".format) for c, t in zip(captions, tables, strict=True)
    )
    _, heading, note = WORDS[language]
    note = html.escape(note.format(a=first, b=second))
    made_with = html.escape(json.dumps(vars(model.info), indent=1, ensure_ascii=False))
    return f"<h2>{heading}</h2><p>{note}</p>{shown}<pre>{made_with}</pre>"


def short(name: object) -> str:
    """Name a file or folder by its last part, so that the page says nothing of where it lies; a hub id as it is."""
    path = Path(str(name)).expanduser()
    return path.resolve().name if path.exists() else str(name)


def given(args: argparse.Namespace) -> dict[str, object]:
    """Turn the command line into parameters of the lesson; paths become absolute, since it runs elsewhere."""
    found: dict[str, object] = {}
    options = {"MODEL": args.model, "DATASET": args.data, "QUERIES": args.queries, "CORPUS": args.corpus}
    for name, value in (options | {"QRELS": args.qrels, "COLUMNS": args.columns}).items():
        if value:
            path = Path(value).expanduser()
            found[name] = str(path.resolve()) if name != "COLUMNS" and path.exists() else value
    for setting in args.parameter:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"{setting!r}: expected NAME=VALUE.")
        found[name] = value
        with contextlib.suppress(ValueError, SyntaxError):
            found[name] = ast.literal_eval(value)  # None, True, a number, a list of cutoffs
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m helpers.report", description=__doc__.split(":")[0] + ".")
    top.add_argument(
        "--model",
        default="sentence-transformers/all-MiniLM-L6-v2",
        help="hub id, folder, or folder of embeddings (.npy)",
    )
    top.add_argument("--against", help="a second model, compared on the same queries by a paired test")
    top.add_argument("--data", default="pocket-en", help="bundled name, hub id, folder (hub, BEIR) or table file")
    for name, what in (("queries", "ids and texts"), ("corpus", "ids and texts"), ("qrels", "judgements by id")):
        top.add_argument(f"--{name}", help=f"file of {what}, in the folder DATA or a path of its own")
    top.add_argument("--columns", help='what your columns are called: "query=question, positive=answer"')
    top.add_argument(
        "-p", dest="parameter", action="append", default=[], metavar="NAME=VALUE", help="other parameters of lesson 01"
    )
    top.add_argument("--language", choices=WORDS, default="en", help="of the headings")
    top.add_argument("--out", type=Path, default=Path("build/report"), help="folder of report.html and report.ipynb")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit status: 0 well, 1 an error, told in one line."""
    args = parser().parse_args(argv)
    try:
        parameters = given(args)
        args.out.mkdir(parents=True, exist_ok=True)
        target, page = (args.out.resolve() / name for name in ("report.ipynb", "report.html"))
        run_lesson(parameters, target, args.language)
        extra = compare(parameters, args.against, args.language) if args.against else ""
        title = WORDS[args.language][0].format(model=short(parameters["MODEL"]), data=short(parameters["DATASET"]))
        write_page(target, page, title, extra, args.language)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"report: {args.out / page.name}\nexecuted lesson: {args.out / target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
