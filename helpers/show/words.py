"""The words of the report in English and Chinese: a page is in one language whole."""

LANGUAGES = ("en", "zh")
WORDS: dict[str, tuple[str, str]] = {
    "title": ("{systems} on {data}", "{systems}在{data}上的评估"),
    "and_more": ("{first} and {more} more", "{first}等{more}个系统"),
    "summary_one": (
        "{best} has {metric} {mean}, with a 95 % interval from {low} to {high}, on {queries} queries.",
        "{best}的{metric}为{mean}，95%置信区间为{low}到{high}，共{queries}个查询。",
    ),
    "summary_single": ("{best} has {metric} {mean} on one query.", "{best}在一个查询上的{metric}为{mean}。"),
    "summary_clear": (
        "It is significantly better than the next, {second} (difference {difference}, from {low} to {high}; p {p}).",
        "它显著好于第二名{second}（差值{difference}，区间{low}到{high}；p值{p}）。",
    ),
    "summary_open": (
        "Its lead over the next, {second}, is not significant (difference {difference}, from {low} to {high}; p {p}).",
        "它领先第二名{second}，但差距不显著（差值{difference}，区间{low}到{high}；p值{p}）。",
    ),
    "summary_equal": (
        "It and the next, {second}, have the same score on every query.",
        "它与第二名{second}在每个查询上得分都相同。",
    ),
    "summary_failed": ("Not scored, because they failed: {names}.", "运行失败、没有得分的系统：{names}。"),
    "summary_none": ("No system could be scored.", "没有一个系统得到分数。"),
    "gates": ("Gates", "门槛"),
    "passed": ("passed", "通过"),
    "not_passed": ("FAILED", "未通过"),
    # what was evaluated
    "evaluated": ("What was evaluated", "评估了什么"),
    "data": ("data", "数据"),
    "split": ("split", "划分"),
    "queries": ("queries", "查询"),
    "queries_used": (
        "{used}, of which {zero} without a relevant passage score 0", "{used}个，其中{zero}个没有相关段落，得0分",
    ),
    "interval_of": ("{low} to {high}", "{low}至{high}"),
    "queries_all": ("{used}, each with a relevant passage", "{used}个，都有相关段落"),
    "passages": ("passages", "段落"),
    "merged": ("equal passages merged", "合并的相同段落"),
    "without_text": ("judged documents without a text", "有标注但没有文字的文档"),
    "skipped": ("left out: {what}", "略去：{what}"),
    "judgements": ("judgements", "相关性标注"),
    "judged_each": ("{n} ({mean} a query)", "{n}条（每个查询平均{mean}条）"),
    "level": ("relevant from grade", "算作相关的最低等级"),
    "answers": (
        "passages with a grade above 0 for some query", "对某个查询等级大于0的段落",
    ),
    "digest": ("SHA-256 of the data", "数据的SHA-256"),
    # scores
    "scores": ("Scores", "得分"),
    "system": ("system", "系统"),
    "scores_note": (
        "Means over the queries, the best by {metric} first; below each its 95 % interval: so far off may the mean be "
        "because the queries are a sample. judged@k is the share of the first k that somebody judged; what nobody "
        "judged counts as not relevant. ties@k: queries with equal scores among the first k, or of the k-th and the "
        "next; equal scores stand in the order of ids, as with trec_eval.",
        "各查询得分的平均值，按{metric}由高到低排列；下方是95%置信区间：查询只是样本，平均值可能因此偏离这么多。"
        "judged@k是前k位中有标注的比例；没有标注的段落当作不相关。"
        "ties@k是同分的查询数，即前k位之内有得分相等的段落，或第k位与下一位得分相等；同分时按id排列，与trec_eval相同。",
    ),
    "failed": ("failed while {step}. {advice}", "在{step}时失败。{advice}"),
    "message": (" The message: ", "原文："),
    "step_load": ("its model was loaded", "加载模型"),
    "step_passages": ("passages were encoded and indexed", "编码段落、建立索引"),
    "step_queries": ("queries were encoded", "编码查询"),
    "step_search": ("the index was searched", "检索"),
    "step_rerank": ("passages were reranked", "重排"),
    "step_fuse": ("rankings were fused", "融合"),
    "step_": ("it ranked", "排序"),
    "advice_memory": (
        "There was too little memory: take fewer passages, a smaller batch or a shorter longest input.",
        "内存不足：请减少段落、调小批次，或缩短最长输入。",
    ),
    "advice_connection": (
        "A server did not answer: check the network, set HF_ENDPOINT to a mirror, or give a folder.",
        "服务器没有响应：请检查网络，把HF_ENDPOINT设为镜像站，或改用本地文件夹。",
    ),
    "advice_package": ("A package is not installed: install the one named.", "缺少软件包：请安装原文提到的那个。"),
    "advice_file": ("A file is not there: check the path.", "找不到文件：请检查路径。"),
    "advice_disk": (
        "A file could not be read or written: check room and rights.", "文件无法读写：请检查磁盘空间和权限。",
    ),
    "advice_input": (
        "Something given does not fit: the message says what, and what to do.",
        "给出的模型、数据或设置不合要求：原文写明了哪里不对、怎么改。",
    ),
    "advice_other": (
        "The error came out of a library or the model itself: run this system alone, or on another device.",
        "库或模型本身出错：请单独运行这个系统，或换一个设备再试。",
    ),
    "foreign_note": ("A warning came up.", "运行中出现一条警告，没有译文。"),
    # causes of another number
    "causes": ("What would give another number", "什么会让数字不一样"),
    "causes_note": (
        "Another evaluation may have done these otherwise. What is listed was found in this one; nothing here is a "
        "mistake by itself.",
        "别的评估可能不这样做。下面列出的是在这次评估里发现的，本身都不是错误。",
    ),
    "cause": ("what was done or found here", "这里的做法或情况"),
    "where": ("where, and how many", "在哪里，有多少"),
    "count_of": ("{count} of {of}", "{of}个中的{count}个"),
    "uncounted": ("yes, not counted", "有，未计数"),
    "yes": ("yes", "是"),
    "named": ("{system}: {value}", "{system}：{value}"),
    "bars": ("{metric} with 95 % intervals", "{metric}及其95%置信区间"),
    "definitions": ("What the metrics mean", "指标的含义"),
    # differences
    "tests": ("Differences", "差异"),
    "tests_note": (
        "{best} against each other system on the same queries, by {metric}. An interval that leaves out 0 and a small "
        "p both say that the order is no accident of the queries; where they disagree, trust p, and do not lean on the "
        "result. Neither says that the difference is large enough to matter.",
        "在相同的查询上，按{metric}比较{best}与其他各个系统。区间不含0、p值小，都说明先后次序并非查询凑巧所致；"
        "两者不一致时以p值为准，而且不要太看重这个结果。两者都不说明差距大到值得在意。",
    ),
    "difference": ("difference", "差值"),
    "interval": ("95 % interval", "95%置信区间"),
    "better_worse": ("better / worse", "更好/更差"),
    "p": ("p", "p值"),
    "adjusted": ("p adjusted (Holm)", "校正后的p值（Holm）"),
    "holm_note": (
        "With {n} tests some p come out small by chance; read the adjusted ones.",
        "共做了{n}次检验，偶然会出现较小的p值，请看校正后的。",
    ),
    "floor_note": (
        "Against {system} only {n} queries differ: p cannot fall below {floor}, however clear the case. "
        "More queries are needed.",
        "与{system}相比只有{n}个查询得分不同：无论差别多么明显，p值都不会低于{floor}，需要更多查询。",
    ),
    "exact_note": (
        "p comes from the paired randomisation test, exact where few queries differ.",
        "p值来自配对随机化检验，得分不同的查询较少时为精确值。",
    ),
    "wins": ("Query by query", "逐个查询"),
    "wins_note": (
        "Where {a} and {b}, the two best systems, differ most by {metric}.",
        "按{metric}，得分最高的两个系统{a}与{b}相差最大的查询。",
    ),
    "wins_better": ("{a} better on {n} queries", "{a}更好的查询，共{n}个"),
    "id": ("id", "id"),
    "query": ("query", "查询"),
    "slices": ("By type of query", "按查询类型"),
    "slices_note": (
        "Mean {metric}. A type of few queries has a wide interval.", "{metric}的平均值。查询很少的类型，区间很宽。",
    ),
    "type": ("type", "类型"),
    "other": ("(none)", "（未分类）"),
    # failures
    "failures": ("Where it fails", "错在哪里"),
    "failures_note": (
        "Of {system}: queries whose first passage is not relevant, those answered last on top; {shown} of {all}. "
        "“Not judged” beside a passage that answers the query means that a judgement is missing.",
        "{system}排在第1位的段落不相关的查询，首个相关段落出现得越晚，排得越靠前；这里列出{all}个中的{shown}个。"
        "能回答查询的段落旁写着“未标注”，说明缺的是标注。",
    ),
    "first_hit": ("first relevant at", "首个相关段落的名次"),
    "beyond": ("beyond {depth}", "{depth}位以外"),
    "instead": ("ranked first instead", "反而排在第1位的段落"),
    "grade": ("its grade", "其等级"),
    "not_judged": ("not judged", "未标注"),
    "nothing": ("nothing", "无"),
    "no_failures": ("Every query has a relevant passage in first place.", "每个查询排在第1位的段落都相关。"),
    # growth, cost, provenance
    "growth": ("Scores and the size of the corpus", "得分与语料库大小"),
    "growth_note": (
        "{metric} if fewer passages are searched: first those with a grade above 0 alone, then others added in random "
        "order. A line that still falls at its right end would go on falling in a larger corpus.",
        "检索的段落较少时的{metric}：先只有等级大于0的段落，再按随机顺序加入其余段落。"
        "曲线到最右端仍在下降，换成更大的语料库，得分还会更低。",
    ),
    "cost": ("Cost", "开销"),
    "cost_note": (
        "Seconds of this run. Embeddings that an earlier run left in the cache are read, not computed.",
        "本次运行的秒数。先前运行留在缓存里的嵌入直接读取，不再计算。",
    ),
    "s_load": ("load, s", "加载（秒）"),
    "s_passages": ("passages, s", "段落（秒）"),
    "ms_query": ("per query, ms", "每个查询（毫秒）"),
    "index_bytes": ("index, MB", "索引（MB）"),
    "longest": ("longest input, tokens", "最长输入（词元）"),
    "truncated": ("passages truncated", "被截断的段落"),
    "notes": ("Notes", "提示"),
    "made_with": ("What this was made with", "来源记录"),
    "date": ("date", "日期"),
    "differs": ("Why does my number differ from another?", "为什么我的数字和别人的不一样？"),
    "files": (
        "Beside this page: results.json, per_query.csv, qrels.trec and a run in TREC's format for each system.",
        "与本页放在一起的有results.json、per_query.csv、qrels.trec，以及每个系统TREC格式的运行结果。",
    ),
    "kind_model": ("model", "模型"),
    "kind_embeddings": ("embeddings", "嵌入"),
    "kind_run": ("run", "运行结果"),
    "kind_words": ("word matching", "词语匹配"),
    "kind_fuse": ("fusion", "融合"),
    "kind_rerank": ("reranking", "重排"),
    "kind_object": ("object", "对象"),
    "comma": (", ", "、"),
    "colon": (": ", "："),
}  # fmt: skip

