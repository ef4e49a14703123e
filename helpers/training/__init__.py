"""Did training help? `change_of_runs` needs NumPy alone, the evaluator for trainers the extra [report]."""

from typing import TYPE_CHECKING, Any

from helpers.training.runs import change_of_runs

if TYPE_CHECKING:
    from helpers.training.evaluator import Look, RetrievalEvaluator

__all__ = ["Look", "RetrievalEvaluator", "change_of_runs"]


def __getattr__(name: str) -> Any:
    """Import the evaluator, and with it sentence-transformers, when it is first asked for."""
    if name in ("Look", "RetrievalEvaluator"):
        from helpers.training import evaluator

        return getattr(evaluator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
