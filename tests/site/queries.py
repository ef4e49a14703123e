"""Questions that a visitor wrote down before looking at the index, and the pages or sections that answer each."""

QUESTIONS = {
    "en": {
        "why is MRR 0": "differences#where-to-begin",
        "how many queries do I need": "test_set#how-many-queries 03_model_comparison#how-many-queries-do-i-need",
        "my ids are integers and nothing matches": "differences#where-to-begin",
        "can I use text-embedding-3-small":
            "own_model#embeddings-computed-elsewhere "
            "own_model#sparse-encoders-and-models-behind-an-address",
        "did my fine-tuning help": "own_model#common-cases 03_model_comparison#is-the-difference-real own_model",
        "what is a good recall for RAG":
            "01_evaluation#the-corpus-decides-how-hard-it-is "
            "02_metrics#which-metric-for-which-task",
        "do I have to normalize embeddings": "differences#normalisation",
        "e5 query passage prefix": "05_languages#the-prompts differences#the-instruction",
        "how to read a qrels file": "own_model#trec-files score#what-it-reads",
        "shrink embeddings without losing accuracy":
            "06_scaling_up#smaller-or-fewer-the-two-ways-to-save "
            "own_model#options-of-a-system",
        "slides for my class": "teaching",
        "hit rate vs recall":
            "cheatsheet#the-metrics "
            "02_metrics#which-metric-for-which-task 02_metrics#capped-recall-how-much-of-what-could-be-found",
        "faiss returns -1": "cheatsheet#at-the-edges helpers.index differences#where-to-begin",
        "apple silicon slow": "trust#reproducibility trust#speed",
        "can I use this commercially": "references#the-licence references#cite",
        "sentence-transformers InformationRetrievalEvaluator gives different result":
            "differences#how-libraries-differ "
            "differences differences#why-they-differ",
    },
    "zh": {
        "召回率 怎么算": "02_metrics#recall-how-much-of-what-is-relevant-was-found cheatsheet#the-metrics",
        "bge 指令": "05_languages#the-prompts differences#the-instruction chinese#models",
        "为什么MRR是0": "differences#where-to-begin",
        "微调后怎么知道有没有变好": "own_model#common-cases 03_model_comparison#is-the-difference-real own_model",
        "向量要不要归一化": "differences#normalisation",
        "多少条标注数据才够": "test_set#how-many-queries 03_model_comparison#how-many-queries-do-i-need",
        "模型下载太慢": "chinese#where-the-hub-cannot-be-reached",
        "准确率和召回率的区别":
            "02_metrics#which-metric-for-which-task cheatsheet#the-metrics "
            "02_metrics#precision-how-much-of-what-was-shown-is-relevant "
            "02_metrics#recall-how-much-of-what-is-relevant-was-found",
        "知识库问答怎么评测": "08_chunks 08_chunks#what-the-reader-gets 08_chunks#what-the-reader-writes",
        "上课用的课件": "teaching",
        "m3e和bge哪个好": "chinese#models 05_languages#choosing-a-model-for-your-language",
        "两次跑出来的分数不一样": "trust#if-yours-differs trust#reproducibility differences",
        "qrels文件格式": "own_model#trec-files score#what-it-reads",
        "windows能跑吗": "trust#reproducibility",
        "向量维度太大怎么办": "06_scaling_up#smaller-or-fewer-the-two-ways-to-save own_model#options-of-a-system",
        "能不能商用": "references#the-licence references#cite chinese#models",
    },
}  # fmt: skip
