"""The scenarios of the acid test: judgements, a run, and what they are there to show."""

from __future__ import annotations

import math
from typing import NamedTuple

from tests.acid.reference import Grades, Ranking

ORDER = "trec_eval, form_res_rels.c: score in single precision descending, then document id descending"
DIVISOR = "trec_eval, m_recall.c, m_P.c, m_map_cut.c: divided by R, by k and by R"
IDEAL = "trec_eval, m_ndcg_cut.c: gain = grade, discount log2(rank + 1), ideal over all judged documents"
LEVEL = "trec_eval, option -l: relevant from grade 1; a grade below 0 has no gain"
UNJUDGED = "trec_eval, form_res_rels.c: an unjudged document is not relevant and keeps its rank"
MEAN = "trec_eval, option -c: the mean runs over all judged queries; a missing one counts 0"
TWICE = "trec_eval refuses a document listed twice for a query; if it is counted, then once, where it is first"


class Scenario(NamedTuple):
    """Judgements and a run; `answer` is "value", "error", or "either" where both are right."""

    name: str
    en: str
    zh: str
    qrels: dict[str, Grades]
    run: dict[str, Ranking]
    cutoffs: tuple[int, ...]
    source: str
    answer: str = "value"
    convention: str = "trec_eval"


def letters(relevant: str) -> dict[str, Grades]:
    """Judgements of one query: each letter is a relevant document."""
    return {"q1": dict.fromkeys(relevant, 1)}


def ranked(docs: str) -> dict[str, Ranking]:
    """A run of one query: each letter is a document, the best first, with falling scores."""
    return {"q1": {doc: float(len(docs) - place) for place, doc in enumerate(docs)}}


TIES = [
    Scenario("all-equal-last-wins", "All scores are equal, so the id decides, as text from high to low: c is first.",
             "所有得分相同，由id决定：作为文本降序，c排第一。",
             letters("c"), {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}}, (1, 2), ORDER),
    Scenario("all-equal-first-loses", "All scores are equal: a is the last id as text, so it comes third.",
             "所有得分相同：a作为文本最小，排第三。",
             letters("a"), {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}}, (1, 2, 3), ORDER),
    Scenario("pair-at-the-cutoff", "Two documents share the score at the cutoff; only the higher id is in.",
             "两个文档在截断处得分相同，只有id较大的一个在内。",
             letters("ad"), {"q1": {"x": 3.0, "a": 2.0, "b": 2.0, "d": 1.0}}, (2, 3), ORDER),
    Scenario("grades-in-a-tie", "Grades 3 and 1 share a score: the id decides which comes first, not the grade.",
             "等级3和1得分相同：由id而不是等级决定先后。",
             {"q1": {"a": 3, "b": 1}}, {"q1": {"a": 0.5, "b": 0.5}}, (1, 2), ORDER),
    Scenario("case-of-letters", "As text a small letter comes after every capital, so a is ranked above B.",
             "作为文本，小写字母排在所有大写字母之后，降序时a在B之前。",
             letters("B"), {"q1": {"B": 1.0, "a": 1.0}}, (1, 2), ORDER),
    Scenario("worst-first", "A dictionary has no order: scores decide, also when the worst is listed first.",
             "字典没有顺序：由得分决定，即使最差的写在最前。",
             letters("a"), {"q1": {"x": 1.0, "y": 2.0, "a": 3.0}}, (1, 3), ORDER),
]  # fmt: skip
REPEATS = [
    Scenario("hit-twice", "The relevant document a is listed twice; it was found once.",
             "相关文档a出现两次，但只算找到一次。",
             letters("ab"), {"q1": ["a", "a", "b"]}, (2, 3), TWICE, "either", "refuse or count once"),
    Scenario("hit-three-times", "One of three relevant documents fills the ranking; recall is a third, not one.",
             "三个相关文档中的一个占满排序：召回率是三分之一，不是一。",
             letters("abc"), {"q1": ["a", "a", "a"]}, (3, 10), TWICE, "either", "refuse or count once"),
    Scenario("far-apart", "The second copy of a comes much later and adds nothing.",
             "a的第二份出现得晚得多，不带来任何增益。",
             {"q1": {"a": 2, "b": 1}}, {"q1": ["a", "x", "y", "a", "b"]}, (4, 5), TWICE, "either",
             "refuse or count once"),
    Scenario("only-relevant-repeated", "The only relevant document is listed twice: recall stays at 1.",
             "唯一的相关文档出现两次：召回率仍是1。",
             letters("a"), {"q1": ["x", "a", "a"]}, (2, 3), TWICE, "either", "refuse or count once"),
]  # fmt: skip
SHORT = [
    Scenario("nothing-retrieved", "Nothing was retrieved: every metric is 0, and the query still counts.",
             "什么都没检索到：所有指标为0，该查询仍计入。",
             letters("a"), {"q1": {}}, (1, 10), DIVISOR),
    Scenario("one-of-two", "One document was retrieved, two are relevant: recall is a half, precision has k below it.",
             "检索到一个文档，有两个相关：召回率是一半，精确率的分母是k。",
             letters("ab"), ranked("a"), (1, 5, 10), DIVISOR),
    Scenario("one-wrong", "One document was retrieved, and it is not relevant.",
             "只检索到一个文档，而它不相关。",
             letters("a"), ranked("x"), (1, 10), DIVISOR),
    Scenario("one-query-empty", "One of two queries has an empty ranking: the mean is half of the other's value.",
             "两个查询中一个的排序为空：平均值是另一个的一半。",
             {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"x": 2.0, "a": 1.0}, "q2": {}}, (1, 10), MEAN),
]  # fmt: skip
SHORT.append(
    Scenario("list-of-ids", "A list of ids is a ranking in its order, the best first, without scores.",
             "id的列表就是按其顺序的排序，最好的在前，没有得分。",
             {"q1": {"a": 2, "b": 1}}, {"q1": ["x", "b", "a"]}, (2, 3), UNJUDGED))  # fmt: skip