DEFINITIONS: dict[str, tuple[str, str]] = {
    "recall": (
        "the share of a query's relevant passages that are among the first k",
        "某个查询的相关段落中，有多大比例进入前k位",
    ),
    "capped_recall": (
        "recall, divided by k where more than k passages are relevant", "召回率，相关段落多于k个时以k为分母",
    ),
    "precision": ("the share of the first k that is relevant", "前k位中相关段落所占的比例"),
    "mrr": (
        "one divided by the rank of the first relevant passage, 0 beyond k", "第一个相关段落名次的倒数，k位以外得0",
    ),
    "map": (
        "the precision at the rank of each relevant passage up to k, summed and divided by their number",
        "在前k位的每个相关段落处取精确率，求和后除以相关段落数",
    ),
    "ndcg": (
        "the grades found among the first k, each divided by log2(rank + 1), as a share of the best possible sum",
        "前k位中的等级各除以log2（名次加1）再求和，占理想排序之和的比例",
    ),
    "success": ("1 if the first k hold a relevant passage, else 0", "前k位有相关段落得1，否则得0"),
    "rprec": ("precision at rank R, the number of relevant passages", "第R位处的精确率，R为相关段落数"),
    "judged": ("the share of the first k that has a judgement", "前k位中有标注的比例"),
    "err": (
        "the expected reciprocal of the rank at which a reader is satisfied", "读者得到满足时名次倒数的期望值",
    ),
    "rbp": (
        "precision as met by a reader who goes on with a fixed probability",
        "假定读者每看一个都以固定概率接着看下一个，由此得出的精确率",
    ),
    "bpref": (
        "how seldom a passage judged not relevant stands above a relevant one",
        "标为不相关的段落排在相关段落之前的情形有多少见，越少见值越大",
    ),
}  # fmt: skip

