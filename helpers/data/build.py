"""Build a collection: of texts by id, or of texts with the grades that each query gives them."""

from collections.abc import Mapping, Sequence

from helpers.data.dataset import Qrels, RetrievalDataset
from helpers.data.leave_out import LeftOut

Cell = str | Sequence[str] | None


def from_ids(
    name: str,
    queries: Mapping[str, str],
    corpus: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    equal: str = "merge",
) -> RetrievalDataset:
    """Build a collection from texts by id and judgements ``{query id: {passage id: grade}}``.

    Equal passages are merged into the first of them, which gets the highest of their grades, unless
    ``equal="keep"``. A judged document that the corpus lacks keeps its judgement, see
    ``RetrievalDataset.ids_without_text``.
    """
    first_id: dict[str, str] = {}
    for passage, text in corpus.items():
        first_id.setdefault(text, passage)
    same_as = {passage: first_id[text] for passage, text in corpus.items() if first_id[text] != passage}
    if equal == "keep":
        same_as = {}
    kept = [passage for passage in corpus if passage not in same_as]
    judged_ids = dict.fromkeys(passage for query in queries for passage in qrels.get(query, {}))
    without_text = [passage for passage in judged_ids if passage not in corpus]
    row_of_id = {passage: row for row, passage in enumerate([*kept, *without_text])}
    rows: Qrels = []
    for query in queries:
        judged: dict[int, int] = {}
        for passage, grade in qrels.get(query, {}).items():
            row = row_of_id[same_as.get(passage, passage)]
            judged[row] = max(grade, judged.get(row, grade))
        rows.append(judged)
    return RetrievalDataset(
        name=name,
        queries=list(queries.values()),
        corpus=[corpus[passage] for passage in kept],
        qrels=rows,
        query_ids=list(queries),
        corpus_ids=kept,
        merged=len(same_as),
        same_as=same_as,
        ids_without_text=without_text,
    )


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
    if relevant and not left_out.keep_missing:
        message = (
            f"{name}: {len(relevant)} relevant passages are not in the corpus, the first of query {relevant[0][0]}. "
            "Search a corpus that holds them."
        )
        left_out.missing([text[:60] for _, text in relevant], "passage", message)
        left_out.count("judgements", len(relevant))
        absent = [(row, text) for row, text in absent if judged[row][text] <= 0]
    passages = list(row_of_text)
    for _, text in absent:
        row_of_text.setdefault(text, len(row_of_text))
    return RetrievalDataset(
        name=name,
        queries=list(queries),
        corpus=passages,
        qrels=[{row_of_text[text]: g for text, g in grades.items() if text in row_of_text} for grades in judged],
        query_ids=[str(row) for row in range(len(queries))],
        corpus_ids=[str(row) for row in range(len(passages))],
        ids_without_text=[str(row) for row in range(len(passages), len(row_of_text))],
        merged=0 if corpus_texts is None else len(texts) - len(passages),
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
