"""What the report says of causes, of what was left out, and of the messages of systems and gates, in both languages."""

import re
from collections.abc import Mapping

CAUSES: dict[str, tuple[str, str]] = {  # by the names of helpers.systems.causes; {detail} is that of the cause
    "queries_used": ("only some of the queries were used", "只用了一部分查询"),
    "passages_used": ("only some of the passages were searched", "只检索了一部分段落"),
    "left_out": ("left out of the source: {detail}", "从原始数据中略去：{detail}"),
    "merged": ("equal passages were merged into one", "相同的段落合并成了一个"),
    "titles": ("passages have a title, which was put before the text", "段落有标题，已放在正文前面"),
    "level": (
        "judgements have a grade above 0 but below {detail}, from which passages count as relevant here",
        "相关性标注的等级大于0，但低于{detail}；这里从{detail}级起才算相关",
    ),
    "unanswered": ("queries have no relevant passage, and score 0", "查询没有相关段落，得0分"),
    "own_id": (
        "queries have the id of a passage, which BEIR would take out of their rankings",
        "查询与某个段落id相同，BEIR会把这样的段落从排序中去掉",
    ),
    "missing": ("queries are missing from the run, and score 0", "运行结果里缺少的查询，得0分"),
    "unjudged": (
        "passages among the first {detail} were judged by nobody, and count as not relevant",
        "前{detail}位中没有人标注过、当作不相关的段落",
    ),
    "ties": (
        "queries have equal scores among the first {detail}, or across that line; these stand in the order of ids",
        "前{detail}位之内或分界处有得分相等的段落、按id排列的查询",
    ),
    "truncated": (
        "passages are longer than {detail} tokens, the rest was not read", "段落超过{detail}个词元，多出的没有读",
    ),
    "instruction": ("text was put before queries / passages: {detail}", "查询/段落前加了文字：{detail}"),
    "no_instruction": (
        "nothing was put before texts, where the model wants: {detail}", "文本前没有加指令，而该模型要求加：{detail}",
    ),
    "pooling": ("a pooling was chosen: {detail}", "指定了池化方式：{detail}"),
    "scaled": ("vectors were scaled to length one, so that cosines are compared", "向量缩放到了长度1，比较的是余弦"),
    "half": ("vectors are of 16-bit floats ({detail})", "向量是16位浮点数（{detail}）"),
}  # fmt: skip

SKIPPED: dict[str, tuple[str, str]] = {  # what a collection may have left out, by RetrievalDataset.skipped
    "blank_queries": ("queries without a text", "没有文字的查询"),
    "blank_passages": ("passages without a text", "没有文字的段落"),
    "missing_queries": ("judged queries that are not there", "有标注但不存在的查询"),
    "missing_passages": ("relevant passages without a text", "没有文字的相关段落"),
    "judgements": ("judgements of queries or passages left out", "涉及略去的查询或段落的标注"),
    "unjudged_queries": ("queries that nobody judged", "没有人标注过的查询"),
    "unanswered_queries": ("queries without a relevant passage", "没有相关段落的查询"),
}

NOTES_ZH: Mapping[str, str] = {  # what a system may note, as a pattern, and the same in Chinese
    r"The run is empty: every score is 0\.": "运行结果是空的，各项得分都为0。",
    r"No query of the run is one of the data \((.+) against (.+)\): every score is 0\.":
        r"运行结果里没有一个查询属于这份数据（\1对\2），各项得分都为0。",
    r"(\d+) of the run's (\d+) documents are not in the corpus(?: \((\d+) equal.+\))?: .+":
        r"运行结果的\2个文档中有\1个不在语料库里，它们保留名次，按未标注计。",
    r"(\d+) of (\d+) queries, the first (.+), have no word to search for: .+":
        r"\2个查询中有\1个（第一个是\3）没有可以检索的词，只有符号、空格和停用词，检索不到任何段落。",
    r"Texts are longer than the (\d+) tokens that (.+) takes.*": r"有文本超过\2所能读的\1个词元，多出的部分被截断。",
    r"No document of the run occurs in qrels \(for example (.+) against (.+)\).*":
        r"检索到的文档没有一个有标注（例如\1对\2），请检查两边的id是否一致。",
}  # fmt: skip


VERDICTS_ZH: Mapping[str, str] = {  # why a gate was passed or not, see helpers.report.gates
    r"(.+) was not scored": r"\1没有得分",
    r"(\S+) of (.+), ([\d.]+), is at least ([\d.]+)": r"\2的\1为\3，不低于\4",
    r"(\S+) of (.+), ([\d.]+), is below ([\d.]+)": r"\2的\1为\3，低于\4",
    r"(.+) is significantly worse than (.+) by (\S+) \(difference (.+), p (.+), level (.+)\)":
        r"按\3，\1显著差于\2（差值\4，p值\5，显著性水平\6）",
    r"(.+) is not significantly worse than (.+) by (\S+) \(difference (.+), p (.+), level (.+)\)":
        r"按\3，\1并不显著差于\2（差值\4，p值\5，显著性水平\6）",
}  # fmt: skip


def translated(text: str, known: Mapping[str, str]) -> str | None:
    """Return a sentence in Chinese where it is one of those known, by pattern; None where it is not."""
    for pattern, chinese in known.items():
        if found := re.fullmatch(pattern, text, re.S):
            return found.expand(chinese)
    return None
