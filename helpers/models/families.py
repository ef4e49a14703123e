"""Instructions of model families whose files do not state them: a row for each, as the model cards give them."""

import re

# Pattern of the last part of a model's name -> what to put before a query, and before a passage.
FAMILIES = {
    r"bge-(?:small|base|large)-en(?:-v1\.5)?": ("Represent this sentence for searching relevant passages: ", ""),
    r"bge-(?:small|base|large)-zh(?:-v1\.5)?": ("为这个句子生成表示以用于检索相关文章：", ""),
    r"(?:multilingual-)?e5-(?:small|base|large)(?:-v2|-unsupervised)?(?:-4bit)?": ("query: ", "passage: "),
}


def family_instructions(name: str) -> tuple[str, str]:
    """Return what the cards of a model's family put before a query and before a passage; empty texts if nothing."""
    last = name.split("/")[-1]
    for pattern, instructions in FAMILIES.items():
        if re.fullmatch(pattern, last, re.IGNORECASE):
            return instructions
    return "", ""
