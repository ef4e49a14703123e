"""Results as mteb's files: what they hold, and, in `make test-slow`, that mteb itself loads them and agrees."""

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from helpers.data import RetrievalDataset, from_ids
from helpers.report import compare, main
from helpers.report.mteb import CUTOFFS, mteb_files
from helpers.systems import Ranking
from notebooks.kit.notebooks import ROOT

CHECK = """
import json, sys
from pathlib import Path
from mteb.cache import ResultCache
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

for folder in map(Path, sys.argv[1:]):
    qrels, run = {}, {}
    for line in (folder / "qrels.trec").read_text().splitlines():
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = int(grade)
    for line in (folder / "run.trec").read_text().splitlines():
        query, _, doc, _, score, _ = line.split()
        run.setdefault(query, {})[doc] = float(score)
    unanswered = len(qrels.keys() - run.keys())  # mteb leaves these out of the mean; here they count 0
    run |= {query: {} for query in qrels.keys() - run.keys()}
    [[result]] = [model.task_results for model in ResultCache(folder / "mteb").load_results(include_remote=False)]
    [[ours]] = result.scores.values()
    cutoffs = [k for k in (1, 3, 5, 10, 20, 100, 1000) if f"ndcg_at_{k}" in ours]
    scored = calculate_retrieval_scores(run, qrels, cutoffs)
    theirs = {f"{ours}_at_{k.split('@')[1]}": v
              for theirs, ours in (("map", "map"), ("hit_rate", "hit_rate"), ("ndcg", "ndcg"), ("recall", "recall"),
                                   ("precision", "precision"), ("mrr", "mrr"))
              for k, v in getattr(scored, theirs).items()}
    print(json.dumps({"set": folder.name, "main": result.get_score(), "values": len(theirs),
                      "unanswered": unanswered,
                      "largest": max(abs(theirs[name] - ours[name]) for name in theirs)}))
"""


@dataclass
class Fixed:
    """A system with a given ranking."""

    ids: np.ndarray

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the ranking, whatever the data."""
        return Ranking(-np.arange(self.ids.shape[1], dtype=np.float32) * np.ones((len(self.ids), 1)), self.ids)


def test_the_files_hold_mtebs_names_and_count_every_grade_as_relevant() -> None:
    """mteb would not load the file, or its number would be that of another rule."""
    data = from_ids(
        "owner/set@v2", {"a": "a", "b": "b"}, {str(i): f"text {i}" for i in range(12)},
        {"a": {"0": 1, "5": 2}, "b": {"3": 2}},
    )  # fmt: skip
    data = replace(data, relevance_level=2, split="test")
    ranking = np.array([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 3, 0, 2, 4, 5, 6, 7, 8, 9]])
    files = mteb_files(compare({"owner/model@v1": Fixed(ranking)}, data, 10))
    folder = "mteb/results/owner__model/v1"
    assert set(files) == {f"{folder}/set.json", f"{folder}/model_meta.json", f"{folder}/model-index.yml"}
    record = json.loads(files[f"{folder}/set.json"])
    assert (record["task_name"], record["dataset_revision"], record["mteb_version"]) == ("set", "v2", None)
    [scores] = record["scores"]["test"]
    assert scores["mrr_at_10"] == 0.75  # the first at rank 1 with grade 1, which the collection does not call relevant
    assert scores["hit_rate_at_1"] == 0.5
    assert scores["recall_at_5"] == 0.75
    assert scores["main_score"] == scores["ndcg_at_10"]
    assert {int(name.rpartition("_")[2]) for name in scores if "_at_" in name} == {1, 3, 5, 10}
    assert json.loads(files[f"{folder}/model_meta.json"])["name"] == "owner/model"
    [model] = yaml.safe_load(files[f"{folder}/model-index.yml"].strip("-\n"))["model-index"]
    [result] = model["results"]
    assert {"type": "ndcg_at_10", "value": scores["ndcg_at_10"]} in result["metrics"]
    with pytest.raises(ValueError, match=r"export mteb=\.\./x"):
        mteb_files(compare({"mine": Fixed(ranking)}, data, 10), "../x")


def test_the_command_writes_them_and_an_earlier_export_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results of last week would be loaded with this week's, or somebody's own results beside them be deleted."""
    options = ["--system", "bm25", "--max-queries", "5", "--no-growth", "--quiet", "--out", str(tmp_path)]
    assert main([*options, "--export", "mteb=Old"]) == 0
    [old] = tmp_path.rglob("Old.json")
    mine = old.with_name("Mine.json")
    mine.write_text("{}", encoding="utf-8")
    assert main([*options, "--export", "mteb"]) == 0
    names = {path.name for path in tmp_path.rglob("mteb/results/*/*/*.json")}
    assert names == {"pocket-en.json", "model_meta.json", "Mine.json"}
    capsys.readouterr()
    assert main([*options, "--export", "beir"]) == 1
    assert "--export beir: expected mteb" in capsys.readouterr().err


@pytest.mark.slow
def test_mteb_loads_the_files_and_computes_the_same(tmp_path: Path, real_data: Path) -> None:
    """mteb could refuse the files, or score the same run otherwise, on any of five collections."""
    subprocess.run(["make", "build/acid/.ready"], cwd=ROOT, check=True)
    folders = []
    for data in (
        "pocket-en",
        "pocket-zh",
        *(str(real_data / name) for name in ("xquad_en", "xquad_zh", "msmarco_dev")),
    ):
        folders.append(str(tmp_path / Path(data).name))
        command = ["--data", data, "--system", "tfidf", "--no-growth", "--quiet", "--cutoffs", "1,10,200"]
        assert main([*command, "--export", "mteb=Set", "--out", folders[-1]]) == 0
    python = ROOT / "build" / "acid" / "bin" / "python"
    run = subprocess.run([python, "-c", CHECK, *folders], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    compared = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    print(*compared, sep="\n")
    assert len(compared) == 5
    assert all(one["values"] >= 6 * (len(CUTOFFS) - 1) for one in compared)
    assert all(one["largest"] <= 1e-5 for one in compared)
    assert all(0 < one["main"] < 1 for one in compared)