MANY = [
    Scenario("three-relevant-at-one", "Three are relevant and the first place is right: nDCG is 1, recall a third.",
             "三个相关，第一名正确：nDCG是1，召回率是三分之一。",
             letters("abc"), ranked("abc"), (1, 2), IDEAL),
    Scenario("five-relevant-one-miss", "Five are relevant; a miss on rank 2 costs nDCG, and MAP is divided by R.",
             "五个相关；第2名未命中降低nDCG，而MAP的分母仍是R。",
             letters("abcde"), ranked("axbcde"), (3, 5), DIVISOR),
    Scenario("twelve-relevant", "Twelve are relevant, every second place is a hit: recall stays far below 1.",
             "十二个相关，隔一名命中：召回率远低于1。",
             letters("abcdefghijkl"), ranked("aAbBcCdDeEfF"), (5, 10), DIVISOR),
    Scenario("map-at-one", "The first place is right, so average precision at 1 is 1/R and not 1.",
             "第一名正确，所以截断为1的平均精确率是1/R，不是1。",
             letters("ab"), ranked("axyb"), (1, 4), DIVISOR),
]  # fmt: skip
DEEP = [
    Scenario("two-documents", "The cutoff is far beyond the ranking: precision is divided by k all the same.",
             "截断远超排序的长度：精确率仍然除以k。",
             letters("a"), ranked("ax"), (10, 100), DIVISOR),
    Scenario("late-hits", "Hits on ranks 2 and 3 of a ranking of three, at deep cutoffs.",
             "三个文档的排序在第2、3名命中，截断很深。",
             letters("ab"), ranked("xab"), (4, 20), DIVISOR),
    Scenario("all-and-more", "Every relevant document is retrieved, and the cutoff is a thousand.",
             "所有相关文档都检索到了，截断是一千。",
             letters("abc"), ranked("axbyc"), (5, 1000), DIVISOR),
    Scenario("hit-behind-k", "The only hit is one rank behind the cutoff: 0 there, and not at the next cutoff.",
             "唯一的命中恰在截断之后一名：此处为0，下一个截断则不是。",
             letters("a"), ranked("xya"), (2, 3), DIVISOR),
]  # fmt: skip
GRADES = [
    Scenario("swapped", "Grades 1 and 3 in the wrong order: only nDCG notices.",
             "等级1和3次序颠倒：只有nDCG察觉。",
             {"q1": {"a": 3, "b": 1}}, ranked("ba"), (1, 2), IDEAL),
    Scenario("zero-is-not-relevant", "A document judged 0 was looked at and is not relevant.",
             "标注为0的文档有人看过，不相关。",
             {"q1": {"a": 2, "z": 0, "b": 1}}, ranked("zab"), (1, 3), LEVEL),
    Scenario("better-one-missed", "The best document was not retrieved, and the ideal still has it.",
             "最好的文档没有检索到，但理想排序里仍有它。",
             {"q1": {"a": 3, "b": 1}}, ranked("xb"), (2, 10), IDEAL),
    Scenario("linear-gain", "The gain is the grade, not 2 to the grade less 1.",
             "增益就是等级，不是2的等级次方减1。",
             {"q1": {"a": 1, "b": 2, "c": 3}}, ranked("abc"), (2, 3), IDEAL),
    Scenario("wide-scale", "A grade of 100 is a gain of 100.",
             "等级100就是增益100。",
             {"q1": {"a": 100, "b": 1}}, ranked("ba"), (2,), IDEAL),
]  # fmt: skip
NEGATIVE = [
    Scenario("spam-first", "A document judged -1 takes the first rank and gains nothing, loses nothing.",
             "标注为-1的文档占第一名，不增也不减。",
             {"q1": {"s": -1, "a": 1}}, ranked("sa"), (1, 2), LEVEL),
    Scenario("two-below-zero", "Grades -2, 0 and 2: one document is relevant, so R is 1.",
             "等级-2、0和2：只有一个文档相关，R是1。",
             {"q1": {"s": -2, "z": 0, "a": 2}}, ranked("sza"), (2, 3), LEVEL),
    Scenario("not-in-the-ideal", "A negative grade is left out of the ideal: the perfect top 2 has one relevant.",
             "负等级不进入理想排序：完美的前2名只有一个相关。",
             {"q1": {"s": -1, "a": 1}}, ranked("as"), (2, 3), LEVEL),
    Scenario("all-below-zero", "Nothing but negative grades: nothing is relevant, every metric is 0.",
             "只有负等级：没有相关文档，所有指标为0。",
             {"q1": {"s": -1, "t": -2}}, ranked("st"), (1, 2), LEVEL),
]  # fmt: skip
UNJUDGED_CASES = [
    Scenario("unjudged-first", "Nobody judged the first document: it is not relevant and keeps its rank.",
             "第一个文档没有标注：算不相关，并占据名次。",
             letters("a"), ranked("ua"), (1, 2), UNJUDGED),
    Scenario("between-hits", "Unjudged documents between the hits push them down.",
             "命中之间的未标注文档把后面的命中往后推。",
             letters("abc"), ranked("aubvc"), (3, 5), UNJUDGED),
    Scenario("nothing-judged", "Nothing that was retrieved is judged; R is still 1.",
             "检索到的都没有标注；R仍是1。",
             letters("a"), ranked("uvw"), (1, 3), UNJUDGED),
    Scenario("as-good-as-zero", "An unjudged document counts as one judged 0.",
             "未标注的文档与标注为0的同样计算。",
             {"q1": {"a": 1, "z": 0}}, ranked("uza"), (2, 3), UNJUDGED),
]  # fmt: skip
QUERIES = [
    Scenario("missing-query", "The run lacks a judged query, which counts 0: the mean is over two.",
             "运行结果缺一个已标注的查询，它算0：对两个查询取平均。",
             {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, (1, 10), MEAN, "value", "trec_eval -c"),
    Scenario("extra-query", "A query of the run has no judgements: it is left out of the mean.",
             "运行结果中有一个查询没有标注：不计入平均。",
             {"q1": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "x": 1.0}, "q9": {"a": 1.0}}, (1, 2), MEAN),
    Scenario("nothing-relevant", "A judged query has nothing relevant: it counts 0.",
             "某个已标注的查询没有相关文档：算0。",
             {"q1": {"a": 1}, "q2": {"z": 0}}, {"q1": {"a": 1.0}, "q2": {"z": 1.0}}, (1, 2), MEAN),
    Scenario("all-at-once", "One query is missing, one is extra, one has nothing relevant: the mean is over three.",
             "一个查询缺失，一个多余，一个没有相关文档：对三个取平均。",
             {"q1": {"a": 1, "b": 2}, "q2": {"b": 1}, "q3": {"z": 0}},
             {"q3": {"z": 1.0}, "q8": {"b": 1.0}, "q1": {"a": 2.0, "b": 1.0}}, (1, 2), MEAN, "value", "trec_eval -c"),
    Scenario("another-order", "Run and judgements list the queries in different orders: the names decide.",
             "运行结果和标注列出查询的顺序不同：以名称为准。",
             {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}},
             {"q2": {"b": 2.0, "a": 1.0}, "q1": {"c": 2.0, "a": 1.0}}, (1, 2), MEAN),
]  # fmt: skip
OWN = [
    Scenario("judged-relevant", "A document has the id of its query and is judged relevant: it counts.",
             "一个文档与查询同名，且标注为相关：照样计入。",
             {"q1": {"q1": 1, "a": 1}}, {"q1": {"q1": 2.0, "a": 1.0}}, (1, 2), UNJUDGED),
    Scenario("unjudged-first", "A document with the id of its query is first and unjudged: it keeps its rank.",
             "与查询同名的文档排第一且未标注：仍占据名次。",
             {"q1": {"a": 1}}, {"q1": {"q1": 3.0, "a": 2.0, "x": 1.0}}, (1, 2), UNJUDGED),
    Scenario("judged-zero", "The query's own document was judged 0: a miss on the first rank.",
             "查询自己的文档标注为0：第一名未命中。",
             {"q1": {"q1": 0, "a": 2, "b": 1}}, {"q1": {"q1": 3.0, "a": 2.0, "b": 1.0}}, (1, 3), UNJUDGED),
    Scenario("another-querys", "The id of another query is an id like any other.",
             "另一个查询的id只是普通的id。",
             {"q1": {"q2": 1}, "q2": {"q1": 1}}, {"q1": {"q2": 2.0, "q1": 1.0}, "q2": {"q2": 2.0, "q1": 1.0}}, (1, 2),
             UNJUDGED),
]  # fmt: skip
SCORES = [
    Scenario("negative-scores", "Scores below 0 are scores: the highest is first.",
             "负的得分也是得分：最高者在前。",
             letters("a"), {"q1": {"a": -1.0, "x": -2.0, "y": -3.0}}, (1, 3), ORDER),
    Scenario("beyond-single-precision", "Both scores are too large for single precision: they tie, the id decides.",
             "两个得分都超出单精度范围，视为同分，由id决定。",
             letters("a"), {"q1": {"a": 1e300, "x": 1e299}}, (1, 2), ORDER),
    Scenario("largest-in-single-precision", "Both scores are just below the largest of single precision: no tie.",
             "两个得分都略低于单精度的最大值：不是同分。",
             letters("a"), {"q1": {"a": 3e38, "x": 2e38}}, (1, 2), ORDER),
    Scenario("just-beyond", "Both scores are just beyond single precision and become infinite: a tie.",
             "两个得分都略超单精度，变为无穷大：同分。",
             letters("a"), {"q1": {"a": 6e38, "x": 5e38}}, (1, 2), ORDER),
    Scenario("huge-of-both-signs", "Scores too large for single precision are first, or last if below 0.",
             "超出单精度的得分：正的最先，负的最后。",
             letters("ac"), {"q1": {"c": -1e300, "x": 1.0, "a": 1e300}}, (1, 3), ORDER),
    Scenario("equal-in-single-precision", "The scores differ as doubles and are equal in single precision: a tie.",
             "得分作为双精度不同，作为单精度相同：同分。",
             letters("a"), {"q1": {"a": 0.1 + 1e-12, "x": 0.1}}, (1, 2), ORDER),
    Scenario("large-whole-numbers", "16777217 has no single-precision value of its own and ties with 16777216.",
             "单精度无法表示16777217，它与16777216同分。",
             letters("a"), {"q1": {"a": 16777217.0, "x": 16777216.0}}, (1, 2), ORDER),
    Scenario("infinite", "Infinite scores are the first and the last.",
             "无穷大的得分分别排在最前和最后。",
             letters("ac"), {"q1": {"c": -math.inf, "x": 1.0, "a": math.inf}}, (1, 3), ORDER),
    Scenario("not-a-number", "A score that is not a number has no place in an order: the run must be refused.",
             "NaN不能排序：应拒绝这份运行结果。",
             letters("a"), {"q1": {"a": math.nan, "x": 1.0, "y": 0.5}}, (1, 3),
             "IEEE 754: NaN compares with nothing", "error", "refuse"),
    Scenario("zeros", "Zero and minus zero are equal: the id decides.",
             "零与负零相等：由id决定。",
             letters("a"), {"q1": {"a": 0.0, "b": -0.0}}, (1, 2), ORDER),
]  # fmt: skip
IDS = [
    Scenario("blanks", "A blank belongs to an id: a, a followed by a blank, and a before b are three documents.",
             "空格是id的一部分：三个文档，不是一个。",
             {"q1": {"a b": 1}}, {"q1": {"a": 3.0, "a ": 2.0, "a b": 1.0}}, (2, 3), ORDER),
    Scenario("numbers-as-text", "Ids are text, so with equal scores 9 comes before 10.",
             "id是文本，同分时9在10之前。",
             {"q1": {"10": 1}}, {"q1": {"10": 1.0, "9": 1.0}}, (1, 2), ORDER),
    Scenario("leading-zeros", "01, 1 and 1.0 are three documents.",
             "01、1和1.0是三个文档。",
             {"q1": {"1": 1}}, {"q1": {"01": 3.0, "1.0": 2.0, "1": 1.0}}, (2, 3), ORDER),
    Scenario("unicode-forms", "The letter é in one code point and in two are different ids.",
             "一个码位的é与两个码位的é是不同的id。",
             {"q1": {"e\u0301": 1}}, {"q1": {"\u00e9": 2.0, "e\u0301": 1.0}}, (1, 2), ORDER),
    Scenario("beyond-sixteen-bits", "Ties go by code point: an emoji is higher than U+FF5E, though not in UTF-16.",
             "同分按码位排序：表情符号高于U+FF5E，虽然在UTF-16中相反。",
             {"q1": {"\uff5e": 1}}, {"q1": {"\U0001f600": 1.0, "\uff5e": 1.0}}, (1, 2), ORDER),
    Scenario("chinese", "Chinese ids tie and go by code point.",
             "中文id同分时按码位排序。",
             {"q1": {"一": 2, "龙": 1}}, {"q1": {"一": 1.0, "文": 1.0, "龙": 1.0}}, (1, 3), ORDER),
]  # fmt: skip
FAMILIES = {
    "ties": ({"en": "Ties", "zh": "同分"}, TIES),
    "repeats": ({"en": "Repeated documents", "zh": "重复的文档"}, REPEATS),
    "short": ({"en": "Empty and short rankings", "zh": "空的和短的排序"}, SHORT),
    "many_relevant": ({"en": "More relevant than k", "zh": "相关文档多于k"}, MANY),
    "deep_cutoff": ({"en": "k beyond the ranking", "zh": "k超过排序长度"}, DEEP),
    "grades": ({"en": "Grades", "zh": "等级"}, GRADES),
    "negative_grades": ({"en": "Negative grades", "zh": "负等级"}, NEGATIVE),
    "unjudged": ({"en": "Unjudged documents", "zh": "未标注的文档"}, UNJUDGED_CASES),
    "queries": ({"en": "Missing and extra queries", "zh": "缺失和多余的查询"}, QUERIES),
    "own_document": ({"en": "A query's own document", "zh": "查询自己的文档"}, OWN),
    "scores": ({"en": "Huge, equal and infinite scores, NaN", "zh": "巨大、相等、无穷大的得分和NaN"}, SCORES),
    "ids": ({"en": "Ids", "zh": "id"}, IDS),
}  # fmt: skip
