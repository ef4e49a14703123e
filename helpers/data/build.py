"""Build a collection: of texts by id, of columns of texts, or of texts with the grades that each query gives them."""

from collections.abc import Mapping, Sequence

from helpers.data.dataset import Qrels, RetrievalDataset, check_texts
from helpers.data.leave_out import LeftOut

Cell = str | Sequence[str] | None


def from_ids(
    name: str, queries: Mapping[str, str], corpus: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]
) -> RetrievalDataset:
    """Build a collection from texts by id and judgements ``{query id: {passage id: grade}}``.

    Equal passages are merged into the first of them, which gets the highest of their grades. A judgement of a
    passage that the corpus lacks is left out.
    """
    first_id: dict[str, str] = {}
    for passage, text in corpus.items():
        first_id.setdefault(text, passage)
    row_of_text = {text: row for row, text in enumerate(first_id)}
    row_of_id = {passage: row_of_text[text] for passage, text in corpus.items()}
    rows: Qrels = []
    for query in queries:
        judged: dict[int, int] = {}
        for passage, grade in qrels.get(query, {}).items():
            if passage in row_of_id:
                row = row_of_id[passage]
                judged[row] = max(grade, judged.get(row, grade))
        rows.append(judged)
    return RetrievalDataset(
        name=name,
        queries=list(queries.values()),
        corpus=list(first_id),
        qrels=rows,
        query_ids=list(queries),
        corpus_ids=list(first_id.values()),
        merged=len(corpus) - len(first_id),
    )


def from_columns(
    name: str,
    queries: Sequence[str],
    positives: Sequence[Cell],
    negatives: Sequence[Cell] | None = None,
    corpus_texts: Sequence[str] | None = None,
) -> RetrievalDataset:
    """Build a collection from parallel columns of texts.

    Args:
        name: what to call it.
        queries: q texts.
        positives, negatives: for each query a text or a list of texts, graded 1 and 0.
        corpus_texts: the passages to search; by default all that the columns name, in order of appearance.

    Raises:
        ValueError: no rows, a text that is missing or not a string, one text where a list of them is expected,
            columns of other lengths, a passage that is positive and negative, a positive that the corpus lacks.
    """
    if not len(queries):
        raise ValueError(f"{name}: no rows. A collection needs at least one query.")
    check_texts("query", queries)
    relevant = _cells(name, "positives", positives, len(queries))
    wanting = _cells(name, "negatives", [None] * len(queries) if negatives is None else negatives, len(queries))
    judged = []
    for row in range(len(queries)):
        pairs = [(text, 1) for text in relevant[row]] + [(text, 0) for text in wanting[row]]
        judged.append(judge(name, row, pairs))
    if corpus_texts is not None:
        check_texts("passage", corpus_texts)
    return from_texts(name, queries, judged, corpus_texts, LeftOut())


def from_texts(
    name: str,
    queries: Sequence[str],
    judged: Sequence[Mapping[str, int]],
    corpus_texts: Sequence[str] | None,
    left_out: LeftOut,
) -> RetrievalDataset:
    """Build a collection from queries and what each of them judges, ``{text of a passage: grade}``.

    Args:
        name: what to call it.
        queries, judged: q texts and q dicts.
        corpus_texts: the passages to search; by default all that are judged, in order of appearance.
        left_out: whether relevant passages that the corpus lacks may go, and the counts.
    """
    texts = [text for grades in judged for text in grades] if corpus_texts is None else corpus_texts
    row_of_text = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    absent = [(row, text) for row, grades in enumerate(judged) for text in grades if text not in row_of_text]
    relevant = [(row, text) for row, text in absent if judged[row][text] > 0]
    if relevant:
        message = (
            f"{name}: {len(relevant)} relevant passages are not in the corpus, the first of query {relevant[0][0]}. "
            "Search a corpus that holds them."
        )
        left_out.missing([text[:60] for _, text in relevant], "passage", message)
    left_out.count("judgements", len(absent))
    return RetrievalDataset(
        name=name,
        queries=list(queries),
        corpus=list(row_of_text),
        qrels=[{row_of_text[text]: g for text, g in grades.items() if text in row_of_text} for grades in judged],
        query_ids=[str(row) for row in range(len(queries))],
        corpus_ids=[str(row) for row in range(len(row_of_text))],
        merged=0 if corpus_texts is None else len(texts) - len(row_of_text),
        skipped=dict(left_out.counts),
    )


def judge(name: str, row: int, pairs: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Take a query's passages and their grades as a dict; the same pair may come again with the same grade.

    Raises:
        ValueError: a passage has two grades.
    """
    judged: dict[str, int] = {}
    for text, grade in pairs:
        if judged.setdefault(text, grade) != grade:
            raise ValueError(
                f"{name}: query {row} judges one passage twice, with the grades {judged[text]} and {grade}: "
                f"{text[:60]!r}. Keep one of them."
            )
    return judged


def as_list(cell: Cell) -> list[str]:
    """Take a cell that holds one text, several, or none (``None``) as a list."""
    if cell is None:
        return []
    return [cell] if isinstance(cell, str) or not isinstance(cell, Sequence) else list(cell)


def _cells(name: str, column: str, cells: Sequence[Cell], rows: int) -> list[list[str]]:
    """Take a column of texts or lists of texts as lists, and see that it has so many rows."""
    if isinstance(cells, str):
        raise ValueError(f"{name}: {column} is one text, {cells[:60]!r}; expected a list with a cell for each query.")
    if len(cells) != rows:
        raise ValueError(f"{name}: {column} has {len(cells)} cells for {rows} queries; they must match.")
    lists = [as_list(cell) for cell in cells]
    check_texts("passage", [text for texts in lists for text in texts], may_be_empty=True)
    return lists
