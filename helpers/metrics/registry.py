"""The `@metric` decorator: registers a definition, and makes of it a function that takes rankings or hits."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import numpy as np

from helpers.metrics.hits import Hits, find_hits
from helpers.metrics.inputs import Retrieved, checked_cutoff
from helpers.metrics.qrels import Qrels

Option = str | float | None
Definition = Callable[..., np.ndarray]  # (hits), (hits, k) or (hits, k, *, option) -> one value a query
DEFAULT_CUTOFF = 10
ELSEWHERE = {  # what other programs call the same, in lower case
    **{"p": "precision", "r": "recall", "ap": "map", "rr": "mrr", "hit": "success"},  # ir_measures
    **{"map_cut": "map", "ndcg_cut": "ndcg", "recip_rank": "mrr", "relative_p": "capped_recall"},  # trec_eval
    **{"hit_rate": "success", "r-precision": "rprec", "ndcg_burges": "ndcg(gain=exponential)"},  # ranx
    **{"accuracy": "success", "r_cap": "capped_recall"},  # sentence-transformers, BEIR
}
UNCUT_TOO = ("map", "mrr", "ndcg", "rbp")  # trec_eval's map, recip_rank and ndcg, ir_measures' RBP
ARGUMENTS = {  # those of all metrics, as their docstrings explain them
    "hits": "what `find_hits` returns; or, in its place, two arguments, rankings and judgements, as in `evaluate`.",
    "k": "the cutoff, the last rank that counts; 10 by default.",
    "gain": '"linear", the grade itself, or "exponential", 2^grade - 1.',
    "persistence": "p, above 0 and below 1.",
    "max_grade": "the highest grade of the scale; by default the highest in the judgements.",
}


@dataclass(frozen=True)
class Metric:
    """A definition with its name and its options. Without a cutoff it looks at the whole ranking."""

    name: str
    definition: Definition
    takes_cutoff: bool
    options: tuple[str, ...]
    uncut: bool  # whether it is computed of the whole ranking too, under a name without a cutoff

    def cutoff(self, k: object) -> int | None:
        """`k` as a number, 10 if it is None; None for a metric that takes no cutoff."""
        if self.takes_cutoff:
            return checked_cutoff(DEFAULT_CUTOFF if k is None else k)
        if k is not None:
            raise ValueError(f"{self.name}@{k}: {self.name} takes no cutoff, it sets its own depth. Leave it out.")
        return None

    def of(self, hits: Hits, k: int | None, **options: Option) -> np.ndarray:
        """The values for hits that are deep enough."""
        return self.definition(hits, k, **options) if self.takes_cutoff else self.definition(hits, **options)


METRICS: dict[str, Metric] = {}
"""Every metric by the name that `evaluate` takes.

:meta hide-value:
"""


def our_name(name: str) -> str:
    """A metric's name as it is here: `ndcg@10` for trec_eval's `ndcg_cut_10` and `ndcg_cut.10`, MTEB's `ndcg_at_10`."""
    text = re.sub(r"^([^@(]+?)(?:_at_|[_.])(\d+)$", r"\1@\2", name.strip().lower())
    text = re.sub("^(cosine|cos_sim|dot|euclidean|manhattan)[_-](?!map)", "", text)  # sentence-transformers, whose MAP
    base = re.split("[(@]", text)[0]
    if base not in METRICS and base not in ELSEWHERE:
        from difflib import get_close_matches  # for the message alone

        near = get_close_matches(base, METRICS, 1, 0.7)
        meant = f" Did you mean {near[0]}{text[len(base) :]}?" if near else ""
        raise ValueError(f"Unknown metric {name!r}.{meant} Known: {', '.join(METRICS)}, with a cutoff such as ndcg@10.")
    return ELSEWHERE.get(base, base) + text[len(base) :]


def metric(name: str) -> Callable[[Definition], Definition]:
    """Register a definition under the name that `evaluate` takes.

    Whether the metric takes a cutoff, and which options, is read from the definition's parameters: `k`, and those
    that can be given by keyword only.
    """

    def register(definition: Definition) -> Definition:
        parameters = inspect.signature(definition).parameters.values()
        options = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        takes_cutoff = any(p.name == "k" for p in parameters)
        METRICS[name] = entry = Metric(name, definition, takes_cutoff, options, name in UNCUT_TOO)

        @wraps(definition)
        def function(
            retrieved: Retrieved | Hits, qrels: Qrels | int | None = None, k: int | None = None, **options: Option
        ) -> np.ndarray:
            if isinstance(retrieved, Hits) and k is None and isinstance(qrels, (int, np.integer)):
                qrels, k = None, qrels  # called as recall(hits, k)
            if isinstance(qrels, (int, np.integer)):
                raise TypeError(
                    f"qrels is {qrels!r}: give the judgements as the second argument, the cutoff as the third."
                )
            cutoff = entry.cutoff(k)
            return entry.of(find_hits(retrieved, qrels, cutoff), cutoff, **options)

        function.__doc__ = _documented(definition)
        return function

    return register


def _documented(definition: Definition) -> str:
    """The docstring of a definition and what all metrics share, which would be longer than their sources."""
    text, raises, errors = inspect.cleandoc(definition.__doc__ or "").partition("Raises:\n")
    taken = [name for name in inspect.signature(definition).parameters if name in ARGUMENTS]
    shared = [f"    {name}: {ARGUMENTS[name]}" for name in taken]
    returns = "    One value for each query, (q,) float64; their mean is the score of the system."
    return "\n".join([text.rstrip(), "", "Args:", *shared, "", "Returns:", returns, "", raises + errors])