FACTS: dict[str, tuple[str, str]] = {  # what is recorded of a system, by its key in results.json
    "kind": ("kind", "类型"),
    "where": ("given as", "指定为"),
    "parts": ("made of", "组成"),
    "model.name": ("model", "模型"),
    "model.sha256": ("SHA-256 of all files", "全部文件的SHA-256"),
    "model.weights_sha256": ("SHA-256 of the weights", "权重的SHA-256"),
    "model.pooling": ("pooling", "池化方式"),
    "model.query_instruction": ("before each query", "查询前加的文字"),
    "model.passage_instruction": ("before each passage", "段落前加的文字"),
    "model.max_length": ("longest input, tokens", "最长输入（词元）"),
    "device": ("device", "设备"),
    "dtype": ("type of numbers", "数值类型"),
    "parameters": ("weights in the network", "模型的参数量"),
    "index": ("index", "索引"),
    "truncated": ("passages truncated", "被截断的段落"),
    "options.pooling": ("pooling asked for", "指定的池化方式"),
    "options.query_instruction": ("asked for before each query", "指定在查询前加的文字"),
    "options.passage_instruction": ("asked for before each passage", "指定在段落前加的文字"),
    "options.max_length": ("longest input asked for, tokens", "指定的最长输入（词元）"),
    "options.device": ("device asked for", "指定的设备"),
    "options.dim": ("dimensions kept", "保留的维数"),
    "options.backend": ("library asked for", "指定的库"),
    "options.half": ("16-bit floats asked for", "指定16位浮点数"),
    "options.batch_size": ("batch size", "批大小"),
    "options.index": ("index asked for", "指定的索引"),
    "options.depth": ("depth", "深度"),
    "options.how": ("fused by", "融合方式"),
    "options.weights": ("weights of the parts", "各部分的权重"),
    "options.by": ("reranked by", "重排所用"),
    "options.model": ("model of the reranker", "重排模型"),
}
TYPES_ZH = {"question": "问句", "keyword": "关键词", "paraphrase": "改写", "entity": "实体"}  # of the bundled queries


def words(language: str) -> dict[str, str]:
    """Return every word in one language.

    Raises:
        ValueError: a language that there is none of.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r}: expected one of {', '.join(LANGUAGES)}.")
    return {key: both[LANGUAGES.index(language)] for key, both in WORDS.items()}


def shown(metric: str) -> str:
    """Write a metric as texts do: nDCG@10, MRR@10; those that are words stay in lower case."""
    name, at, cutoff = metric.partition("@")
    return {"ndcg": "nDCG", "mrr": "MRR", "map": "MAP", "err": "ERR", "rbp": "RBP"}.get(name, name) + at + cutoff


def definition(metric: str, language: str) -> str:
    """Return what a metric means in a line; empty where nothing is written down."""
    return DEFINITIONS.get(metric.partition("@")[0], ("", ""))[LANGUAGES.index(language)]
